// R3: the LBP map and its histogram in one kernel, plain and tiled, in the other bit order:
// neighbours >= the centre, NW counts 1, then clockwise to W, 128; pixels outside the image are zero.

#include <mutex>

#include "measure.cuh"

// ---- Kernels ------------------------------------------------------------------------------------------------------

constexpr int blockWidth = 32;
constexpr int tileWidth = blockWidth + 2;
constexpr int borderPixels = tileWidth * tileWidth - blockWidth * blockWidth;

/** Two loops over the neighbours with a test each, bits in an array, counts in global memory. */
__global__ void lbpSimple(const u8* in, u8* out, u32* histogram, int rows, int columns) {
  const int row = blockIdx.y * blockWidth + threadIdx.y;
  const int column = blockIdx.x * blockWidth + threadIdx.x;
  if (row >= rows || column >= columns) return;

  const int centre = in[row * columns + column];
  int bits[8];
  int next = 0;
  for (int i = -1; i <= 1; i++) {
    for (int j = -1; j <= 1; j++) {
      if (i == 0 && j == 0) continue;
      int neighbour = 0;
      if (row + i >= 0 && row + i < rows && column + j >= 0 && column + j < columns) {
        neighbour = in[(row + i) * columns + column + j];
      }
      bits[next++] = neighbour >= centre ? 1 : 0;
    }
  }
  // Row by row: NW N NE W E SW S SE.
  const int code = bits[0] * 1 + bits[1] * 2 + bits[2] * 4 + bits[3] * 128 + bits[4] * 8 + bits[5] * 64 + bits[6] * 32 +
                   bits[7] * 16;
  out[row * columns + column] = static_cast<u8>(code);
  atomicAdd(&histogram[code], 1u);
}

__constant__ int weights[3][3] = {{1, 2, 4}, {128, 0, 8}, {64, 32, 16}};

/** The codes of an image with a ring of zeros around it: a 34x34 tile in shared memory for 32x32 threads, counts private to the block. */
__global__ void lbpTiled(const u8* padded, u8* out, u32* histogram, int rows, int columns) {
  __shared__ u8 tile[tileWidth * tileWidth];
  __shared__ u32 bins[256];
  const int bi = threadIdx.y, bj = threadIdx.x;
  const int i = blockIdx.y * blockWidth + bi;
  const int j = blockIdx.x * blockWidth + bj;
  const int pitch = columns + 2;
  const int start = blockIdx.y * blockWidth * pitch + blockIdx.x * blockWidth;
  const int thread = bi * blockWidth + bj;
  if (thread < 256) bins[thread] = 0;

  // The 1024 threads load as many pixels of the tile, then the first of them the 132 that are left.
  int location = start + thread / tileWidth * pitch + thread % tileWidth;
  tile[thread] = location < (rows + 2) * pitch ? padded[location] : 0;
  if (thread < borderPixels) {
    const int rest = thread + blockWidth * blockWidth;
    location = start + rest / tileWidth * pitch + rest % tileWidth;
    tile[rest] = location < (rows + 2) * pitch ? padded[location] : 0;
  }
  __syncthreads();

  if (i < rows && j < columns) {
    const int centre = tile[(bi + 1) * tileWidth + bj + 1];
    int code = 0;
    for (int u = 0; u < 3; u++) {
      for (int v = 0; v < 3; v++) {
        if (tile[(bi + u) * tileWidth + bj + v] >= centre) code += weights[u][v];
      }
    }
    out[i * columns + j] = static_cast<u8>(code);
    atomicAdd(&bins[code], 1u);
  }
  __syncthreads();
  if (thread < 256) atomicAdd(&histogram[thread], bins[thread]);
}

struct Strategy {
  const char* name;
  void (*kernel)(const u8*, u8*, u32*, int, int);
  bool takesPadded;
};
const Strategy strategies[] = {{"simple", lbpSimple, false}, {"tiled", lbpTiled, true}};
constexpr Block block{blockWidth, blockWidth};

// ---- The CPU loop -------------------------------------------------------------------------------------------------

struct Result {
  std::vector<u8> map;
  std::vector<u32> histogram;
  explicit Result(Size size) : map(size.pixels()), histogram(256) {}
};

/** Adds to the histogram. */
void lbpOnCpu(const std::vector<u8>& padded, Result& result, Size size, int threads) {
  const int pitch = size.width + 2;
  std::mutex merging;
  inRows(size.height, threads, [&](int first, int end) {
    u32 bins[256] = {};
    for (int y = first; y < end; y++) {
      for (int x = 0; x < size.width; x++) {
        const u8* centre = &padded[(y + 1) * pitch + x + 1];
        int code = 0;
        for (int i = 0; i < 8; i++) code |= (centre[ringY[i] * pitch + ringX[i]] >= *centre) << i;
        result.map[y * size.width + x] = static_cast<u8>(code);
        bins[code]++;
      }
    }
    const std::lock_guard<std::mutex> lock(merging);
    for (int i = 0; i < 256; i++) result.histogram[i] += bins[i];
  });
}

Result expectedResult(const std::vector<u8>& image, Size size) {
  Result result(size);
  lbpOnCpu(withZeroRing(image, size), result, size, allThreads());
  return result;
}

void checkHost() {
  const std::vector<u8> image = {10, 20, 30, 40, 50, 25, 20, 25, 60, 10, 70, 25};
  const std::vector<u8> map = {56, 120, 8, 0, 32, 212, 191, 99, 0, 143, 0, 130};
  expectEqual(map, expectedResult(image, {4, 3}).map, "The LBP map worked out by hand");
}

// ---- Measurements -------------------------------------------------------------------------------------------------

/** Device buffers for one size. */
struct Buffers {
  Slots<u8> in, out;
  Slots<u32> histograms;
  Buffers(const Strategy& strategy, Size size, int slots)
      : in(strategy.takesPadded ? Size{size.width + 2, size.height + 2}.pixels() : size.pixels(), slots),
        out(size.pixels(), slots),
        histograms(256, slots) {}
  void launch(const Strategy& strategy, Size size, int s) {
    const dim3 grid = block.grid(size);
    strategy.kernel<<<grid, block.threads()>>>(in.at(s), out.at(s), histograms.at(s), size.height, size.width);
  }
};

/** What a strategy takes: the tiled kernel's image is padded on the host. */
std::vector<u8> inputOf(const Strategy& strategy, const std::vector<u8>& image, Size size) {
  return strategy.takesPadded ? withZeroRing(image, size) : image;
}

/** From (pageable) host memory to the map and the histogram in host memory. */
void wholeRun(const Strategy& strategy, Buffers& buffers, const std::vector<u8>& input, Size size, Result& result) {
  CUDA(cudaMemcpy(buffers.in.at(0), input.data(), input.size(), cudaMemcpyHostToDevice));
  CUDA(cudaMemsetAsync(buffers.histograms.at(0), 0, 256 * sizeof(u32)));
  buffers.launch(strategy, size, 0);
  CUDA(cudaGetLastError());
  CUDA(cudaMemcpy(result.map.data(), buffers.out.at(0), size.pixels(), cudaMemcpyDeviceToHost));
  CUDA(cudaMemcpy(result.histogram.data(), buffers.histograms.at(0), 256 * sizeof(u32), cudaMemcpyDeviceToHost));
}

void check(const Strategy& strategy, Buffers& buffers, const std::vector<u8>& image, Size size) {
  Result result(size);
  wholeRun(strategy, buffers, inputOf(strategy, image, size), size, result);
  const Result expected = expectedResult(image, size);
  const std::string what = std::string("R3 ") + strategy.name + " of " + size.name();
  expectEqual(result.map, expected.map, what);
  expectEqual(result.histogram, expected.histogram, what + ", histogram,");
}

void measure(const Strategy& strategy, Size size, const Images& images, const std::vector<std::string>& measures,
             const Plan& plan) {
  for (const Size small : checkedSizes()) {
    Buffers buffers(strategy, small, 1);
    check(strategy, buffers, randomImage(small.pixels()), small);
  }
  const int slots = slotsFor(size.pixels());
  Buffers buffers(strategy, size, slots);
  for (int s = 0; s < slots; s++) buffers.in.upload(s, inputOf(strategy, images.of(size, s), size));
  const std::vector<u8> image = images.of(size);
  check(strategy, buffers, image, size);
  if (contains(measures, "kernel")) {
    // The histograms are not cleared between launches: that would be timed too.
    const Times times = timeLaunches(plan, slots, [&](int s) { buffers.launch(strategy, size, s); });
    print({"R3", strategy.name, size, block.name(), 3}, times);
  }
  if (contains(measures, "whole")) {
    const std::vector<u8> input = inputOf(strategy, image, size);
    Result result(size);
    const Times times = timeRuns(plan.repetitions, [&] { wholeRun(strategy, buffers, input, size, result); });
    print({"R3", std::string(strategy.name) + "-whole", size, block.name(), 3}, times);
  }
}

int main(int argc, char** argv) {
  if (isHostCheck(argc, argv)) return checkHost(), 0;
  Arguments arguments(argc, argv);
  const std::vector<Size> sizes = arguments.sizes("128,512,1024");
  const std::vector<std::string> measures = arguments.choices("measure", "kernel,whole");
  const Plan plan{arguments.integer("repetitions", 30, 1, 100000), arguments.integer("launches", 100, 1, 100000)};
  const int cpuRepetitions = arguments.integer("cpu-repetitions", 0, 0, 1000);
  const std::string image = arguments.word("image");
  arguments.expectAllRead();

  checkHost();
  const Images images(image);
  for (const Size size : sizes) {
    for (const Strategy& strategy : strategies) measure(strategy, size, images, measures, plan);
    const std::vector<u8> padded = withZeroRing(images.of(size), size);
    Result result(size);
    printCpuRows({"R3", "cpu", size, "", 3}, cpuRepetitions,
                 [&](int threads) { lbpOnCpu(padded, result, size, threads); });
  }
}
