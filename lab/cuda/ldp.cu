// R4: the Local Derivative Pattern of order n in the directions 0, 45, 90 and 135 degrees: four maps, and histograms of
// 4 x 256 bins for the whole image or for every block of threads; one thread a pixel.
// A bit is 1 where derivative(centre) * derivative(neighbour) <= 0; NW is bit 7, then clockwise to W, bit 0. Pixels
// nearer than n to the image's edge get the codes 0 and are not counted.

#include "ldp-kernels.cuh"

// ---- The CPU loop -------------------------------------------------------------------------------------------------

/** The four maps, one after another; a derivative is a sum of pixels with binomial factors of alternating sign. */
void ldpOnCpu(const std::vector<u8>& image, u8* maps, Size size, int order, int threads) {
  std::vector<int> factors = {1};
  for (int n = 1; n < order; n++) {
    factors.push_back(0);
    for (int k = n; k > 0; k--) factors[k] -= factors[k - 1];
  }
  const int stepX[4] = {1, 1, 0, -1}, stepY[4] = {0, -1, -1, -1};
  inRows(size.height, threads, [&, maps](int first, int end) {
    for (int direction = 0; direction < 4; direction++) {
      const int step = stepY[direction] * size.width + stepX[direction];
      const auto derivativeAt = [&](std::size_t at) {
        int sum = 0;
        for (int k = 0; k < order; k++) sum += factors[k] * image[at + k * step];
        return sum;
      };
      for (int y = std::max(first, order); y < std::min(end, size.height - order); y++) {
        for (int x = order; x < size.width - order; x++) {
          const std::size_t at = static_cast<std::size_t>(y) * size.width + x;
          const int centre = derivativeAt(at);
          int code = 0;
          for (int i = 0; i < 8; i++) {
            code = code * 2 + (derivativeAt(at + ringY[i] * size.width + ringX[i]) * centre <= 0);
          }
          maps[direction * size.pixels() + at] = static_cast<u8>(code);
        }
      }
    }
  });
}

std::vector<u8> expectedMaps(const std::vector<u8>& image, Size size, int order) {
  std::vector<u8> maps(4 * size.pixels());
  ldpOnCpu(image, maps.data(), size, order, allThreads());
  return maps;
}

std::size_t histogramElements(Size size, Block block, bool ofBlocks) {
  const dim3 grid = block.grid(size);
  return ofBlocks ? static_cast<std::size_t>(bins) * grid.x * grid.y : bins;
}

/** Counts the codes of four maps; threads share the directions, whose bins are apart. */
std::vector<u32> histogramsOnCpu(const std::vector<u8>& maps, Size size, int order, Block block, bool ofBlocks,
                                 int threads) {
  std::vector<u32> histograms(histogramElements(size, block, ofBlocks));
  const std::size_t blocksPerRow = block.grid(size).x;
  inRows(4, std::min(threads, 4), [&](int first, int end) {
    for (int direction = first; direction < end; direction++) {
      for (int y = order; y < size.height - order; y++) {
        for (int x = order; x < size.width - order; x++) {
          const std::size_t number = ofBlocks ? (y / block.height) * blocksPerRow + x / block.width : 0;
          const u8 code = maps[direction * size.pixels() + static_cast<std::size_t>(y) * size.width + x];
          histograms[number * bins + direction * 256 + code]++;
        }
      }
    }
  });
  return histograms;
}

void checkHost() {
  // Squares from left to right, and one pixel that is 100 above.
  const std::vector<u8> image = {0, 1, 4, 9, 16, 0, 1, 4, 109, 16, 0, 1, 4, 9, 16, 0, 1, 4, 9, 16, 0, 1, 4, 9, 16};
  std::vector<u8> maps(100);
  maps[12] = 32, maps[25 + 12] = 32, maps[50 + 12] = 255, maps[75 + 12] = 0;
  expectEqual(maps, expectedMaps(image, {5, 5}, 2), "The LDP maps worked out by hand");
}

// ---- Measurements -------------------------------------------------------------------------------------------------

void launch(const Strategy& strategy, const Part& part, Block block, cudaStream_t stream = nullptr) {
  const dim3 grid = block.grid({part.width, part.end - part.first});
  strategy.kernel<<<grid, block.threads(), 0, stream>>>(part);
}

struct Case {
  Size size;
  int order;
  Block block;
  bool ofBlocks;
  std::string name(const std::string& strategy) const {
    return "R4 " + strategy + " " + block.name() + " of order " + std::to_string(order) + " and " + size.name();
  }
  Row row(const std::string& name) const {
    return {"R4", name, size, block.name(), 0,
            {{"order", std::to_string(order)}, {"histograms", quoted(ofBlocks ? "blocks" : "total")}}};
  }
};

/** An image and what the CPU loop makes of it. */
struct Example {
  std::vector<u8> image, maps;
  std::vector<u32> histograms;
  Example(const Case& c, std::vector<u8> pixels)
      : image(std::move(pixels)),
        maps(expectedMaps(image, c.size, c.order)),
        histograms(histogramsOnCpu(maps, c.size, c.order, c.block, c.ofBlocks, allThreads())) {}
};

void check(const Strategy& strategy, const Case& c, const Example& example) {
  Slots<u8> in(c.size.pixels(), 1), maps(4 * c.size.pixels(), 1);
  Slots<u32> histograms(example.histograms.size(), 1);
  in.upload(0, example.image);
  const Part part{in.at(0), maps.at(0), histograms.at(0), c.ofBlocks, c.size.width, c.size.height, 0, 0, c.size.height};
  launch(strategy, part, c.block);
  CUDA(cudaGetLastError());
  expectEqual(maps.download(0), example.maps, c.name(strategy.name));
  expectEqual(histograms.download(0), example.histograms, c.name(strategy.name) + ", histograms,");
}

Times measureKernel(const Strategy& strategy, const Case& c, const Images& images, const Plan& plan) {
  const std::size_t elements = histogramElements(c.size, c.block, c.ofBlocks);
  const int slots = slotsFor(c.size.pixels());
  const int histogramSlots = std::min(slots, slotsFor(elements * sizeof(u32)));
  Slots<u8> in(c.size.pixels(), slots), maps(4 * c.size.pixels(), slots);
  Slots<u32> histograms(elements, histogramSlots);
  for (int slot = 0; slot < slots; slot++) in.upload(slot, images.of(c.size, slot));
  return timeLaunches(plan, slots, [&](int slot) {
    launch(strategy, {in.at(slot), maps.at(slot), histograms.at(slot % histogramSlots), c.ofBlocks, c.size.width,
                      c.size.height, 0, 0, c.size.height}, c.block);
  });
}

/** From an image in (pageable) host memory to its histograms in host memory. */
Times measureWhole(const Strategy& strategy, const Case& c, const Example& example, int repetitions) {
  Slots<u8> in(c.size.pixels(), 1), maps(4 * c.size.pixels(), 1);
  Slots<u32> histograms(example.histograms.size(), 1);
  std::vector<u32> result(example.histograms.size());
  const Part part{in.at(0), maps.at(0), histograms.at(0), c.ofBlocks, c.size.width, c.size.height, 0, 0, c.size.height};
  const std::size_t resultBytes = result.size() * sizeof(u32);
  const Times times = timeRuns(repetitions, [&] {
    CUDA(cudaMemcpy(in.at(0), example.image.data(), example.image.size(), cudaMemcpyHostToDevice));
    if (!c.ofBlocks) CUDA(cudaMemsetAsync(histograms.at(0), 0, resultBytes));
    launch(strategy, part, c.block);
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpy(result.data(), histograms.at(0), resultBytes, cudaMemcpyDeviceToHost));
  });
  expectEqual(result, example.histograms, c.name(strategy.name) + ", whole run,");
  return times;
}

/** One chunk of the image, with a stream of its own. */
struct Chunk {
  Part part;
  std::size_t resultElements;
  u32* result;
};

/**
 * The same with the image cut into chunks of rows, a stream each, and page-locked host memory. Depth first gives a
 * stream all its work before the next one; breadth first gives all their uploads, then kernels, then downloads.
 */
Times measureStreams(const Strategy& strategy, const Case& c, bool depthFirst, int count, const Example& example,
                     int repetitions) {
  const Size size = c.size;
  const int perChunk = ((size.height + count - 1) / count + c.block.height - 1) / c.block.height * c.block.height;
  const std::size_t chunkPixels = static_cast<std::size_t>(perChunk) * size.width;
  const std::size_t chunkElements = histogramElements({size.width, perChunk}, c.block, c.ofBlocks);
  Slots<u8> in(chunkPixels + 2 * c.order * size.width, count), maps(4 * chunkPixels, count);
  Slots<u32> histograms(chunkElements, count);
  Pinned<u8> source(size.pixels());
  Pinned<u32> target(chunkElements * count);
  Streams streams(count);
  std::memcpy(source.data(), example.image.data(), size.pixels());

  std::vector<Chunk> chunks;
  for (int i = 0; i * perChunk < size.height; i++) {
    const int first = i * perChunk, end = std::min(size.height, first + perChunk);
    const Part part{in.at(i), maps.at(i), histograms.at(i), c.ofBlocks, size.width, size.height,
                    std::max(0, first - c.order), first, end};
    chunks.push_back({part, histogramElements({size.width, end - first}, c.block, c.ofBlocks),
                      target.data() + i * chunkElements});
  }
  const auto upload = [&](int i) {
    const Part& part = chunks[i].part;
    const int rows = std::min(size.height, part.end + c.order) - part.top;
    CUDA(cudaMemcpyAsync(in.at(i), source.data() + static_cast<std::size_t>(part.top) * size.width,
                         static_cast<std::size_t>(rows) * size.width, cudaMemcpyHostToDevice, streams[i]));
  };
  const auto compute = [&](int i) {
    if (!c.ofBlocks) CUDA(cudaMemsetAsync(histograms.at(i), 0, bins * sizeof(u32), streams[i]));
    launch(strategy, chunks[i].part, c.block, streams[i]);
  };
  const auto download = [&](int i) {
    CUDA(cudaMemcpyAsync(chunks[i].result, histograms.at(i), chunks[i].resultElements * sizeof(u32),
                         cudaMemcpyDeviceToHost, streams[i]));
  };
  const int last = static_cast<int>(chunks.size());
  const Times times = timeRuns(repetitions, [&] {
    if (depthFirst) {
      for (int i = 0; i < last; i++) upload(i), compute(i), download(i);
    } else {
      for (int i = 0; i < last; i++) upload(i);
      for (int i = 0; i < last; i++) compute(i);
      for (int i = 0; i < last; i++) download(i);
    }
    CUDA(cudaGetLastError());
    CUDA(cudaDeviceSynchronize());
  });

  std::vector<u32> result(example.histograms.size());
  std::size_t offset = 0;
  for (const Chunk& chunk : chunks) {
    for (std::size_t i = 0; i < chunk.resultElements; i++) result[offset + i] += chunk.result[i];
    if (c.ofBlocks) offset += chunk.resultElements;
  }
  expectEqual(result, example.histograms, c.name("streams") + (depthFirst ? ", depth first," : ", breadth first,"));
  return times;
}

void measure(const Case& c, const Images& images, const std::vector<std::string>& names,
             const std::vector<std::string>& measures, const Plan& plan, int streams) {
  const Example example(c, images.of(c.size));
  const std::vector<Strategy> strategies = strategiesOf(c.order);
  for (const Strategy& strategy : strategies) {
    if (!contains(names, strategy.name)) continue;
    configure(strategy);
    for (const Size size : checkedSizes()) {
      const Case small{size, c.order, c.block, c.ofBlocks};
      check(strategy, small, Example(small, randomImage(size.pixels())));
    }
    check(strategy, c, example);
    if (contains(measures, "kernel")) {
      Row row = c.row(strategy.name);
      row.fields.push_back({"registers", std::to_string(registersOf(strategy))});
      row.fields.push_back({"occupancy", number(occupancyOf(strategy, c.block))});
      print(row, measureKernel(strategy, c, images, plan));
    }
    if (contains(measures, "whole")) {
      Row row = c.row(std::string(strategy.name) + "-whole");
      row.fields.push_back({"memory", quoted("pageable")});
      print(row, measureWhole(strategy, c, example, plan.repetitions));
    }
  }
  if (!contains(measures, "streams")) return;
  configure(strategies[0]);
  for (const bool depthFirst : {true, false}) {
    Row row = c.row(depthFirst ? "streams-depth-first" : "streams-breadth-first");
    row.fields.push_back({"memory", quoted("pinned")});
    row.fields.push_back({"streams", std::to_string(streams)});
    print(row, measureStreams(strategies[0], c, depthFirst, streams, example, plan.repetitions));
  }
}

int main(int argc, char** argv) {
  if (isHostCheck(argc, argv)) return checkHost(), 0;
  Arguments arguments(argc, argv);
  const std::vector<Size> sizes = arguments.sizes("256,512,1024,2048,4096");
  const std::vector<Block> blocks = arguments.blocks("16x16");
  const int order = arguments.integer("order", 3, 2, 6);
  const int streams = arguments.integer("streams", 4, 1, 64);
  const std::vector<std::string> measures = arguments.choices("measure", "kernel,whole,streams");
  const std::vector<std::string> histograms = arguments.choices("histograms", "total,blocks");
  const std::vector<std::string> names = arguments.choices("strategies", strategyNames);
  const Plan plan{arguments.integer("repetitions", 30, 1, 100000), arguments.integer("launches", 100, 1, 100000)};
  const int cpuRepetitions = arguments.integer("cpu-repetitions", 0, 0, 1000);
  const std::string path = arguments.word("image");
  arguments.expectAllRead();

  checkHost();
  const Images images(path);
  for (const Size size : sizes) {
    for (const Block block : blocks) {
      for (const std::string& kind : histograms) {
        measure({size, order, block, kind == "blocks"}, images, names, measures, plan, streams);
      }
    }
    const std::vector<u8> image = images.of(size);
    std::vector<u8> maps(4 * size.pixels());
    const auto run = [&](int threads) {
      ldpOnCpu(image, maps.data(), size, order, threads);
      histogramsOnCpu(maps, size, order, blocks[0], true, threads);
    };
    printCpuRows({"R4", "cpu", size, "", 0, {{"order", std::to_string(order)}}}, cpuRepetitions, run);
  }
}
