// Shared by all programs of this folder: images, device buffers, checks, timing, and a JSON line for a measured row.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "arguments.cuh"

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

inline void expectSuccess(cudaError_t error, const char* call) {
  if (error != cudaSuccess) fail(failed, std::string(call) + " failed: " + cudaGetErrorString(error) + ".");
}
#define CUDA(call) expectSuccess((call), #call)

// ---- Images -------------------------------------------------------------------------------------------------------

/** Uniform bytes, the same for the same seed (SplitMix64). */
inline void fillRandom(u8* bytes, std::size_t count, u64 seed) {
  u64 state = seed;
  for (std::size_t i = 0; i < count; i += 8) {
    u64 z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    z ^= z >> 31;
    std::memcpy(bytes + i, &z, std::min<std::size_t>(8, count - i));
  }
}

/** The seed that the convolution report states; image i of a rotation has seed + i. */
constexpr u64 firstSeed = 12345;

inline std::vector<u8> randomImage(std::size_t samples, int index = 0) {
  std::vector<u8> image(samples);
  fillRandom(image.data(), samples, firstSeed + index);
  return image;
}

/** The gray images that are measured: one of a file, again and again, or random ones where none is named. */
class Images {
 public:
  /** `path` is of a binary PGM (P5) with 8 bits a pixel and no comments; empty for random images. */
  explicit Images(const std::string& path) : path(path) {
    if (path.empty()) return;
    std::FILE* file = std::fopen(path.c_str(), "rb");
    if (file == nullptr) fail(failed, "The image '" + path + "' cannot be opened.");
    int most = 0;
    if (std::fscanf(file, "P5 %d %d %d", &size.width, &size.height, &most) != 3 || most != 255 ||
        std::fgetc(file) == EOF) {
      fail(failed, "Expected a binary PGM of 8 bits but received '" + path + "'.");
    }
    pixels.resize(size.pixels());
    const std::size_t count = std::fread(pixels.data(), 1, pixels.size(), file);
    std::fclose(file);
    if (count != pixels.size()) fail(failed, "The image '" + path + "' is cut short.");
  }

  std::vector<u8> of(Size wanted, int index = 0) const {
    if (path.empty()) return randomImage(wanted.pixels(), index);
    if (wanted.width == size.width && wanted.height == size.height) return pixels;
    fail(wrongUsage, "Expected --sizes " + size.name() + ", the size of --image, but received " + wanted.name() + ".");
  }

 private:
  std::string path;
  Size size{0, 0};
  std::vector<u8> pixels;
};

/** The image with a ring of zeros around it: (width + 2) x (height + 2). */
inline std::vector<u8> withZeroRing(const std::vector<u8>& image, Size size) {
  std::vector<u8> padded(Size{size.width + 2, size.height + 2}.pixels());
  for (int y = 0; y < size.height; y++) {
    std::copy_n(&image[static_cast<std::size_t>(y) * size.width], size.width,
                &padded[static_cast<std::size_t>(y + 1) * (size.width + 2) + 1]);
  }
  return padded;
}

/** The eight neighbours of the CPU loops, clockwise from north-west. */
constexpr int ringX[8] = {-1, 0, 1, 1, 1, 0, -1, -1};
constexpr int ringY[8] = {-1, -1, -1, 0, 1, 1, 1, 0};

/** Odd and small: a part of a block, one pixel, a row, a column, several blocks with a rest. */
inline std::vector<Size> checkedSizes() { return {{61, 37}, {1, 1}, {70, 1}, {1, 70}, {3, 3}, {130, 67}}; }

// ---- Device buffers -----------------------------------------------------------------------------------------------

/**
 * How many equal buffers the timed launches take in rotation: 64 MiB of input, above the 50 MB L2 cache of an H200, but
 * five images at least, as in the convolution report, and 4096 (those of 128x128) at most.
 */
inline int slotsFor(std::size_t inputBytes) {
  return static_cast<int>(std::clamp<std::size_t>(((64u << 20) + inputBytes - 1) / inputBytes, 5, 4096));
}

/** Device memory: `count` slots of `elements` each, every one on a boundary of 256 bytes. */
template <typename T>
class Slots {
 public:
  Slots(std::size_t elements, int count)
      : elements(elements), strideBytes((elements * sizeof(T) + 255) / 256 * 256), bytes(strideBytes * count) {
    CUDA(cudaMalloc(&memory, bytes));
    zero();
  }
  ~Slots() { cudaFree(memory); }
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  T* at(int slot) const { return reinterpret_cast<T*>(static_cast<u8*>(memory) + strideBytes * slot); }
  void zero() {
    CUDA(cudaMemset(memory, 0, bytes));
    CUDA(cudaDeviceSynchronize());  // other streams do not wait for the default one
  }
  void upload(int slot, const std::vector<T>& values) {
    CUDA(cudaMemcpy(at(slot), values.data(), elements * sizeof(T), cudaMemcpyHostToDevice));
  }
  std::vector<T> download(int slot) const {
    std::vector<T> values(elements);
    CUDA(cudaMemcpy(values.data(), at(slot), elements * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  std::size_t elements;
  std::size_t strideBytes;
  std::size_t bytes;
  void* memory = nullptr;
};

/** Page-locked host memory. */
template <typename T>
class Pinned {
 public:
  explicit Pinned(std::size_t elements) { CUDA(cudaMallocHost(&memory, elements * sizeof(T))); }
  ~Pinned() { cudaFreeHost(memory); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  T* data() const { return static_cast<T*>(memory); }

 private:
  void* memory = nullptr;
};

/** CUDA streams that live as long as this does. */
class Streams {
 public:
  explicit Streams(int count) : streams(count) {
    for (cudaStream_t& stream : streams) CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  ~Streams() {
    for (cudaStream_t stream : streams) cudaStreamDestroy(stream);
  }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  cudaStream_t operator[](int index) const { return streams[index]; }

 private:
  std::vector<cudaStream_t> streams;
};

// ---- Checks -------------------------------------------------------------------------------------------------------

inline std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

/** Ends the program where a value is further than `tolerance` from the expected one (or is not a number). */
template <typename T, typename E>
void expectEqual(const T* actual, const std::vector<E>& expected, const std::string& what, double tolerance = 0) {
  for (std::size_t i = 0; i < expected.size(); i++) {
    const double a = static_cast<double>(actual[i]), e = static_cast<double>(expected[i]);
    if (!(std::fabs(a - e) <= tolerance)) {
      fail(failed, what + " differs from the CPU loop at element " + std::to_string(i) + ": " + number(a) +
                       " instead of " + number(e) + ".");
    }
  }
}

template <typename T, typename E>
void expectEqual(const std::vector<T>& actual, const std::vector<E>& expected, const std::string& what,
                 double tolerance = 0) {
  if (actual.size() != expected.size()) fail(failed, what + " has another size than the CPU loop's.");
  expectEqual(actual.data(), expected, what, tolerance);
}

// ---- Timing -------------------------------------------------------------------------------------------------------

/** Milliseconds of one launch or run, over `repetitions` samples; a sample is the average of `launches`. */
struct Times {
  double mean, median, stdev, min;
  int repetitions, launches;
};

inline Times summarise(std::vector<double> ms, int launches) {
  std::sort(ms.begin(), ms.end());
  const std::size_t n = ms.size();
  double sum = 0, squares = 0;
  for (double value : ms) sum += value;
  const double mean = sum / n;
  for (double value : ms) squares += (value - mean) * (value - mean);
  return {mean, (ms[(n - 1) / 2] + ms[n / 2]) / 2, n > 1 ? std::sqrt(squares / (n - 1)) : 0.0, ms[0],
          static_cast<int>(n), launches};
}

/** How often a kernel is timed: `repetitions` samples of up to `launches` launches. */
struct Plan {
  int repetitions;
  int launches;
};

/** Time on the device between two events around a batch of `launch(slot)`, slots in rotation, after a warm-up. */
template <typename Launch>
Times timeLaunches(const Plan& plan, int slots, Launch launch) {
  constexpr double warmUpMs = 20, batchMs = 50;  // a batch is cut where one launch takes long
  cudaEvent_t start, stop;
  CUDA(cudaEventCreate(&start));
  CUDA(cudaEventCreate(&stop));
  int next = 0;
  const auto launchMs = [&](int launches) {
    CUDA(cudaEventRecord(start));
    for (int i = 0; i < launches; i++) launch(next++ % slots);
    CUDA(cudaGetLastError());
    CUDA(cudaEventRecord(stop));
    CUDA(cudaEventSynchronize(stop));
    float ms = 0;
    CUDA(cudaEventElapsedTime(&ms, start, stop));
    return static_cast<double>(ms) / launches;
  };
  launchMs(slots);  // the first launch of a kernel loads it
  double spentMs = 0, lastMs = 0;
  do {
    lastMs = std::max(launchMs(slots), 1e-4);
    spentMs += lastMs * slots;
  } while (spentMs < warmUpMs);
  const int launches = std::clamp(static_cast<int>(batchMs / lastMs), 1, plan.launches);
  std::vector<double> samples;
  for (int i = 0; i < plan.repetitions; i++) samples.push_back(launchMs(launches));
  CUDA(cudaEventDestroy(start));
  CUDA(cudaEventDestroy(stop));
  return summarise(samples, launches);
}

/** Time on the host of `run()`, which returns when its result is in host memory; one run before is not counted. */
template <typename Run>
Times timeRuns(int repetitions, Run run) {
  run();
  std::vector<double> samples;
  for (int i = 0; i < repetitions; i++) {
    const auto start = std::chrono::steady_clock::now();
    run();
    samples.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  return summarise(samples, 1);
}

// ---- Results ------------------------------------------------------------------------------------------------------

/** A further key of a row; `json` is the value as it is printed. */
struct Field {
  const char* key;
  std::string json;
};

inline std::string quoted(const std::string& text) { return '"' + text + '"'; }

/** What was measured. A size of 0x0, an empty block and a side of 0 are printed as null. */
struct Row {
  const char* report;
  std::string name;
  Size size{0, 0};
  std::string block{};
  int side = 0;
  std::vector<Field> fields{};
};

/** One JSON line. A row is printed only for what was checked: a difference has ended the program before. */
inline void print(const Row& row, const Times& times) {
  const auto orNull = [](bool known, const std::string& json) { return known ? json : std::string("null"); };
  std::string line = "{\"report\":" + quoted(row.report) + ",\"name\":" + quoted(row.name);
  line += ",\"width\":" + orNull(row.size.width > 0, std::to_string(row.size.width));
  line += ",\"height\":" + orNull(row.size.height > 0, std::to_string(row.size.height));
  line += ",\"block\":" + orNull(!row.block.empty(), quoted(row.block));
  line += ",\"side\":" + orNull(row.side > 0, std::to_string(row.side));
  for (const Field& field : row.fields) line += std::string(",\"") + field.key + "\":" + field.json;
  line += ",\"ms\":{\"mean\":" + number(times.mean) + ",\"median\":" + number(times.median) +
          ",\"stdev\":" + number(times.stdev) + ",\"min\":" + number(times.min) + "}";
  line += ",\"repetitions\":" + std::to_string(times.repetitions) + ",\"launches\":" + std::to_string(times.launches);
  std::printf("%s,\"checked\":true}\n", line.c_str());
  std::fflush(stdout);
}

// ---- The CPU loops ------------------------------------------------------------------------------------------------

inline int allThreads() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

/** Runs `rows(first, end)` over all rows of an image, a part a thread. */
template <typename Rows>
void inRows(int height, int threads, Rows rows) {
  std::vector<std::thread> team;
  for (int i = 0; i < threads; i++) {
    const auto cut = [&](int part) { return static_cast<int>(static_cast<long long>(height) * part / threads); };
    team.emplace_back(rows, cut(i), cut(i + 1));
  }
  for (std::thread& member : team) member.join();
}

/** Where repetitions are asked for: rows named `cpu`, of `run(threads)` with one thread and with all. */
template <typename Run>
void printCpuRows(Row row, int repetitions, Run run) {
  if (repetitions == 0) return;
  row.name = "cpu";
  for (const int threads : {1, allThreads()}) {
    Row one = row;
    one.fields.push_back({"threads", std::to_string(threads)});
    print(one, timeRuns(repetitions, [&] { run(threads); }));
  }
}
