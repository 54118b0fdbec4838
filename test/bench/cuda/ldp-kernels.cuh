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

struct Strategy {
  const char* name;
  Kernel kernel;
  bool prefersL1;
};

template <int ORDER>
std::vector<Strategy> strategiesOf() {
  return {{"shared", ldpShared<ORDER>, false}, {"global", ldpGlobal<ORDER>, false}, {"l1", ldpGlobal<ORDER>, true}};
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

/** How a multiprocessor's memory is shared out: as much L1 cache as the kernel's own arrays leave, or as by default. */
void configure(const Strategy& strategy) {
  CUDA(cudaFuncSetCacheConfig(strategy.kernel, strategy.prefersL1 ? cudaFuncCachePreferL1 : cudaFuncCachePreferNone));
  CUDA(cudaFuncSetAttribute(strategy.kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                            strategy.prefersL1 ? cudaSharedmemCarveoutMaxL1 : cudaSharedmemCarveoutDefault));
}

int registersOf(const Strategy& strategy) {
  cudaFuncAttributes attributes;
  CUDA(cudaFuncGetAttributes(&attributes, strategy.kernel));
  return attributes.numRegs;
}
