// R1: the LBP map, one thread a pixel, by three ways to the pixels, and batches of images through streams.
// Neighbours >= the centre; NW is bit 7, then clockwise to W, bit 0. The outer ring of the map stays zero.

#include "measure.cuh"

// ---- Kernels ------------------------------------------------------------------------------------------------------

/** Global memory, as it comes. */
__global__ void lbpGlobal(const u8* in, u8* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;

  const u8 centre = in[y * width + x];
  u8 code = 0;
  code |= (in[(y - 1) * width + (x - 1)] >= centre) << 7;
  code |= (in[(y - 1) * width + x] >= centre) << 6;
  code |= (in[(y - 1) * width + (x + 1)] >= centre) << 5;
  code |= (in[y * width + (x + 1)] >= centre) << 4;
  code |= (in[(y + 1) * width + (x + 1)] >= centre) << 3;
  code |= (in[(y + 1) * width + x] >= centre) << 2;
  code |= (in[(y + 1) * width + (x - 1)] >= centre) << 1;
  code |= (in[y * width + (x - 1)] >= centre) << 0;
  out[y * width + x] = code;
}

/** The read-only data cache. */
__global__ void lbpReadOnly(const u8* __restrict__ in, u8* __restrict__ out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;

  const u8 centre = __ldg(&in[y * width + x]);
  u8 code = 0;
  code |= (__ldg(&in[(y - 1) * width + (x - 1)]) >= centre) << 7;
  code |= (__ldg(&in[(y - 1) * width + x]) >= centre) << 6;
  code |= (__ldg(&in[(y - 1) * width + (x + 1)]) >= centre) << 5;
  code |= (__ldg(&in[y * width + (x + 1)]) >= centre) << 4;
  code |= (__ldg(&in[(y + 1) * width + (x + 1)]) >= centre) << 3;
  code |= (__ldg(&in[(y + 1) * width + x]) >= centre) << 2;
  code |= (__ldg(&in[(y + 1) * width + (x - 1)]) >= centre) << 1;
  code |= (__ldg(&in[y * width + (x - 1)]) >= centre) << 0;
  out[y * width + x] = code;
}

/** A tile with a ring of one pixel in shared memory; the threads at the block's rim load the ring. */
__global__ void lbpShared(const u8* in, u8* out, int width, int height) {
  __shared__ u8 tile[maxBlockSide + 2][maxBlockSide + 2];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int right = blockDim.x - 1, bottom = blockDim.y - 1;
  const int x = blockIdx.x * blockDim.x + tx;
  const int y = blockIdx.y * blockDim.y + ty;
  const auto clamped = [=](int column, int row) {
    return in[min(max(row, 0), height - 1) * width + min(max(column, 0), width - 1)];
  };

  tile[ty + 1][tx + 1] = clamped(x, y);
  if (ty == 0) tile[0][tx + 1] = clamped(x, y - 1);
  if (ty == bottom) tile[ty + 2][tx + 1] = clamped(x, y + 1);
  if (tx == 0) tile[ty + 1][0] = clamped(x - 1, y);
  if (tx == right) tile[ty + 1][tx + 2] = clamped(x + 1, y);
  if (tx == 0 && ty == 0) tile[0][0] = clamped(x - 1, y - 1);
  if (tx == right && ty == 0) tile[0][tx + 2] = clamped(x + 1, y - 1);
  if (tx == 0 && ty == bottom) tile[ty + 2][0] = clamped(x - 1, y + 1);
  if (tx == right && ty == bottom) tile[ty + 2][tx + 2] = clamped(x + 1, y + 1);
  __syncthreads();
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;

  const u8 centre = tile[ty + 1][tx + 1];
  u8 code = 0;
  code |= (tile[ty][tx] >= centre) << 7;
  code |= (tile[ty][tx + 1] >= centre) << 6;
  code |= (tile[ty][tx + 2] >= centre) << 5;
  code |= (tile[ty + 1][tx + 2] >= centre) << 4;
  code |= (tile[ty + 2][tx + 2] >= centre) << 3;
  code |= (tile[ty + 2][tx + 1] >= centre) << 2;
  code |= (tile[ty + 2][tx] >= centre) << 1;
  code |= (tile[ty + 1][tx] >= centre) << 0;
  out[y * width + x] = code;
}

struct Strategy {
  const char* name;
  void (*kernel)(const u8*, u8*, int, int);
};
const Strategy strategies[] = {{"global", lbpGlobal}, {"read-only", lbpReadOnly}, {"shared", lbpShared}};

// ---- The CPU loop -------------------------------------------------------------------------------------------------

void lbpOnCpu(const u8* in, u8* out, Size size, int threads) {
  const int width = size.width;
  inRows(size.height, threads, [=](int first, int end) {
    for (int y = std::max(first, 1); y < std::min(end, size.height - 1); y++) {
      for (int x = 1; x < width - 1; x++) {
        int code = 0;
        for (int i = 0; i < 8; i++) code = code * 2 + (in[(y + ringY[i]) * width + x + ringX[i]] >= in[y * width + x]);
        out[y * width + x] = static_cast<u8>(code);
      }
    }
  });
}

std::vector<u8> expectedMap(const u8* image, Size size) {
  std::vector<u8> map(size.pixels());
  lbpOnCpu(image, map.data(), size, allThreads());
  return map;
}

void checkHost() {
  const std::vector<u8> image = {10, 20, 30, 40, 50, 25, 20, 25, 60, 10, 70, 25};
  const std::vector<u8> map = {0, 0, 0, 0, 0, 43, 253, 0, 0, 0, 0, 0};
  expectEqual(map, expectedMap(image.data(), {4, 3}), "The LBP map worked out by hand");
}

// ---- Measurements -------------------------------------------------------------------------------------------------

void checkSmall(const Strategy& strategy, Block block) {
  for (const Size size : checkedSizes()) {
    const std::vector<u8> image = randomImage(size.pixels());
    Slots<u8> in(size.pixels(), 1), out(size.pixels(), 1);
    in.upload(0, image);
    strategy.kernel<<<block.grid(size), block.threads()>>>(in.at(0), out.at(0), size.width, size.height);
    CUDA(cudaGetLastError());
    const std::string what = std::string("R1 ") + strategy.name + " " + block.name() + " of " + size.name();
    expectEqual(out.download(0), expectedMap(image.data(), size), what);
  }
}

void measureKernels(Size size, const std::vector<Block>& blocks, const Plan& plan, int cpuRepetitions) {
  const int slots = slotsFor(size.pixels());
  Slots<u8> in(size.pixels(), slots), out(size.pixels(), slots);
  for (int slot = 0; slot < slots; slot++) in.upload(slot, randomImage(size.pixels(), slot));
  const std::vector<u8> image = randomImage(size.pixels());
  std::vector<u8> expected = expectedMap(image.data(), size);
  for (const Strategy& strategy : strategies) {
    for (const Block block : blocks) {
      checkSmall(strategy, block);
      out.zero();
      const auto launch = [&](int slot) {
        strategy.kernel<<<block.grid(size), block.threads()>>>(in.at(slot), out.at(slot), size.width, size.height);
      };
      const Times times = timeLaunches(plan, slots, launch);
      const std::string what = std::string("R1 ") + strategy.name + " " + block.name() + " of " + size.name();
      expectEqual(out.download(0), expected, what);
      // The report's measure: the bytes read and written once each.
      const Field rate{"gbPerSecond", number(2e-6 * size.pixels() / times.mean)};
      print({"R1", strategy.name, size, block.name(), 3, {rate}}, times);
    }
  }
  printCpuRows({"R1", "cpu", size, "", 3}, cpuRepetitions,
               [&](int threads) { lbpOnCpu(image.data(), expected.data(), size, threads); });
}

/** A batch of images, a stream each: upload, kernel, download. `source` and `target` hold them one after another. */
void measureBatch(const char* memory, const Strategy& strategy, const u8* source, u8* target, Size size, Block block,
                  int images, int repetitions) {
  const std::size_t bytes = size.pixels();
  const dim3 grid = block.grid(size), threads = block.threads();
  Slots<u8> in(bytes, images), out(bytes, images);
  Streams streams(images);
  const auto run = [&] {
    for (int i = 0; i < images; i++) {
      CUDA(cudaMemcpyAsync(in.at(i), source + i * bytes, bytes, cudaMemcpyHostToDevice, streams[i]));
      strategy.kernel<<<grid, threads, 0, streams[i]>>>(in.at(i), out.at(i), size.width, size.height);
      CUDA(cudaMemcpyAsync(target + i * bytes, out.at(i), bytes, cudaMemcpyDeviceToHost, streams[i]));
    }
    CUDA(cudaGetLastError());
    CUDA(cudaDeviceSynchronize());
  };
  std::memset(target, 0xaa, bytes * images);
  const Times times = timeRuns(repetitions, run);
  for (const int i : {0, images - 1}) {
    const std::string what = std::string("R1 batch in ") + memory + " memory, image " + std::to_string(i);
    expectEqual(target + i * bytes, expectedMap(source + i * bytes, size), what);
  }
  const std::vector<Field> fields = {{"memory", quoted(memory)},
                                     {"images", std::to_string(images)},
                                     {"gbPerSecond", number(2e-6 * images * bytes / times.mean)}};
  print({"R1", std::string("batch-") + strategy.name, size, block.name(), 3, fields}, times);
}

/** The report's two pipelines: global memory from pageable host memory, the read-only cache from pinned. */
void measureBatches(Size size, Block block, const std::vector<int>& counts, int repetitions) {
  const std::size_t bytes = size.pixels() * *std::max_element(counts.begin(), counts.end());
  {
    std::vector<u8> source(bytes), target(bytes);
    fillRandom(source.data(), bytes, firstSeed);
    for (const int images : counts) {
      measureBatch("pageable", strategies[0], source.data(), target.data(), size, block, images, repetitions);
    }
  }
  Pinned<u8> source(bytes), target(bytes);
  fillRandom(source.data(), bytes, firstSeed);
  for (const int images : counts) {
    measureBatch("pinned", strategies[1], source.data(), target.data(), size, block, images, repetitions);
  }
}

int main(int argc, char** argv) {
  if (isHostCheck(argc, argv)) return checkHost(), 0;
  Arguments arguments(argc, argv);
  const std::vector<Size> sizes = arguments.sizes("4928x2772");
  const std::vector<Block> blocks = arguments.blocks("32x8,32x4,32x16,16x16,4x32");
  const std::vector<std::string> measures = arguments.choices("measure", "kernel,batch");
  const Plan plan{arguments.integer("repetitions", 5, 1, 100000), arguments.integer("launches", 100, 1, 100000)};
  const int cpuRepetitions = arguments.integer("cpu-repetitions", 0, 0, 1000);
  std::vector<int> counts;
  for (const std::string& word : arguments.list("images", "1,2,5,10,20,50,100")) {
    counts.push_back(std::atoi(word.c_str()));
    if (counts.back() < 1 || counts.back() > 1000) Arguments::refuse("integers in 1...1000", "images", word);
  }
  arguments.expectAllRead();

  checkHost();
  for (const Size size : sizes) {
    if (contains(measures, "kernel")) measureKernels(size, blocks, plan, cpuRepetitions);
    if (contains(measures, "batch")) measureBatches(size, blocks[0], counts, plan.repetitions);
  }
}
