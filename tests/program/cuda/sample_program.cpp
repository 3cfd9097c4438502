// A CUDA program for the tests of `kernevo run -- PROGRAM`: what it does is its first argument.
#include "cuda_program.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

void launch(unsigned threads, int times = 1) {
  float* const data = device_vector(std::vector<float>(threads, 1));
  set_factor(2);
  for (int i = 0; i < times; ++i)
    launch_scale(data, threads);
  cudaFree(data);
}

void print_time() {
  float* const data = device_vector(std::vector<float>(256, 1));
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaEventRecord(begin, nullptr);
  launch_scale(data, 256);
  cudaEventRecord(end, nullptr);
  cudaEventSynchronize(end);
  float milliseconds = 0;
  cudaEventElapsedTime(&milliseconds, begin, end);
  std::printf("%.6f\n", static_cast<double>(milliseconds));
}

} // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "time") {
    print_time();
  } else if (what == "exit") {
    launch(32, 3);
    return std::atoi(argv[2]);
  } else if (what == "abort") {
    launch(32, 3);
    std::abort();
  } else if (what == "fault") {
    float* const data = device_vector(std::vector<float>(8, 1));
    // Far beyond its eight elements, and nobody looks at the error.
    launch_scale(data, 256);
    cudaDeviceSynchronize();
  } else if (what == "unloadable") {
    cudaLaunchKernel(&program().compressed, dim3(1), dim3(1), nullptr, 0, nullptr);
  } else if (what == "echo") {
    launch(32);
    std::array<char, 4096> text{};
    for (ssize_t n = 0; (n = read(0, text.data(), text.size())) > 0;)
      if (write(1, text.data(), static_cast<std::size_t>(n)) != n)
        return 1;
    for (int i = 2; i < argc; ++i)
      std::printf("[%s]", argv[i]);
  } else if (what == "wait") {
    launch(32);
    std::puts("waits");
    std::fflush(stdout);
    pause();
  }
  return 0;
}
