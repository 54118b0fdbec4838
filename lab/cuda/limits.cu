// What this device can do at best: copies within its memory, to and from the host, and f32 multiply-adds.

#include "measure.cuh"

constexpr int chains = 8;  // independent sums a thread, so that no multiply-add waits for the previous one
constexpr int fmaThreads = 256;

/** Eight sums a thread, `steps` multiply-adds each. */
__global__ void multiplyAdd(float* out, float factor, float term, int steps) {
  float sums[chains];
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
  for (int i = 0; i < chains; i++) sums[i] = static_cast<float>(thread % 64 + i);
#pragma unroll 16
  for (int step = 0; step < steps; step++) {
#pragma unroll
    for (int i = 0; i < chains; i++) sums[i] = fmaf(sums[i], factor, term);
  }
  float total = 0;
#pragma unroll
  for (int i = 0; i < chains; i++) total += sums[i];
  out[thread] = total;
}

/** What thread `thread` leaves, with the same roundings. */
float multiplyAddOnCpu(int thread, float factor, float term, int steps) {
  float total = 0;
  for (int i = 0; i < chains; i++) {
    float sum = static_cast<float>(thread % 64 + i);
    for (int step = 0; step < steps; step++) sum = std::fmaf(sum, factor, term);
    total += sum;
  }
  return total;
}

void checkHost() {
  // 0...7, twice 2x + 1: 4x + 3.
  if (multiplyAddOnCpu(0, 2, 1, 2) != 4 * 28 + 8 * 3) fail(failed, "The sum worked out by hand differs.");
}

Field rateOf(double bytes, const Times& times) { return {"gbPerSecond", number(1e-6 * bytes / times.median)}; }

/** Copies within the device's memory, buffers in rotation; every byte is read and written, and counts twice. */
void measureCopy(const std::string& name, Size size, const Plan& plan) {
  const std::size_t bytes = size.pixels();
  const int slots = slotsFor(bytes);
  Slots<u8> in(bytes, slots), out(bytes, slots);
  for (int slot = 0; slot < slots; slot++) in.upload(slot, randomImage(bytes, slot));
  const Times times = timeLaunches(plan, slots, [&](int slot) {
    CUDA(cudaMemcpyAsync(out.at(slot), in.at(slot), bytes, cudaMemcpyDeviceToDevice));
  });
  expectEqual(out.download(0), randomImage(bytes), "A copy of " + size.name());
  print({"limits", name, size, "", 0, {rateOf(2.0 * bytes, times)}}, times);
}

/** Copies of the image between page-locked host memory and the device, one at a time. */
void measureTransfers(Size size, const Plan& plan) {
  const std::size_t bytes = size.pixels();
  Slots<u8> device(bytes, 1);
  Pinned<u8> source(bytes), target(bytes);
  fillRandom(source.data(), bytes, firstSeed);
  const Times up = timeLaunches(plan, 1, [&](int) {
    CUDA(cudaMemcpyAsync(device.at(0), source.data(), bytes, cudaMemcpyHostToDevice));
  });
  const Times down = timeLaunches(plan, 1, [&](int) {
    CUDA(cudaMemcpyAsync(target.data(), device.at(0), bytes, cudaMemcpyDeviceToHost));
  });
  expectEqual(target.data(), randomImage(bytes), "A transfer of " + size.name());
  print({"limits", "upload-pinned", size, "", 0, {rateOf(bytes, up)}}, up);
  print({"limits", "download-pinned", size, "", 0, {rateOf(bytes, down)}}, down);
}

void measureMultiplyAdds(const Plan& plan) {
  constexpr int steps = 8192;
  const float factor = 0.9990234375f, term = 0.5f;
  int multiprocessors = 0;
  CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  const int blocks = multiprocessors * 32;
  Slots<float> out(static_cast<std::size_t>(blocks) * fmaThreads, 1);
  const Times times = timeLaunches(plan, 1, [&](int) {
    multiplyAdd<<<blocks, fmaThreads>>>(out.at(0), factor, term, steps);
  });
  std::vector<float> expected(static_cast<std::size_t>(blocks) * fmaThreads);
  for (int i = 0; i < 64; i++) expected[i] = multiplyAddOnCpu(i, factor, term, steps);
  for (std::size_t i = 64; i < expected.size(); i++) expected[i] = expected[i - 64];
  expectEqual(out.download(0), expected, "A chain of multiply-adds");
  const double operations = static_cast<double>(blocks) * fmaThreads * chains * steps;
  const Field rate{"teraMultiplyAddsPerSecond", number(1e-9 * operations / times.median)};
  print({"limits", "multiply-add", {0, 0}, std::to_string(fmaThreads) + "x1", 0, {rate}}, times);
}

int main(int argc, char** argv) {
  if (isHostCheck(argc, argv)) return checkHost(), 0;
  Arguments arguments(argc, argv);
  const std::vector<Size> sizes = arguments.sizes("4928x2772");
  const Plan plan{arguments.integer("repetitions", 30, 1, 100000), arguments.integer("launches", 100, 1, 100000)};
  arguments.expectAllRead();

  checkHost();
  for (const Size size : sizes) {
    measureCopy("copy", size, plan);
    measureTransfers(size, plan);
  }
  measureCopy("copy-large", {maxImageSide, maxImageSide}, plan);
  measureMultiplyAdds(plan);
}
