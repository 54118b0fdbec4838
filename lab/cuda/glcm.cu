// Gray-Level Co-occurrence Matrices of 8-bit images: a matrix of LEVELS x LEVELS for each of four offsets, to the pixel
// right of a pixel, below and right, below, and below and left of it. A pixel without a partner in the image does not
// count. The level of a pixel is value * levels >> 8.

#include "measure.cuh"

constexpr int offsets = 4;
constexpr int stepX[offsets] = {1, 1, 0, -1};
constexpr int stepY[offsets] = {0, 1, 1, 1};
/** Four matrices fill 64 KiB of shared memory, which a kernel may ask for. */
constexpr int maxLevels = 64;

// ---- Kernels ------------------------------------------------------------------------------------------------------

/** Counts the pairs of a pixel. */
__device__ void countPairs(const u8* image, u32* matrices, int x, int y, int width, int height, int levels) {
  const int dx[offsets] = {1, 1, 0, -1};
  const int dy[offsets] = {0, 1, 1, 1};
  const int own = image[y * width + x] * levels >> 8;
  for (int i = 0; i < offsets; i++) {
    const int column = x + dx[i], row = y + dy[i];
    if (column < 0 || column >= width || row >= height) continue;
    const int partner = image[row * width + column] * levels >> 8;
    atomicAdd(&matrices[(i * levels + own) * levels + partner], 1u);
  }
}

/** A thread a pixel; every pair is counted in global memory. */
__global__ void glcmGlobal(const u8* image, u32* matrices, int width, int height, int levels) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) countPairs(image, matrices, x, y, width, height, levels);
}

/** A block computes many pixels, counts them in shared memory and adds its counts to global memory at its end. */
__global__ void glcmPrivate(const u8* image, u32* matrices, int width, int height, int levels) {
  extern __shared__ u32 own[];
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  const int threads = blockDim.x * blockDim.y;
  const int bins = offsets * levels * levels;
  for (int i = thread; i < bins; i += threads) own[i] = 0;
  __syncthreads();
  for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < height; y += gridDim.y * blockDim.y) {
    for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < width; x += gridDim.x * blockDim.x) {
      countPairs(image, own, x, y, width, height, levels);
    }
  }
  __syncthreads();
  for (int i = thread; i < bins; i += threads) {
    if (own[i] != 0) atomicAdd(&matrices[i], own[i]);
  }
}

struct Strategy {
  const char* name;
  void (*kernel)(const u8*, u32*, int, int, int);
  bool isPrivate;
};
const Strategy strategies[] = {{"global-atomics", glcmGlobal, false}, {"private-matrices", glcmPrivate, true}};

// ---- The CPU loop -------------------------------------------------------------------------------------------------

std::size_t binsOf(int levels) { return static_cast<std::size_t>(offsets) * levels * levels; }

/** Threads share the offsets, whose matrices are apart. */
std::vector<u32> glcmOnCpu(const std::vector<u8>& image, Size size, int levels, int threads) {
  std::vector<u32> matrices(binsOf(levels));
  inRows(offsets, std::min(threads, offsets), [&](int first, int end) {
    for (int i = first; i < end; i++) {
      for (int y = 0; y + stepY[i] < size.height; y++) {
        for (int x = std::max(0, -stepX[i]); x < size.width - std::max(0, stepX[i]); x++) {
          const std::size_t at = static_cast<std::size_t>(y) * size.width + x;
          const int own = image[at] * levels >> 8;
          const int partner = image[at + stepY[i] * size.width + stepX[i]] * levels >> 8;
          matrices[(i * levels + own) * levels + partner]++;
        }
      }
    }
  });
  return matrices;
}

void checkHost() {
  // Levels 0 0 1 / 1 1 0 of two: right, below and right, below, below and left.
  const std::vector<u32> expected = {1, 1, 1, 1, 1, 1, 0, 0, 0, 2, 1, 0, 0, 1, 0, 1};
  expectEqual(glcmOnCpu({0, 100, 200, 128, 255, 3}, {3, 2}, 2, 1), expected, "The matrices of 3x2 worked out by hand");
}

// ---- Measurements -------------------------------------------------------------------------------------------------

/** How many blocks compute an image: a few for each multiprocessor, if each has matrices of its own. */
dim3 gridOf(const Strategy& strategy, Size size, Block block) {
  const dim3 all = block.grid(size);
  if (!strategy.isPrivate) return all;
  int processors = 0;
  CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  const unsigned int rows = std::max(1u, 8u * processors / all.x);
  return dim3(all.x, std::min(all.y, rows));
}

void launch(const Strategy& strategy, const u8* image, u32* matrices, Size size, Block block, int levels) {
  const std::size_t bytes = strategy.isPrivate ? binsOf(levels) * sizeof(u32) : 0;
  strategy.kernel<<<gridOf(strategy, size, block), block.threads(), bytes>>>(image, matrices, size.width, size.height,
                                                                             levels);
}

/** From an image in (pageable) host memory to matrices in host memory. */
std::vector<u32> wholeRun(const Strategy& strategy, const std::vector<u8>& image, u8* in, u32* matrices, Size size,
                          Block block, int levels) {
  std::vector<u32> found(binsOf(levels));
  CUDA(cudaMemcpy(in, image.data(), size.pixels(), cudaMemcpyHostToDevice));
  CUDA(cudaMemsetAsync(matrices, 0, found.size() * sizeof(u32)));
  launch(strategy, in, matrices, size, block, levels);
  CUDA(cudaGetLastError());
  CUDA(cudaMemcpy(found.data(), matrices, found.size() * sizeof(u32), cudaMemcpyDeviceToHost));
  return found;
}

void check(const Strategy& strategy, const std::vector<u8>& image, Size size, Block block, int levels) {
  Slots<u8> in(size.pixels(), 1);
  Slots<u32> matrices(binsOf(levels), 1);
  const std::string what = std::string("GLCM ") + strategy.name + " " + block.name() + " of " + size.name();
  expectEqual(wholeRun(strategy, image, in.at(0), matrices.at(0), size, block, levels),
              glcmOnCpu(image, size, levels, allThreads()), what);
}

void measure(Size size, const Images& images, const std::vector<Block>& blocks,
             const std::vector<std::string>& measures, const Plan& plan, int levels) {
  const int slots = slotsFor(size.pixels());
  Slots<u8> in(size.pixels(), slots);
  Slots<u32> matrices(binsOf(levels), slots);
  for (int slot = 0; slot < slots; slot++) in.upload(slot, images.of(size, slot));
  const std::vector<u8> image = images.of(size);
  for (const Strategy& strategy : strategies) {
    for (const Block block : blocks) {
      for (const Size small : checkedSizes()) check(strategy, randomImage(small.pixels()), small, block, levels);
      check(strategy, image, size, block, levels);
      const std::vector<Field> fields = {{"levels", std::to_string(levels)}};
      if (contains(measures, "kernel")) {
        // The matrices are not cleared between launches: that would be timed too.
        const auto once = [&](int s) { launch(strategy, in.at(s), matrices.at(s), size, block, levels); };
        print({"GLCM", strategy.name, size, block.name(), 0, fields}, timeLaunches(plan, slots, once));
      }
      if (contains(measures, "whole")) {
        const auto run = [&] { wholeRun(strategy, image, in.at(0), matrices.at(0), size, block, levels); };
        print({"GLCM", std::string(strategy.name) + "-whole", size, block.name(), 0, fields},
              timeRuns(plan.repetitions, run));
      }
    }
  }
}

int main(int argc, char** argv) {
  if (isHostCheck(argc, argv)) return checkHost(), 0;
  Arguments arguments(argc, argv);
  const std::vector<Size> sizes = arguments.sizes("4928x2772");
  const std::vector<Block> blocks = arguments.blocks("32x8,16x16,32x32");
  const std::vector<std::string> measures = arguments.choices("measure", "kernel,whole");
  const Plan plan{arguments.integer("repetitions", 30, 1, 100000), arguments.integer("launches", 100, 1, 100000)};
  const int levels = arguments.integer("levels", 32, 2, maxLevels);
  const int cpuRepetitions = arguments.integer("cpu-repetitions", 0, 0, 1000);
  const std::string image = arguments.word("image");
  arguments.expectAllRead();

  checkHost();
  const int bytes = static_cast<int>(binsOf(levels) * sizeof(u32));
  CUDA(cudaFuncSetAttribute(glcmPrivate, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  const Images images(image);
  for (const Size size : sizes) {
    measure(size, images, blocks, measures, plan, levels);
    const std::vector<u8> one = images.of(size);
    printCpuRows({"GLCM", "cpu", size, "", 0}, cpuRepetitions,
                 [&](int threads) { glcmOnCpu(one, size, levels, threads); });
  }
}
