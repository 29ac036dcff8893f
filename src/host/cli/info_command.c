/* tmaring info: what is here. */
#include "../bench/gpu_list.h"
#include "../jit/code_store.h"
#include "../jit/nvrtc.h"

#include <stdio.h>
#include <string.h>

#include "command.h"
#include "json_text.h"

#define MOST_DEVICES 64
#define WHY          320

typedef struct device {
  tmaring_machine machine;
  int usable;
  char why[WHY]; /* where it is not */
} device;

typedef struct info {
  int32_t driver_version, device_count;
  char driver_why[WHY];
  int nvrtc_major, nvrtc_minor; /* 0, 0: not found */
  const char *nvrtc_file;
  char nvrtc_why[WHY];
  int cuda_usable;
  char cuda_why[WHY + 32];
  device device[MOST_DEVICES];
} info;

static void keep_detail(char why[WHY])
{
  snprintf(why, WHY, "%s", tmaring_last_detail());
}

static void look_at_device(device *d, int index)
{
  memset(d, 0, sizeof *d);
  d->usable = tmaring_machine_query(&d->machine, index) == TMARING_OK;
  if (!d->usable) keep_detail(d->why);
}

/* The backend runs on device 0 with kernels that are built in or can be compiled. */
static void judge_cuda(info *in)
{
  const int has_code = tmaring__builtin_count > 0 || in->nvrtc_major > 0;
  in->cuda_usable = in->device_count > 0 && in->device[0].usable && has_code;
  if (in->cuda_usable) return;
  if (in->device_count == 0)
    snprintf(in->cuda_why, sizeof in->cuda_why, "%s", in->driver_why[0] ? in->driver_why : "no device");
  else if (!in->device[0].usable)
    snprintf(in->cuda_why, sizeof in->cuda_why, "%s", in->device[0].why);
  else
    snprintf(in->cuda_why, sizeof in->cuda_why, "no built-in kernels, and %s", in->nvrtc_why);
}

static void look(info *in)
{
  memset(in, 0, sizeof *in);
  if (tmaring__gpu_count(&in->driver_version, &in->device_count) != TMARING_OK) keep_detail(in->driver_why);
  if (in->device_count > MOST_DEVICES) in->device_count = MOST_DEVICES;
  for (int32_t i = 0; i < in->device_count; ++i) look_at_device(&in->device[i], i);
  if (tmaring__nvrtc_version(&in->nvrtc_major, &in->nvrtc_minor, &in->nvrtc_file) != TMARING_OK) {
    in->nvrtc_major = in->nvrtc_minor = 0;
    keep_detail(in->nvrtc_why);
  }
  judge_cuda(in);
}

static void print_device(const device *d, int32_t index)
{
  const tmaring_machine *const m = &d->machine;
  printf("device %d          %s: compute capability %d.%d, %d SMs, %d bytes of shared memory per CTA, L2 %lld MB\n",
         index, m->name, m->compute_major, m->compute_minor, m->sm_count, m->smem_per_block_bytes,
         (long long)(m->l2_bytes >> 20));
  if (!d->usable) printf("                  not usable: %s\n", d->why);
}

static int print_text(const info *in)
{
  printf("tmaring           %s\n", TMARING_VERSION_STRING);
  printf("abi version       %d\n", TMARING_ABI_VERSION);
  if (in->driver_version)
    printf("driver            CUDA %d.%d, %d device%s\n", in->driver_version / 1000, in->driver_version % 1000 / 10,
           in->device_count, in->device_count == 1 ? "" : "s");
  else
    printf("driver            none: %s\n", in->driver_why);
  for (int32_t i = 0; i < in->device_count; ++i) print_device(&in->device[i], i);
  if (in->nvrtc_major)
    printf("nvrtc             %d.%d, %s\n", in->nvrtc_major, in->nvrtc_minor, in->nvrtc_file);
  else
    printf("nvrtc             none: %s\n", in->nvrtc_why);
  printf("built-in kernels  %zu\n", tmaring__builtin_count);
  printf("backend cuda      %s%s\n", in->cuda_usable ? "usable" : "not usable: ", in->cuda_why);
  printf("backend cpu       usable\n");
  return 0;
}

static json_t *device_json(const device *d)
{
  const tmaring_machine *const m = &d->machine;
  json_t *const json = json_pack("{ss,s[ii],si,si,sI,sb}", "name", m->name, "compute_capability", m->compute_major,
                                 m->compute_minor, "sm_count", m->sm_count, "smem_per_block_bytes",
                                 m->smem_per_block_bytes, "l2_bytes", (json_int_t)m->l2_bytes, "usable", d->usable);
  if (json && !d->usable) json_object_set_new(json, "why", json_string(d->why));
  return json;
}

/* A found thing, or the reason why it is not: {"version": [13, 0], ...} or {"why": ...}. */
static json_t *version_json(int major, int minor, const char *why)
{
  return major ? json_pack("{s[ii]}", "version", major, minor) : json_pack("{ss}", "why", why);
}

static int print_json(const info *in)
{
  json_t *const devices = json_array();
  for (int32_t i = 0; i < in->device_count; ++i) json_array_append_new(devices, device_json(&in->device[i]));
  json_t *const nvrtc = version_json(in->nvrtc_major, in->nvrtc_minor, in->nvrtc_why);
  if (in->nvrtc_major) json_object_set_new(nvrtc, "file", json_string(in->nvrtc_file));
  json_t *const cuda = json_pack("{sb}", "usable", in->cuda_usable);
  if (!in->cuda_usable) json_object_set_new(cuda, "why", json_string(in->cuda_why));
  return tmaring__json_print(json_pack(
      "{ss,si,so,so,so,sI,s{so,s{sb}}}", "version", TMARING_VERSION_STRING, "abi_version", TMARING_ABI_VERSION,
      "driver", version_json(in->driver_version / 1000, in->driver_version % 1000 / 10, in->driver_why), "devices",
      devices, "nvrtc", nvrtc, "builtin_kernels", (json_int_t)tmaring__builtin_count, "backends", "cuda", cuda, "cpu",
      "usable", 1));
}

int tmaring__info_command(const tmaring__request *request)
{
  info in;
  look(&in);
  return request->json ? print_json(&in) : print_text(&in);
}
