#include "../backend.h"
#include "driver.h"

#if TMARING_WITH_CUDA

#include <stdlib.h>
#include <string.h>

#include "../../jit/code_store.h"
#include "device.h"
#include "tensor_map_encode.h"

/* A kernel loaded in one context. */
typedef struct cuda_state {
  const tmaring__driver *driver;
  CUcontext context;
  CUdevice device;
  int retained; /* the primary context of `device` is retained by this kernel */
  CUlibrary library;
  CUkernel kernel;  /* launched on a real stream it takes that stream's context: a thread needs none of its own */
  CUkernel columns; /* joins the partial results of column reductions; NULL: there are none */
  int32_t sm_count;
  int32_t clusters[TMARING__MAX_VARIANTS]; /* of each variant: how many run at the same time */
  tmaring_fault *fault;                    /* debug kernels: host memory that the device writes */
  CUdeviceptr fault_device;
} cuda_state;

/* The calling thread's current context, or the primary context of device 0. */
static tmaring_status find_context(cuda_state *s)
{
  const tmaring__driver *driver = s->driver;
  TMARING__CU(cuCtxGetCurrent(&s->context));
  if (s->context) {
    TMARING__CU(cuCtxGetDevice(&s->device));
    return TMARING_OK;
  }
  TMARING__CU(cuDeviceGet(&s->device, 0));
  TMARING__CU(cuDevicePrimaryCtxRetain(&s->context, s->device));
  s->retained = 1;
  return TMARING_OK;
}

static uint32_t largest_smem(const tmaring_plan *plan)
{
  uint32_t bytes = 0;
  for (int32_t i = 0; i < plan->variant_count; ++i) {
    if (plan->variant[i].args.smem.total > bytes) bytes = plan->variant[i].args.smem.total;
  }
  return bytes;
}

/* The limit counts static shared memory too; beyond the default a kernel must opt in. */
static tmaring_status allow_smem(cuda_state *s, CUkernel kernel, const tmaring_machine *machine, uint32_t bytes)
{
  const tmaring__driver *driver = s->driver;
  int fixed = 0;
  TMARING__CU(cuKernelGetAttribute(&fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel, s->device));
  if ((int64_t)fixed + bytes > machine->smem_per_block_bytes)
    return tmaring__fail(
        TMARING_ERROR_CAPACITY,
        "shared memory: the plan needs %u bytes and %d static, device %d allows %d; plan for this device",
        (unsigned)bytes, fixed, (int)s->device, (int)machine->smem_per_block_bytes);
  if ((int64_t)fixed + bytes > machine->smem_default_bytes)
    TMARING__CU(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)bytes, kernel, s->device));
  return TMARING_OK;
}

#define MAX_ATTRIBUTES 2

static void add_attribute(CUlaunchConfig *config, CUlaunchAttribute attribute)
{
  config->attrs[config->numAttrs++] = attribute;
}

/* `attributes` has room for MAX_ATTRIBUTES. */
static void configure(CUlaunchConfig *config, CUlaunchAttribute *attributes, const tmaring_args *args, uint32_t flags,
                      CUstream stream)
{
  const unsigned shared = tmaring_walk_shared(&args->walk) ? (unsigned)args->walk.cluster : 1;
  const unsigned ctas = args->multicast > 1 ? (unsigned)args->multicast : shared; /* of a cluster */
  CUlaunchAttribute attribute;
  memset(config, 0, sizeof *config);
  memset(&attribute, 0, sizeof attribute);
  config->gridDimX = (unsigned)args->walk.workers * shared;
  config->gridDimY = config->gridDimZ = 1;
  config->blockDimX = (unsigned)tmaring_cta_extent(&args->cta, 0);
  config->blockDimY = (unsigned)tmaring_cta_extent(&args->cta, 1);
  config->blockDimZ = (unsigned)tmaring_cta_extent(&args->cta, 2);
  config->sharedMemBytes = args->smem.total;
  config->hStream = stream;
  config->attrs = attributes;
  if (flags & TMARING_LAUNCH_DEPENDENT) {
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
    add_attribute(config, attribute);
  }
  if (ctas > 1) {
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = ctas;
    attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
    add_attribute(config, attribute);
  }
}

/* Finds a kernel of the library, sets its shared memory, and loads it into the current context, so that a first launch
 * finds all of it there. */
static tmaring_status find_kernel(cuda_state *s, const char *name, const tmaring_machine *machine, uint32_t smem_bytes,
                                  CUkernel *kernel, CUfunction *function)
{
  const tmaring__driver *driver = s->driver;
  TMARING__CU(cuLibraryGetKernel(kernel, s->library, name));
  TMARING__TRY(allow_smem(s, *kernel, machine, smem_bytes));
  TMARING__CU(cuKernelGetFunction(function, *kernel)); /* asking for it loads the code into the context */
  return TMARING_OK;
}

/* The SMs of a cluster belong to one part of the device, so that some SMs may be left over. */
static tmaring_status count_clusters(cuda_state *s, const tmaring_plan *plan, CUfunction function)
{
  const tmaring__driver *driver = s->driver;
  CUlaunchConfig config;
  CUlaunchAttribute attributes[MAX_ATTRIBUTES];
  for (int32_t i = 0; i < plan->variant_count; ++i) {
    const tmaring_args *args = &plan->variant[i].args;
    int count = 0;
    configure(&config, attributes, args, 0, NULL);
    TMARING__CU(cuOccupancyMaxActiveClusters(&count, function, &config));
    if (count < 1)
      return tmaring__fail(TMARING_ERROR_CAPACITY,
                           "cluster: device %d runs no cluster of %d CTAs with %u bytes of shared memory each; plan "
                           "with a smaller one",
                           (int)s->device, (int)tmaring_max_i64(args->walk.cluster, args->multicast),
                           (unsigned)args->smem.total);
    s->clusters[i] = count;
  }
  return TMARING_OK;
}

static tmaring_status load_code(cuda_state *s, const tmaring_plan *plan, const tmaring_machine *machine)
{
  const tmaring__driver *driver = s->driver;
  CUfunction function = NULL;
  tmaring__machine_code code;
  tmaring_status status;
  TMARING__TRY(tmaring__machine_code_of(plan, &code));
  TMARING__CU_GOTO(cuLibraryLoadData(&s->library, code.cubin, NULL, NULL, 0, NULL, NULL, 0), done);
  TMARING__TRY_GOTO(find_kernel(s, "tmaring_kernel", machine, largest_smem(plan), &s->kernel, &function), done);
  if (plan->code.cluster || plan->code.multicast) TMARING__TRY_GOTO(count_clusters(s, plan, function), done);
  if (plan->formula && tmaring__formula_program(plan->formula)->column_output_count > 0)
    TMARING__TRY_GOTO(find_kernel(s, "tmaring_columns_kernel", machine, 0, &s->columns, &function), done);
  status = TMARING_OK;
done:
  tmaring__machine_code_free(&code);
  return status;
}

static tmaring_status make_fault_record(cuda_state *s)
{
  const tmaring__driver *driver = s->driver;
  void *host = NULL;
  TMARING__CU(cuMemHostAlloc(&host, sizeof *s->fault, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
  s->fault = host;
  memset(s->fault, 0, sizeof *s->fault);
  TMARING__CU(cuMemHostGetDevicePointer(&s->fault_device, s->fault, 0));
  return TMARING_OK;
}

static tmaring_status prepare_in_context(cuda_state *s, const tmaring_plan *plan)
{
  tmaring_machine machine;
  TMARING__TRY(tmaring__device_machine(s->driver, s->device, &machine));
  s->sm_count = machine.sm_count;
  TMARING__TRY(load_code(s, plan, &machine));
  return plan->code.debug ? make_fault_record(s) : TMARING_OK;
}

static void cuda_release(void *state)
{
  cuda_state *s = state;
  const tmaring__driver *driver = s->driver;
  CUcontext popped;
  if (s->library) driver->cuLibraryUnload(s->library); /* belongs to no context */
  if (s->context && driver->cuCtxPushCurrent(s->context) == CUDA_SUCCESS) {
    if (s->fault) driver->cuMemFreeHost(s->fault);
    driver->cuCtxPopCurrent(&popped);
  }
  if (s->retained) driver->cuDevicePrimaryCtxRelease(s->device);
  free(s);
}

static tmaring_status cuda_prepare(void **state, const tmaring_plan *plan)
{
  const tmaring__driver *driver;
  CUcontext popped;
  tmaring_status status;
  TMARING__TRY(tmaring__driver_get(&driver));
  cuda_state *s = calloc(1, sizeof *s);
  if (!s) return tmaring__fail(TMARING_ERROR_MEMORY, "kernel: could not allocate %zu bytes", sizeof *s);
  s->driver = driver;
  TMARING__TRY_GOTO(find_context(s), failed);
  TMARING__CU_GOTO(cuCtxPushCurrent(s->context), failed);
  status = prepare_in_context(s, plan);
  driver->cuCtxPopCurrent(&popped);
  if (status != TMARING_OK) goto failed;
  *state = s;
  return TMARING_OK;
failed:
  cuda_release(s);
  return status;
}

/* Enters the kernel's context where the stream's handle means the current one and there is none; refuses a stream of
 * another context. *entered: leave it again. */
static tmaring_status enter(cuda_state *s, CUstream stream, int *entered)
{
  const tmaring__driver *driver = s->driver;
  CUcontext context = NULL;
  *entered = 0;
  if (tmaring__is_default_stream(stream)) {
    TMARING__CU(cuCtxGetCurrent(&context));
    if (!context) {
      TMARING__CU(cuCtxPushCurrent(s->context));
      *entered = 1;
      return TMARING_OK;
    }
  } else {
    TMARING__CU(cuStreamGetCtx(stream, &context));
  }
  if (context == s->context) return TMARING_OK;
  return tmaring__fail(
      TMARING_ERROR_NOT_PREPARED,
      "stream: belongs to context %p, the kernel was prepared in %p; call tmaring_prepare with that context "
      "current",
      (void *)context, (void *)s->context);
}

static void leave(cuda_state *s, int entered)
{
  CUcontext popped;
  if (entered) s->driver->cuCtxPopCurrent(&popped);
}

static tmaring_status cuda_workspace_init(void *state, void *workspace, struct CUstream_st *stream)
{
  cuda_state *s = state;
  int entered;
  TMARING__TRY(enter(s, stream, &entered));
  const CUresult result =
      s->driver->cuMemsetD8Async((CUdeviceptr)(uintptr_t)workspace, 0, TMARING_WORKSPACE_BYTES, stream);
  leave(s, entered);
  return result == CUDA_SUCCESS ? TMARING_OK : tmaring__driver_fail(s->driver, result, "cuMemsetD8Async");
}

static tmaring_status cuda_fault(void *state, tmaring_fault *fault)
{
  const cuda_state *s = state;
  const volatile tmaring_fault *record = s->fault;
  if (!record || record->raised != 1) return TMARING_OK;
  *fault = *s->fault;
  return tmaring__fail(TMARING_ERROR_FAULT,
                       "worker %u, role %u: the wait for fill %llu at the %s barrier of stage %u, parity %u, did not "
                       "end; the grid was stopped and "
                       "its context is lost",
                       fault->worker, fault->role, (unsigned long long)fault->fill, fault->barrier ? "empty" : "full",
                       fault->stage, fault->parity);
}

/* A block per 32 columns. An ordinary launch: it starts when the kernel before it has ended. */
static void configure_columns(CUlaunchConfig *config, const tmaring_args *args, CUstream stream)
{
  memset(config, 0, sizeof *config);
  config->gridDimX = (unsigned)tmaring_ceil_div(args->walk.cols, 32);
  config->gridDimY = config->gridDimZ = 1;
  config->blockDimX = 32;
  config->blockDimY = TMARING_COLUMN_STRANDS;
  config->blockDimZ = 1;
  config->hStream = stream;
}

/* The second parameter of a kernel with tiled streams. On the caller's stack: the launch copies it, so that each launch
 * in a graph keeps its own maps. */
static tmaring_status encode_tiles(const cuda_state *s, const tmaring__boxes *boxes, tmaring_tiles *tiles)
{
  memset(tiles, 0, sizeof *tiles);
  tiles->grid = boxes->grid;
  memcpy(tiles->panel, boxes->panel, sizeof tiles->panel);
  memcpy(tiles->tile, boxes->tile, sizeof tiles->tile);
  for (int32_t i = 0; i < TMARING_MAX_TILED; ++i) {
    if ((boxes->used >> i & 1) == 0) continue;
    TMARING__TRY(tmaring__tensor_map_encode(s->driver, &tiles->map[i], &boxes->map[i]));
  }
  return TMARING_OK;
}

/* The kernel, unless there are no rows, and the one that joins its partial results, if there are any. */
static tmaring_status enqueue(const cuda_state *s, tmaring_args *args, const tmaring__boxes *boxes, uint32_t flags,
                              CUstream stream)
{
  const tmaring__driver *driver = s->driver;
  CUlaunchConfig config;
  CUlaunchAttribute attributes[MAX_ATTRIBUTES];
  tmaring_tiles tiles;
  void *parameters[] = {args, &tiles};
  if (args->walk.rows > 0) {
    if (boxes->used || boxes->work) TMARING__TRY(encode_tiles(s, boxes, &tiles));
    configure(&config, attributes, args, flags, stream);
    TMARING__CU(cuLaunchKernelEx(&config, (CUfunction)s->kernel, parameters, NULL));
  }
  if (!s->columns) return TMARING_OK;
  configure_columns(&config, args, stream);
  TMARING__CU(cuLaunchKernelEx(&config, (CUfunction)s->columns, parameters, NULL));
  return TMARING_OK;
}

/* Workers that run at the same time on this device. */
static int64_t workers_at_once(const cuda_state *s, const tmaring_plan *plan, const tmaring__variant *variant)
{
  if (plan->code.cluster) return s->clusters[variant - plan->variant];
  if (plan->code.multicast) return (int64_t)s->clusters[variant - plan->variant] * variant->args.multicast;
  return (int64_t)s->sm_count * variant->ctas_per_sm;
}

static tmaring_status cuda_launch(void *state, const tmaring_plan *plan, tmaring_args *args,
                                  const tmaring__boxes *boxes, uint32_t flags, struct CUstream_st *stream)
{
  cuda_state *s = state;
  int entered;
  if (s->fault) {
    tmaring_fault fault;
    TMARING__TRY(cuda_fault(s, &fault));
    args->fault_address = (tmaring_u64)s->fault_device;
  }
  if (!plan->workers_forced && (plan->code.cluster || plan->code.multicast || s->sm_count < plan->machine.sm_count)) {
    const int64_t fit = workers_at_once(s, plan, tmaring__plan_variant(plan, args->walk.rows));
    if (args->walk.workers > fit) { /* planned for more SMs than there are: cut the work for these */
      args->walk.workers = (tmaring_i32)fit;
      tmaring_walk_set_rows(&args->walk, args->walk.rows);
    }
  }
  TMARING__TRY(enter(s, stream, &entered));
  const tmaring_status status = enqueue(s, args, boxes, flags, stream);
  leave(s, entered);
  return status;
}

static const tmaring__backend_calls cuda_calls = {
    "cuda", cuda_prepare, cuda_release, cuda_workspace_init, cuda_launch, cuda_fault,
};

#else

static tmaring_status cuda_prepare(void **state, const tmaring_plan *plan)
{
  (void)state, (void)plan;
  return tmaring__driver_absent();
}

static const tmaring__backend_calls cuda_calls = {"cuda", cuda_prepare, NULL, NULL, NULL, NULL};

#endif

const tmaring__backend_calls *tmaring__backend_cuda(void)
{
  return &cuda_calls;
}
