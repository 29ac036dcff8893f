#include "copy_kernel.h"

#include <stdio.h>
#include <string.h>

#include "../../src/host/backend/cuda/driver.h"
#include "../../src/host/jit/code_store.h"

#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...)    TEXT_OF(__VA_ARGS__)

static const char source[] =
    "#include \"tmaring/abi/tile.h\"\n"
    "#include \"tmaring/device/ptx.cuh\"\n" TEXT(
        COPY_JOB) "\n"
                  "extern __shared__ unsigned char memory[];\n"
                  "\n"
                  "template <int RANK>\n"
                  "__device__ void copy(const tmaring_map *map, const copy_job &job, tmaring_u32 shared, tmaring_u32 "
                  "barrier)\n"
                  "{\n"
                  "  if (job.direction == 0) tmaring_tensor_load<RANK>(shared, map, job.coordinates, barrier);\n"
                  "  if (job.direction == 1) tmaring_tensor_store<RANK>(map, job.coordinates, shared);\n"
                  "  if constexpr (RANK >= 3) {\n"
                  "    if (job.direction == 2)\n"
                  "      tmaring_tensor_load_im2col<RANK>(shared, map, job.coordinates, job.offsets, barrier);\n"
                  "  }\n"
                  "}\n"
                  "\n"
                  "__device__ tmaring_u64 now()\n"
                  "{\n"
                  "  tmaring_u64 time;\n"
                  "  asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(time));\n"
                  "  return time;\n"
                  "}\n"
                  "\n"
                  "__device__ bool complete(tmaring_u32 barrier)\n"
                  "{\n"
                  "  const tmaring_u64 start = now();\n"
                  "  while (!tmaring_mbarrier_try_wait(barrier, 0)) {\n"
                  "    if (now() - start > 200000000) return false;\n"
                  "  }\n"
                  "  return true;\n"
                  "}\n"
                  "\n"
                  "extern \"C\" __global__ void copy_kernel(const __grid_constant__ tmaring_map map,\n"
                  "                                       const __grid_constant__ copy_job job)\n"
                  "{\n"
                  "  __shared__ tmaring_u64 word;\n"
                  "  unsigned char *const shared = memory + (1024 - tmaring_smem_address(memory) % 1024) % 1024;\n"
                  "  unsigned char *const image = reinterpret_cast<unsigned char *>(job.image);\n"
                  "  const tmaring_u32 barrier = tmaring_smem_address(&word), to = tmaring_smem_address(shared) + "
                  "job.at;\n"
                  "  const bool store = job.direction == 1;\n"
                  "  bool good = true;\n"
                  "  for (tmaring_u32 i = threadIdx.x; i < job.room; i += blockDim.x) shared[i] = store ? image[i] : "
                  "0xa5;\n"
                  "  tmaring_fence_proxy_async();\n"
                  "  if (threadIdx.x == 0) {\n"
                  "    tmaring_tensor_prefetch(&map);\n"
                  "    tmaring_mbarrier_init(barrier, 1);\n"
                  "    tmaring_fence_mbarrier_init();\n"
                  "  }\n"
                  "  __syncthreads();\n"
                  "  if (threadIdx.x == 0) {\n"
                  "    if (!store) tmaring_mbarrier_arrive_expect_tx(barrier, job.bytes);\n"
                  "    switch (job.rank) {\n"
                  "    case 1: copy<1>(&map, job, to, barrier); break;\n"
                  "    case 2: copy<2>(&map, job, to, barrier); break;\n"
                  "    case 3: copy<3>(&map, job, to, barrier); break;\n"
                  "    case 4: copy<4>(&map, job, to, barrier); break;\n"
                  "    default: copy<5>(&map, job, to, barrier); break;\n"
                  "    }\n"
                  "    if (store) tmaring_bulk_commit();\n"
                  "    if (store) tmaring_bulk_wait_read(0);\n"
                  "  }\n"
                  "  if (!store) good = complete(barrier);\n"
                  "  for (tmaring_u32 i = threadIdx.x; i < job.room && !store; i += blockDim.x) image[i] = shared[i];\n"
                  "  __syncthreads();\n"
                  "  if (threadIdx.x == 0) *reinterpret_cast<int *>(job.done) = good ? 1 : 2;\n"
                  "  if (threadIdx.x == 0 && good) tmaring_mbarrier_inval(barrier);\n"
                  "}\n";

tmaring_status copy_kernel_compile(void)
{
  tmaring__machine_code code;
  const tmaring_status status = tmaring__machine_code_find(source, 0, &code);
  if (status == TMARING_OK) tmaring__machine_code_free(&code);
  return status;
}

#if TMARING_WITH_CUDA

static tmaring_status load_kernel(copy_kernel *k)
{
  const tmaring__driver *driver;
  tmaring__machine_code code;
  CUlibrary library = NULL;
  CUkernel kernel = NULL;
  tmaring_status status;
  TMARING__TRY(tmaring__driver_get(&driver));
  TMARING__TRY(tmaring__machine_code_find(source, 0, &code));
  TMARING__CU_GOTO(cuLibraryLoadData(&library, code.cubin, NULL, NULL, 0, NULL, NULL, 0), done);
  k->library = library;
  TMARING__CU_GOTO(cuLibraryGetKernel(&kernel, library, "copy_kernel"), done);
  k->kernel = kernel;
  TMARING__CU_GOTO(
      cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, COPY_MOST_ROOM + 1024, kernel, 0), done);
  status = TMARING_OK;
done:
  tmaring__machine_code_free(&code);
  return status;
}

const char *copy_kernel_open(copy_kernel *k, const venue *v)
{
  memset(k, 0, sizeof *k);
  k->venue = v;
  if (load_kernel(k) != TMARING_OK) return tmaring_last_detail();
  k->image = v->place->take(COPY_MOST_ROOM);
  k->done = v->place->take(sizeof(int));
  return k->image && k->done ? NULL : "no device memory";
}

void copy_kernel_close(copy_kernel *k)
{
  const tmaring__driver *driver;
  k->venue->place->give(k->image);
  k->venue->place->give(k->done);
  if (k->library && tmaring__driver_get(&driver) == TMARING_OK) driver->cuLibraryUnload(k->library);
}

static tmaring_status launch(copy_kernel *k, const tmaring_map *map, copy_job *job)
{
  const tmaring__driver *driver;
  CUlaunchConfig config;
  tmaring_map parameter = *map;
  void *parameters[] = {&parameter, job};
  TMARING__TRY(tmaring__driver_get(&driver));
  memset(&config, 0, sizeof config);
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 256;
  config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = job->room + 1024;
  config.hStream = k->venue->stream;
  TMARING__CU(cuLaunchKernelEx(&config, (CUfunction)k->kernel, parameters, NULL));
  TMARING__CU(cuStreamSynchronize(k->venue->stream));
  return TMARING_OK;
}

const char *copy_kernel_run(copy_kernel *k, const tmaring_map *map, copy_job job, unsigned char *image)
{
  const memory_place *place = k->venue->place;
  int done = 0;
  if (job.room > COPY_MOST_ROOM) return "the box needs more shared memory than the kernel has";
  job.image = (tmaring_u64)(size_t)k->image;
  job.done = (tmaring_u64)(size_t)k->done;
  if (!place->upload(k->done, &done, sizeof done)) return "upload failed";
  if (job.direction == COPY_STORE && !place->upload(k->image, image, job.room)) return "upload failed";
  if (launch(k, map, &job) != TMARING_OK) return tmaring_last_detail();
  if (!place->download(&done, k->done, sizeof done)) return "download failed";
  if (job.direction != COPY_STORE && !place->download(image, k->image, job.room)) return "download failed";
  return done == 1 ? NULL : "the copy did not complete the bytes that were expected";
}

#else

const char *copy_kernel_open(copy_kernel *k, const venue *v)
{
  k->venue = v;
  return "built without CUDA";
}

void copy_kernel_close(copy_kernel *k)
{
  k->venue = NULL;
}

const char *copy_kernel_run(copy_kernel *k, const tmaring_map *map, copy_job job, unsigned char *image)
{
  (void)k, (void)map, (void)job, (void)image;
  return "built without CUDA";
}

#endif
