#define _GNU_SOURCE
#include "far_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../../src/host/backend/cuda/driver.h"
#include "../../src/host/jit/code_store.h"
#include "number.h"

/* ---- what an element holds: here, and in the kernel below ---- */

/* splitmix64 */
static uint64_t mix(uint64_t z)
{
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static uint16_t far_bits(tmaring_dtype dtype, uint64_t offset)
{
  const uint64_t h = mix(offset);
  if (dtype == TMARING_I8) {
    const int whole = (int)((h >> 40) % 14) - 7;
    return (uint16_t)(whole < 0 ? whole : whole + 1);
  }
  return (uint16_t)((h >> 63) << 15 | (126 + (h >> 62 & 1)) << 7 | (h >> 40 & 127));
}

static const char fill_source[] =
    "typedef unsigned long long u64;\n"
    "static __device__ u64 mix(u64 z)\n"
    "{\n"
    "  z += 0x9e3779b97f4a7c15ull;\n"
    "  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;\n"
    "  z = (z ^ z >> 27) * 0x94d049bb133111ebull;\n"
    "  return z ^ z >> 31;\n"
    "}\n"
    "extern \"C\" __global__ void far_fill(unsigned char *base, long long rows, long long cols, long long pitch,\n"
    "                                    long long group_rows, long long group_pitch, long long bytes)\n"
    "{\n"
    "  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {\n"
    "    const long long group = group_rows > 0 ? row / group_rows : 0;\n"
    "    const long long first = group * group_pitch + (row - group * group_rows) * pitch;\n"
    "    for (long long col = threadIdx.x; col < cols; col += blockDim.x) {\n"
    "      const u64 h = mix((u64)(first + col));\n"
    "      const int whole = (int)((h >> 40) % 14) - 7;\n"
    "      if (bytes == 1) base[first + col] = (unsigned char)(whole < 0 ? whole : whole + 1);\n"
    "      else reinterpret_cast<unsigned short *>(base)[first + col] =\n"
    "          (unsigned short)((h >> 63) << 15 | (126 + (h >> 62 & 1)) << 7 | (h >> 40 & 127));\n"
    "    }\n"
    "  }\n"
    "}\n";

double far_value(tmaring_dtype dtype, uint64_t offset)
{
  const uint16_t bits = far_bits(dtype, offset);
  return number_read(dtype, &bits);
}

/* ---- places ---- */

int64_t far_row(const tmaring_tensor *t, int64_t row)
{
  const int64_t pitch = t->pitch > 0 ? t->pitch : t->cols;
  if (t->group_rows == 0) return row * pitch;
  return row / t->group_rows * t->group_pitch + row % t->group_rows * pitch;
}

int64_t far_extent(const tmaring_tensor *t)
{
  return far_row(t, t->rows - 1) + (t->cols - 1) * (t->step > 0 ? t->step : 1) + 1;
}

/* ---- host memory: pages that were never touched read 0 and take no room ---- */

static int take_host(far_memory *m)
{
  void *data = mmap(NULL, m->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  m->data = data == MAP_FAILED ? NULL : data;
  return m->data != NULL;
}

static void fill_host(const far_memory *m, const tmaring_tensor *t)
{
  const size_t bytes = tmaring_dtype_bytes((tmaring_i32)t->dtype);
  for (int64_t row = 0; row < t->rows; ++row) {
    const int64_t first = far_row(t, row);
    for (int64_t col = 0; col < t->cols; ++col) {
      const uint16_t bits = far_bits(t->dtype, (uint64_t)(first + col));
      memcpy(m->data + (size_t)(first + col) * bytes, &bits, bytes);
    }
  }
}

/* ---- device memory ---- */

#if TMARING_WITH_CUDA

static const tmaring__driver *driver_of(void)
{
  const tmaring__driver *driver = NULL;
  return tmaring__driver_get(&driver) == TMARING_OK ? driver : NULL;
}

static int take_device(far_memory *m)
{
  const tmaring__driver *driver = driver_of();
  m->data = m->venue->place->take(m->bytes);
  if (!m->data) return 0;
  return driver->cuMemsetD8Async((CUdeviceptr)(uintptr_t)m->data, m->poison, m->bytes, m->venue->stream) ==
             CUDA_SUCCESS &&
         venue_settle(m->venue);
}

static const char *launch_fill(const far_memory *m, const tmaring_tensor *t, const tmaring__machine_code *code)
{
  const tmaring__driver *driver = driver_of();
  CUlibrary library = NULL;
  CUkernel kernel = NULL;
  CUlaunchConfig config;
  void *base = m->data;
  long long rows = t->rows, cols = t->cols, pitch = t->pitch > 0 ? t->pitch : t->cols, group_rows = t->group_rows,
            group_pitch = t->group_pitch, bytes = (long long)tmaring_dtype_bytes((tmaring_i32)t->dtype);
  void *parameters[] = {&base, &rows, &cols, &pitch, &group_rows, &group_pitch, &bytes};
  memset(&config, 0, sizeof config);
  config.gridDimX = (unsigned)(rows < 4096 ? rows : 4096);
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = 256;
  config.hStream = m->venue->stream;
  if (driver->cuLibraryLoadData(&library, code->cubin, NULL, NULL, 0, NULL, NULL, 0) != CUDA_SUCCESS)
    return "cuLibraryLoadData failed";
  const int fine = driver->cuLibraryGetKernel(&kernel, library, "far_fill") == CUDA_SUCCESS &&
                   driver->cuLaunchKernelEx(&config, (CUfunction)kernel, parameters, NULL) == CUDA_SUCCESS &&
                   venue_settle(m->venue);
  driver->cuLibraryUnload(library);
  return fine ? NULL : "the kernel that fills failed";
}

static const char *fill_device(const far_memory *m, const tmaring_tensor *t)
{
  tmaring__machine_code code;
  if (tmaring__machine_code_find(fill_source, 0, &code) != TMARING_OK) return tmaring_last_detail();
  const char *failure = launch_fill(m, t, &code);
  tmaring__machine_code_free(&code);
  return failure;
}

size_t far_free_bytes(const venue *v)
{
  size_t free = 0, total = 0;
  if (v->backend == TMARING_BACKEND_CPU) return (size_t)1 << 46;
  return driver_of()->cuMemGetInfo(&free, &total) == CUDA_SUCCESS ? free : 0;
}

#else

static int take_device(far_memory *m)
{
  (void)m;
  return 0;
}

static const char *fill_device(const far_memory *m, const tmaring_tensor *t)
{
  (void)m, (void)t;
  return "built without CUDA";
}

size_t far_free_bytes(const venue *v)
{
  return v->backend == TMARING_BACKEND_CPU ? (size_t)1 << 46 : 0;
}

#endif

/* ---- either ---- */

int far_take(far_memory *m, const venue *v, size_t bytes)
{
  const int host = v->backend == TMARING_BACKEND_CPU;
  m->venue = v;
  m->bytes = bytes;
  m->poison = host ? 0 : 0xa5;
  return host ? take_host(m) : take_device(m);
}

void far_give(far_memory *m)
{
  if (m->data && m->venue->backend == TMARING_BACKEND_CPU)
    munmap(m->data, m->bytes);
  else if (m->data)
    m->venue->place->give(m->data);
  m->data = NULL;
}

int far_read(const far_memory *m, size_t offset, void *to, size_t bytes)
{
  return offset <= m->bytes && bytes <= m->bytes - offset && m->venue->place->download(to, m->data + offset, bytes);
}

int far_write(const far_memory *m, size_t offset, const void *from, size_t bytes)
{
  return offset <= m->bytes && bytes <= m->bytes - offset && m->venue->place->upload(m->data + offset, from, bytes);
}

const char *far_fill(const far_memory *m, const tmaring_tensor *t)
{
  if (m->venue->backend == TMARING_BACKEND_CUDA) return fill_device(m, t);
  fill_host(m, t);
  return NULL;
}

const char *far_compile(void)
{
  tmaring__machine_code code;
  if (!getenv("TMARING_TEST_COMPILE")) return NULL;
  if (tmaring__machine_code_find(fill_source, 0, &code) != TMARING_OK) return tmaring_last_detail();
  tmaring__machine_code_free(&code);
  return NULL;
}
