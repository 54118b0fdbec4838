// R2: the histogram of LBP codes over an image padded with zeros, so that every pixel has a code and counts.
// Neighbours >= the centre; NW counts 128, then clockwise to W, 1.

#include "measure.cuh"

// ---- Kernels ------------------------------------------------------------------------------------------------------

/** Copies the image into the middle of a padded one that is zero already. */
__global__ void pad(const u8* image, u8* padded, int rows, int columns) {
  const int r = blockIdx.y * blockDim.y + threadIdx.y;
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows && c < columns) padded[(r + 1) * (columns + 2) + c + 1] = image[r * columns + c];
}

/** The code at row r and column c of the padded image. */
__device__ int lbpCode(const u8* padded, int pitch, int r, int c) {
  const u8 centre = padded[r * pitch + c];
  int code = 0;
  code += (padded[(r - 1) * pitch + c - 1] >= centre) * 128;
  code += (padded[(r - 1) * pitch + c] >= centre) * 64;
  code += (padded[(r - 1) * pitch + c + 1] >= centre) * 32;
  code += (padded[r * pitch + c + 1] >= centre) * 16;
  code += (padded[(r + 1) * pitch + c + 1] >= centre) * 8;
  code += (padded[(r + 1) * pitch + c] >= centre) * 4;
  code += (padded[(r + 1) * pitch + c - 1] >= centre) * 2;
  code += (padded[r * pitch + c - 1] >= centre) * 1;
  return code;
}

/** Every pixel is counted in global memory. */
__global__ void histogramGlobal(const u8* padded, u32* histogram, int rows, int columns) {
  const int r = blockIdx.y * blockDim.y + threadIdx.y;
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows && c < columns) atomicAdd(&histogram[lbpCode(padded, columns + 2, r + 1, c + 1)], 1u);
}

/** Every block counts in shared memory and adds its counts to global memory at its end. */
__global__ void histogramPrivate(const u8* padded, u32* histogram, int rows, int columns) {
  __shared__ u32 bins[256];
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  const int threads = blockDim.x * blockDim.y;
  for (int i = thread; i < 256; i += threads) bins[i] = 0;
  __syncthreads();
  const int r = blockIdx.y * blockDim.y + threadIdx.y;
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows && c < columns) atomicAdd(&bins[lbpCode(padded, columns + 2, r + 1, c + 1)], 1u);
  __syncthreads();
  for (int i = thread; i < 256; i += threads) atomicAdd(&histogram[i], bins[i]);
}

struct Strategy {
  const char* name;
  void (*kernel)(const u8*, u32*, int, int);
};
const Strategy strategies[] = {{"global-atomics", histogramGlobal}, {"private-histogram", histogramPrivate}};

// ---- The CPU loop -------------------------------------------------------------------------------------------------

std::vector<u32> histogramOnCpu(const std::vector<u8>& padded, Size size, int threads) {
  const int pitch = size.width + 2;
  std::vector<std::vector<u32>> parts(size.height + 1);  // by first row, so that no two threads share one
  inRows(size.height, threads, [&](int first, int end) {
    std::vector<u32> bins(256);
    for (int y = first + 1; y <= end; y++) {
      for (int x = 1; x <= size.width; x++) {
        int code = 0;
        for (int i = 0; i < 8; i++) {
          code = code * 2 + (padded[(y + ringY[i]) * pitch + x + ringX[i]] >= padded[y * pitch + x]);
        }
        bins[code]++;
      }
    }
    if (first < end) parts[first] = bins;
  });
  std::vector<u32> histogram(256);
  for (const std::vector<u32>& part : parts) {
    for (std::size_t i = 0; i < part.size(); i++) histogram[i] += part[i];
  }
  return histogram;
}

std::vector<u32> expectedHistogram(const std::vector<u8>& image, Size size) {
  return histogramOnCpu(withZeroRing(image, size), size, allThreads());
}

void checkHost() {
  std::vector<u32> ofTwo(256), ofTwelve(256);
  ofTwo[0] = ofTwo[255] = 1;  // 5 is above all its neighbours, 0 above none
  expectEqual(ofTwo, expectedHistogram({5, 0}, {2, 1}), "The histogram of 2x1 worked out by hand");
  for (const int code : {28, 30, 16, 0, 4, 43, 253, 198, 0, 241, 0, 65}) ofTwelve[code]++;
  const std::vector<u8> image = {10, 20, 30, 40, 50, 25, 20, 25, 60, 10, 70, 25};
  expectEqual(ofTwelve, expectedHistogram(image, {4, 3}), "The histogram of 4x3 worked out by hand");
}

// ---- Measurements -------------------------------------------------------------------------------------------------

Size paddedSize(Size size) { return {size.width + 2, size.height + 2}; }

/** Padding as the report does it: all zero, then the image into the middle. */
void launchPad(const u8* image, u8* padded, Size size, Block block) {
  CUDA(cudaMemsetAsync(padded, 0, paddedSize(size).pixels()));
  pad<<<block.grid(size), block.threads()>>>(image, padded, size.height, size.width);
}

/** From an image in (pageable) host memory to a histogram in host memory. */
std::vector<u32> wholeRun(const Strategy& strategy, const std::vector<u8>& image, u8* in, u8* padded, u32* histogram,
                          Size size, Block block) {
  std::vector<u32> bins(256);
  CUDA(cudaMemcpy(in, image.data(), size.pixels(), cudaMemcpyHostToDevice));
  launchPad(in, padded, size, block);
  CUDA(cudaMemsetAsync(histogram, 0, 256 * sizeof(u32)));
  strategy.kernel<<<block.grid(size), block.threads()>>>(padded, histogram, size.height, size.width);
  CUDA(cudaGetLastError());
  CUDA(cudaMemcpy(bins.data(), histogram, 256 * sizeof(u32), cudaMemcpyDeviceToHost));
  return bins;
}

void checkSmall(const Strategy& strategy, Block block) {
  for (const Size size : checkedSizes()) {
    const std::vector<u8> image = randomImage(size.pixels());
    Slots<u8> in(size.pixels(), 1), padded(paddedSize(size).pixels(), 1);
    Slots<u32> histogram(256, 1);
    const std::string what = std::string("R2 ") + strategy.name + " " + block.name() + " of " + size.name();
    expectEqual(wholeRun(strategy, image, in.at(0), padded.at(0), histogram.at(0), size, block),
                expectedHistogram(image, size), what);
  }
}

void measure(Size size, const Images& images, const std::vector<Block>& blocks,
             const std::vector<std::string>& measures, const Plan& plan, int cpuRepetitions) {
  const int slots = slotsFor(size.pixels());
  Slots<u8> in(size.pixels(), slots), padded(paddedSize(size).pixels(), slots);
  Slots<u32> histograms(256, slots);
  for (int slot = 0; slot < slots; slot++) in.upload(slot, images.of(size, slot));
  const std::vector<u8> image = images.of(size);
  const std::vector<u8> expectedPadded = withZeroRing(image, size);
  const std::vector<u32> expected = expectedHistogram(image, size);

  for (const Block block : blocks) {
    if (contains(measures, "kernel")) {
      const auto launch = [&](int s) { launchPad(in.at(s), padded.at(s), size, block); };
      const Times times = timeLaunches(plan, slots, launch);
      expectEqual(padded.download(0), expectedPadded, "R2 pad " + block.name() + " of " + size.name());
      print({"R2", "pad", size, block.name(), 3}, times);
    }
    for (const Strategy& strategy : strategies) {
      checkSmall(strategy, block);
      const std::string what = std::string("R2 ") + strategy.name + " " + block.name() + " of " + size.name();
      const auto run = [&] { return wholeRun(strategy, image, in.at(0), padded.at(0), histograms.at(0), size, block); };
      expectEqual(run(), expected, what);
      if (contains(measures, "kernel")) {
        // The histograms are not cleared between launches: that would be timed too.
        const auto launch = [&](int s) {
          const dim3 grid = block.grid(size);
          strategy.kernel<<<grid, block.threads()>>>(padded.at(s), histograms.at(s), size.height, size.width);
        };
        print({"R2", strategy.name, size, block.name(), 3}, timeLaunches(plan, slots, launch));
      }
      if (contains(measures, "whole")) {
        print({"R2", std::string(strategy.name) + "-whole", size, block.name(), 3}, timeRuns(plan.repetitions, run));
      }
    }
  }
  if (cpuRepetitions > 0) {
    print({"R2", "cpu-pad", size, "", 3}, timeRuns(cpuRepetitions, [&] { withZeroRing(image, size); }));
  }
  printCpuRows({"R2", "cpu", size, "", 3}, cpuRepetitions,
               [&](int threads) { histogramOnCpu(expectedPadded, size, threads); });
}

int main(int argc, char** argv) {
  if (isHostCheck(argc, argv)) return checkHost(), 0;
  Arguments arguments(argc, argv);
  const std::vector<Size> sizes = arguments.sizes("256,512,1024,2048,4096,8192");
  const std::vector<Block> blocks = arguments.blocks("4,8,16,32");
  const std::vector<std::string> measures = arguments.choices("measure", "kernel,whole");
  const Plan plan{arguments.integer("repetitions", 100, 1, 100000), arguments.integer("launches", 20, 1, 100000)};
  const int cpuRepetitions = arguments.integer("cpu-repetitions", 0, 0, 1000);
  const std::string image = arguments.word("image");
  arguments.expectAllRead();

  checkHost();
  const Images images(image);
  for (const Size size : sizes) measure(size, images, blocks, measures, plan, cpuRepetitions);
}
