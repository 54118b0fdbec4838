// The kernels of R4: the codes of four directions into maps, and their counts, private to a block, into histograms.
#pragma once

#include "measure.cuh"

constexpr int bins = 4 * 256;

/** The derivative of the pixel at `p` towards `p + step`: an order is the difference of two derivatives of the order below. */
template <int ORDER>
__device__ __forceinline__ int derivative(const u8* p, int step) {
  if constexpr (ORDER == 0) {
    return *p;
  } else {
    return derivative<ORDER - 1>(p, step) - derivative<ORDER - 1>(p + step, step);
  }
}

template <int ORDER>
__device__ __forceinline__ int ldpCode(const u8* p, int pitch, int step) {
  const int centre = derivative<ORDER - 1>(p, step);
  int code = 0;
  code |= (derivative<ORDER - 1>(p - pitch - 1, step) * centre <= 0) << 7;
  code |= (derivative<ORDER - 1>(p - pitch, step) * centre <= 0) << 6;
  code |= (derivative<ORDER - 1>(p - pitch + 1, step) * centre <= 0) << 5;
  code |= (derivative<ORDER - 1>(p + 1, step) * centre <= 0) << 4;
  code |= (derivative<ORDER - 1>(p + pitch + 1, step) * centre <= 0) << 3;
  code |= (derivative<ORDER - 1>(p + pitch, step) * centre <= 0) << 2;
  code |= (derivative<ORDER - 1>(p + pitch - 1, step) * centre <= 0) << 1;
  code |= (derivative<ORDER - 1>(p - 1, step) * centre <= 0) << 0;
  return code;
}

/**
 * The rows first...end - 1 of an image: `pixels` begins with row `top`, `maps` with row `first` of the first of four
 * planes, `histograms` with the bins of the image or, `ofBlocks`, of the first of these rows' blocks.
 */
struct Part {
  const u8* pixels;
  u8* maps;
  u32* histograms;
  bool ofBlocks;
  int width, height;
  int top, first, end;
};

/** The four codes of the pixel at `p`, which is (x, y) of the image: into the maps and the block's counts. */
template <int ORDER>
__device__ __forceinline__ void encode(const Part& part, const u8* p, int pitch, int x, int y, u32* counts) {
  const bool inside = x >= ORDER && y >= ORDER && x < part.width - ORDER && y < part.height - ORDER;
  const int plane = part.width * (part.end - part.first);
  u8* map = part.maps + (y - part.first) * part.width + x;
  const int steps[4] = {1, 1 - pitch, -pitch, -pitch - 1};
#pragma unroll
  for (int direction = 0; direction < 4; direction++) {
    const int code = inside ? ldpCode<ORDER>(p, pitch, steps[direction]) : 0;
    map[direction * plane] = static_cast<u8>(code);
    if (inside) atomicAdd(&counts[direction * 256 + code], 1u);
  }
}

__device__ __forceinline__ void clear(u32* counts) {
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  for (int i = thread; i < bins; i += blockDim.x * blockDim.y) counts[i] = 0;
}

__device__ __forceinline__ void merge(const Part& part, const u32* counts) {
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  const u64 number = static_cast<u64>(blockIdx.y) * gridDim.x + blockIdx.x;
  for (int i = thread; i < bins; i += blockDim.x * blockDim.y) {
    if (part.ofBlocks) {
      part.histograms[number * bins + i] = counts[i];
    } else {
      atomicAdd(&part.histograms[i], counts[i]);
    }
  }
}

/** The pixels from global memory, through the L1 cache. */
template <int ORDER>
__global__ void ldpGlobal(const Part part) {
  __shared__ u32 counts[bins];
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = part.first + blockIdx.y * blockDim.y + threadIdx.y;
  clear(counts);
  __syncthreads();
  if (x < part.width && y < part.end) {
    encode<ORDER>(part, part.pixels + (y - part.top) * part.width + x, part.width, x, y, counts);
  }
  __syncthreads();
  merge(part, counts);
}

/** The pixels from a tile with a halo of ORDER pixels in shared memory; outside the image it is zero (and not used). */
template <int ORDER>
__global__ void ldpShared(const Part part) {
  __shared__ u32 counts[bins];
  __shared__ u8 tile[(maxBlockSide + 2 * ORDER) * (maxBlockSide + 2 * ORDER)];
  const int left = blockIdx.x * blockDim.x - ORDER;
  const int upper = part.first + blockIdx.y * blockDim.y - ORDER;
  const int pitch = blockDim.x + 2 * ORDER;
  const int tilePixels = pitch * (blockDim.y + 2 * ORDER);
  const int lower = min(part.height, part.end + ORDER);
  clear(counts);
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  for (int i = thread; i < tilePixels; i += blockDim.x * blockDim.y) {
    const int x = left + i % pitch, y = upper + i / pitch;
    const bool within = x >= 0 && x < part.width && y >= 0 && y < lower;
    tile[i] = within ? part.pixels[(y - part.top) * part.width + x] : 0;
  }
  __syncthreads();
  const int x = left + ORDER + threadIdx.x;
  const int y = upper + ORDER + threadIdx.y;
  if (x < part.width && y < part.end) {
    encode<ORDER>(part, tile + (threadIdx.y + ORDER) * pitch + threadIdx.x + ORDER, pitch, x, y, counts);
  }
  __syncthreads();
  merge(part, counts);
}

using Kernel = void (*)(Part);

/**
 * A kernel, and the percentage of a multiprocessor's memory for shared arrays; the rest is first-level cache. The report had 64 KB: 48 KB
 * of it shared for its table 2 (75 %) and 16 KB for its table 3 (25 %).
 */
struct Strategy {
  const char* name;
  Kernel kernel;
  int sharedPercent;
};

constexpr const char* strategyNames = "shared,shared-75,global,l1-75,l1-25,l1-0";

template <int ORDER>
std::vector<Strategy> strategiesOf() {
  return {{"shared", ldpShared<ORDER>, cudaSharedmemCarveoutDefault},
          {"shared-75", ldpShared<ORDER>, 75},
          {"global", ldpGlobal<ORDER>, cudaSharedmemCarveoutDefault},
          {"l1-75", ldpGlobal<ORDER>, 75},
          {"l1-25", ldpGlobal<ORDER>, 25},
          {"l1-0", ldpGlobal<ORDER>, cudaSharedmemCarveoutMaxL1}};
}

std::vector<Strategy> strategiesOf(int order) {
  switch (order) {
    case 2: return strategiesOf<2>();
    case 3: return strategiesOf<3>();
    case 4: return strategiesOf<4>();
    case 5: return strategiesOf<5>();
    default: return strategiesOf<6>();
  }
}

void configure(const Strategy& strategy) {
  CUDA(cudaFuncSetAttribute(strategy.kernel, cudaFuncAttributePreferredSharedMemoryCarveout, strategy.sharedPercent));
}

int registersOf(const Strategy& strategy) {
  cudaFuncAttributes attributes;
  CUDA(cudaFuncGetAttributes(&attributes, strategy.kernel));
  return attributes.numRegs;
}

/** The part of a multiprocessor's threads that blocks of this shape occupy, at most 1, as the runtime computes it. */
double occupancyOf(const Strategy& strategy, Block block) {
  int blocks = 0, device = 0, most = 0;
  const int threads = block.width * block.height;
  CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, strategy.kernel, threads, 0));
  CUDA(cudaGetDevice(&device));
  CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerMultiProcessor, device));
  return static_cast<double>(blocks) * threads / most;
}
