// How fast NVIDIA's library decodes JPEGs in host memory to luma in device memory, many in each call: on the GPU, and by
// the engines of some cards. Its transform differs from libjpeg-turbo's by a few grays, so no result is compared.
#include <nvjpeg.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "../measure.cuh"

using File = std::vector<unsigned char>;

inline void expectDecoded(nvjpegStatus_t status, const std::string& what) {
  if (status != NVJPEG_STATUS_SUCCESS) fail(failed, what + " failed: nvJPEG says " + std::to_string(status) + ".");
}

std::vector<File> filesOf(const std::string& folder, int most) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  if (paths.empty()) fail(wrongUsage, "There is no file in '" + folder + "'.");
  std::vector<File> files;
  for (int i = 0; i < most; i++) {
    std::ifstream stream(paths[i % paths.size()], std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  return files;
}

/** Prints a row where the machine has that decoder. */
void measure(const std::string& name, nvjpegBackend_t backend, const std::vector<File>& files, int repetitions) {
  nvjpegHandle_t handle;
  if (nvjpegCreateEx(backend, nullptr, nullptr, 0, &handle) != NVJPEG_STATUS_SUCCESS) return;
  nvjpegJpegState_t state;
  expectDecoded(nvjpegJpegStateCreate(handle, &state), "Opening a decoder");

  std::vector<const unsigned char*> bytes;
  std::vector<std::size_t> lengths;
  std::vector<nvjpegImage_t> planes(files.size());
  for (std::size_t i = 0; i < files.size(); i++) {
    int components, widths[NVJPEG_MAX_COMPONENT], heights[NVJPEG_MAX_COMPONENT];
    nvjpegChromaSubsampling_t sampling;
    expectDecoded(nvjpegGetImageInfo(handle, files[i].data(), files[i].size(), &components, &sampling, widths, heights),
                  "Reading a header");
    bytes.push_back(files[i].data());
    lengths.push_back(files[i].size());
    planes[i].pitch[0] = widths[0];
    CUDA(cudaMalloc(&planes[i].channel[0], static_cast<std::size_t>(widths[0]) * heights[0]));
  }
  const int count = static_cast<int>(files.size());
  const auto begin = [&] { return nvjpegDecodeBatchedInitialize(handle, state, count, 1, NVJPEG_OUTPUT_Y); };
  const auto decode = [&] {
    return nvjpegDecodeBatched(handle, state, bytes.data(), lengths.data(), planes.data(), nullptr);
  };
  // A decoder refuses JPEGs that it cannot decode here.
  if (begin() == NVJPEG_STATUS_SUCCESS && decode() == NVJPEG_STATUS_SUCCESS) {
    const Times times = timeRuns(repetitions, [&] {
      expectDecoded(decode(), "Decoding");
      CUDA(cudaStreamSynchronize(nullptr));
    });
    std::printf("{\"name\":%s,\"block\":null,\"framesPerSecond\":%s,\"ms\":{\"mean\":%s,\"median\":%s,\"stdev\":%s,\"min\":%s},"
                "\"repetitions\":%d}\n",
                quoted(name).c_str(), number(1000 * count / times.median).c_str(), number(times.mean).c_str(),
                number(times.median).c_str(), number(times.stdev).c_str(), number(times.min).c_str(), times.repetitions);
    std::fflush(stdout);
  }
  for (nvjpegImage_t& plane : planes) CUDA(cudaFree(plane.channel[0]));
  nvjpegJpegStateDestroy(state);
  nvjpegDestroy(handle);
}

int main(int argc, char** argv) {
  Arguments arguments(argc, argv);
  const std::string folder = arguments.list("folder", ".").front();
  const int batch = arguments.integer("batch", 64, 1, 1024);
  const int repetitions = arguments.integer("repetitions", 20, 1, 100000);
  arguments.expectAllRead();
  const std::vector<File> files = filesOf(folder, batch);
  measure("nvjpeg-engines", NVJPEG_BACKEND_HARDWARE, files, repetitions);
  measure("nvjpeg-gpu", NVJPEG_BACKEND_GPU_HYBRID, files, repetitions);
}
