// R5: two-dimensional filters with f32 results, gray or on each channel of interleaved RGB; pixels outside the image
// are skipped (zero). As in the report's listings the matrix is laid over the image as it is and not flipped.

#include "measure.cuh"

constexpr int maxSide = 31;

// ---- Kernels ------------------------------------------------------------------------------------------------------

/** Every neighbour from global memory. */
__global__ void convolveGlobal(const u8* in, float* out, int width, int height, int channels, const float* weights,
                               int side) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int half = side / 2;
  if (x >= width || y >= height) return;
  for (int c = 0; c < channels; c++) {
    float sum = 0;
    for (int m = 0; m < side; m++) {
      const int yy = y + m - half;
      if (yy < 0 || yy >= height) continue;
      for (int n = 0; n < side; n++) {
        const int xx = x + n - half;
        if (xx < 0 || xx >= width) continue;
        sum += in[(yy * width + xx) * channels + c] * weights[m * side + n];
      }
    }
    out[(y * width + x) * channels + c] = sum;
  }
}

/** Every neighbour from a tile with its halo in shared memory, which the block's threads load together. */
template <typename In, typename Out>
__global__ void convolveShared(const In* in, Out* out, int width, int height, const float* weights, int side) {
  extern __shared__ u8 tileBytes[];
  In* const tile = reinterpret_cast<In*>(tileBytes);
  const int halo = side / 2;
  const int tileWidth = blockDim.x + 2 * halo;
  const int tileHeight = blockDim.y + 2 * halo;
  const int left = blockIdx.x * blockDim.x - halo;
  const int upper = blockIdx.y * blockDim.y - halo;
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  for (int i = thread; i < tileWidth * tileHeight; i += blockDim.x * blockDim.y) {
    const int x = left + i % tileWidth, y = upper + i / tileWidth;
    tile[i] = x >= 0 && x < width && y >= 0 && y < height ? in[y * width + x] : In{};
  }
  __syncthreads();

  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  Out sum{};
  for (int m = 0; m < side; m++) {
    for (int n = 0; n < side; n++) {
      const In pixel = tile[(threadIdx.y + m) * tileWidth + threadIdx.x + n];
      const float weight = weights[m * side + n];
      if constexpr (sizeof(In) == 1) {
        sum += pixel * weight;
      } else {
        sum.x += pixel.x * weight;
        sum.y += pixel.y * weight;
        sum.z += pixel.z * weight;
      }
    }
  }
  out[y * width + x] = sum;
}

void launch(const std::string& strategy, const u8* in, float* out, Size size, int channels, Block block,
            const float* weights, int side) {
  const dim3 grid = block.grid(size), threads = block.threads();
  const std::size_t tileBytes = static_cast<std::size_t>(block.width + side - 1) * (block.height + side - 1) * channels;
  if (strategy == "global") {
    convolveGlobal<<<grid, threads>>>(in, out, size.width, size.height, channels, weights, side);
  } else if (channels == 1) {
    convolveShared<<<grid, threads, tileBytes>>>(in, out, size.width, size.height, weights, side);
  } else {
    const uchar3* pixels = reinterpret_cast<const uchar3*>(in);
    float3* sums = reinterpret_cast<float3*>(out);
    convolveShared<<<grid, threads, tileBytes>>>(pixels, sums, size.width, size.height, weights, side);
  }
}

// ---- Matrices -----------------------------------------------------------------------------------------------------

struct Matrix {
  std::string name;
  int side;
  std::vector<float> weights;
  double magnitude() const {
    double sum = 0;
    for (const float weight : weights) sum += std::fabs(weight);
    return sum;
  }
};

/** Sigma follows from the side as in OpenCV. */
Matrix gaussian(const std::string& name, int side) {
  const double sigma = 0.3 * ((side - 1) * 0.5 - 1) + 0.8;
  std::vector<double> line(side);
  double sum = 0;
  for (int i = 0; i < side; i++) sum += line[i] = std::exp(-(i - side / 2) * (i - side / 2) / (2 * sigma * sigma));
  Matrix matrix{name, side, std::vector<float>(side * side)};
  for (int i = 0; i < side * side; i++) {
    matrix.weights[i] = static_cast<float>(line[i / side] * line[i % side] / (sum * sum));
  }
  return matrix;
}

/** Random integers in -64...63: their sums are exact in f32 (31 x 31 x 255 x 64 < 2^24), so that every weight shows. */
Matrix integers(int side) {
  std::vector<u8> bytes(side * side);
  fillRandom(bytes.data(), bytes.size(), firstSeed);
  Matrix matrix{"integers-" + std::to_string(side), side, std::vector<float>(side * side)};
  for (int i = 0; i < side * side; i++) matrix.weights[i] = static_cast<float>(bytes[i] % 128 - 64);
  return matrix;
}

Matrix matrixOf(const std::string& name) {
  const std::size_t dash = name.find('-');
  const std::string kind = name.substr(0, dash);
  const int side = dash == std::string::npos ? 0 : std::atoi(name.c_str() + dash + 1);
  if (name == "prewitt-x") return {name, 3, {-1, 0, 1, -1, 0, 1, -1, 0, 1}};
  if (name == "prewitt-y") return {name, 3, {-1, -1, -1, 0, 0, 0, 1, 1, 1}};
  if (name == "sharpen-3") return {name, 3, {0, -1, 0, -1, 5, -1, 0, -1, 0}};
  if (name == "log-5") {
    return {name, 5, {0, 0, -1, 0, 0, 0, -1, -2, -1, 0, -1, -2, 16, -2, -1, 0, -1, -2, -1, 0, 0, 0, -1, 0, 0}};
  }
  if (side % 2 == 1 && side >= 3 && side <= maxSide && name == kind + "-" + std::to_string(side)) {
    if (kind == "gaussian") return gaussian(name, side);
    if (kind == "box") return {name, side, std::vector<float>(side * side, 1.0f / (side * side))};
  }
  Arguments::refuse("prewitt-x, prewitt-y, sharpen-3, log-5, gaussian-N or box-N with N odd in 3..." +
                        std::to_string(maxSide),
                    "kernels", name);
}

// ---- The CPU loop -------------------------------------------------------------------------------------------------

/** Sum is f32 as in the report where it is timed, and f64 where it is the expected result. */
template <typename Sum>
void convolveOnCpu(const u8* in, Sum* out, Size size, int channels, const Matrix& matrix, int threads) {
  const int side = matrix.side, half = side / 2;
  inRows(size.height, threads, [=, &matrix](int first, int end) {
    for (int y = first; y < end; y++) {
      for (int x = 0; x < size.width; x++) {
        for (int c = 0; c < channels; c++) {
          Sum sum = 0;
          for (int m = 0; m < side; m++) {
            const int yy = y + m - half;
            if (yy < 0 || yy >= size.height) continue;
            for (int n = 0; n < side; n++) {
              const int xx = x + n - half;
              if (xx < 0 || xx >= size.width) continue;
              sum += static_cast<Sum>(in[(yy * size.width + xx) * channels + c]) * matrix.weights[m * side + n];
            }
          }
          out[(y * size.width + x) * channels + c] = sum;
        }
      }
    }
  });
}

std::vector<double> expectedSums(const std::vector<u8>& image, Size size, int channels, const Matrix& matrix) {
  std::vector<double> sums(image.size());
  convolveOnCpu(image.data(), sums.data(), size, channels, matrix, allThreads());
  return sums;
}

/** The most that side x side products summed in f32 can be off the exact sum: a rounding each, and two to spare. */
double toleranceOf(const Matrix& matrix) {
  return (matrix.side * matrix.side + 2) * std::ldexp(1.0, -24) * 255 * matrix.magnitude();
}

void checkHost() {
  const Matrix matrix{"one to nine", 3, {1, 2, 3, 4, 5, 6, 7, 8, 9}};
  const std::vector<double> gray = {94, 154, 106, 58, 91, 58};
  expectEqual(expectedSums({1, 2, 3, 4, 5, 6}, {3, 2}, 1, matrix), gray, "The sums worked out by hand");
  const std::vector<u8> rgbImage = {1, 0, 2, 2, 0, 4, 3, 0, 6, 4, 0, 8, 5, 0, 10, 6, 0, 12};
  std::vector<double> rgb;
  for (const double sum : gray) rgb.insert(rgb.end(), {sum, 0, 2 * sum});
  expectEqual(expectedSums(rgbImage, {3, 2}, 3, matrix), rgb, "The sums in RGB worked out by hand");
}

// ---- Measurements -------------------------------------------------------------------------------------------------

void checkSmall(const std::string& strategy, int channels, Block block, const Matrix& matrix, double tolerance) {
  for (const Size size : checkedSizes()) {
    const std::vector<u8> image = randomImage(size.pixels() * channels);
    Slots<u8> in(image.size(), 1);
    Slots<float> out(image.size(), 1), weights(matrix.weights.size(), 1);
    in.upload(0, image);
    weights.upload(0, matrix.weights);
    launch(strategy, in.at(0), out.at(0), size, channels, block, weights.at(0), matrix.side);
    CUDA(cudaGetLastError());
    const std::string what = "R5 " + strategy + " " + block.name() + " " + matrix.name + " of " + size.name();
    expectEqual(out.download(0), expectedSums(image, size, channels, matrix), what, tolerance);
  }
}

void measure(Size size, int channels, const std::vector<Matrix>& matrices, const std::vector<Block>& blocks,
             const std::vector<std::string>& strategies, const std::vector<std::string>& measures, const Plan& plan,
             int cpuRepetitions) {
  const std::size_t samples = size.pixels() * channels;
  const int slots = slotsFor(samples);
  Slots<u8> in(samples, slots);
  Slots<float> out(samples, slots), weights(maxSide * maxSide, 1);
  for (int slot = 0; slot < slots; slot++) in.upload(slot, randomImage(samples, slot));
  const std::vector<u8> image = randomImage(samples);
  std::vector<float> result(samples);

  for (const Matrix& matrix : matrices) {
    const std::vector<double> expected = expectedSums(image, size, channels, matrix);
    const std::size_t weightBytes = matrix.weights.size() * sizeof(float);
    CUDA(cudaMemcpy(weights.at(0), matrix.weights.data(), weightBytes, cudaMemcpyHostToDevice));
    const std::vector<Field> fields = {{"kernel", quoted(matrix.name)}, {"channels", std::to_string(channels)}};
    for (const Block block : blocks) {
      for (const std::string& strategy : strategies) {
        checkSmall(strategy, channels, block, integers(matrix.side), 0);
        checkSmall(strategy, channels, block, matrix, toleranceOf(matrix));
        const auto launchOn = [&](int slot) {
          launch(strategy, in.at(slot), out.at(slot), size, channels, block, weights.at(0), matrix.side);
        };
        // From an image in (pageable) host memory to sums in host memory, the matrix too.
        const auto run = [&] {
          CUDA(cudaMemcpy(in.at(0), image.data(), samples, cudaMemcpyHostToDevice));
          CUDA(cudaMemcpy(weights.at(0), matrix.weights.data(), weightBytes, cudaMemcpyHostToDevice));
          launchOn(0);
          CUDA(cudaGetLastError());
          CUDA(cudaMemcpy(result.data(), out.at(0), samples * sizeof(float), cudaMemcpyDeviceToHost));
        };
        out.zero();
        run();
        const std::string what = "R5 " + strategy + " " + block.name() + " " + matrix.name + " of " + size.name();
        expectEqual(result, expected, what, toleranceOf(matrix));
        if (contains(measures, "kernel")) {
          print({"R5", strategy, size, block.name(), matrix.side, fields}, timeLaunches(plan, slots, launchOn));
        }
        if (contains(measures, "whole")) {
          print({"R5", strategy + "-whole", size, block.name(), matrix.side, fields}, timeRuns(plan.repetitions, run));
        }
      }
    }
    printCpuRows({"R5", "cpu", size, "", matrix.side, fields}, cpuRepetitions,
                 [&](int threads) { convolveOnCpu(image.data(), result.data(), size, channels, matrix, threads); });
  }
}

int main(int argc, char** argv) {
  if (isHostCheck(argc, argv)) return checkHost(), 0;
  Arguments arguments(argc, argv);
  const std::vector<Size> sizes = arguments.sizes("1920");
  const std::vector<Block> blocks = arguments.blocks("16x16");
  const std::vector<std::string> channels = arguments.choices("channels", "1,3");
  const std::vector<std::string> strategies = arguments.choices("strategies", "global,shared");
  const std::vector<std::string> measures = arguments.choices("measure", "kernel,whole");
  std::vector<Matrix> matrices;
  for (const std::string& name : arguments.list("kernels",
                                                "prewitt-x,sharpen-3,log-5,gaussian-3,gaussian-5,gaussian-7,gaussian-9,"
                                                "gaussian-11,gaussian-15,gaussian-21,box-3,box-5,box-7,box-9,box-11,"
                                                "box-15,box-21")) {
    matrices.push_back(matrixOf(name));
  }
  const Plan plan{arguments.integer("repetitions", 30, 1, 100000), arguments.integer("launches", 100, 1, 100000)};
  const int cpuRepetitions = arguments.integer("cpu-repetitions", 0, 0, 1000);
  arguments.expectAllRead();

  checkHost();
  for (const Size size : sizes) {
    for (const std::string& count : channels) {
      measure(size, std::atoi(count.c_str()), matrices, blocks, strategies, measures, plan, cpuRepetitions);
    }
  }
}
