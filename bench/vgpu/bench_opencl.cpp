// Times the OpenCL twins of the kernels on the first CPU device, as bench_vgpu does on the virtual
// GPU: same problems, same check, one line of JSON each.
#include "problem.h"
#include "report.h"

#include <CL/cl.h>
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace {

struct Options {
  std::string file;
  std::vector<std::string> kernels;
  std::vector<int> size;
  int repetitions = 15;
  double seconds = 10;
};

void check(cl_int status, const char* what) {
  if (status == CL_SUCCESS)
    return;
  fmt::print(stderr, "bench_opencl: {} failed with {}\n", what, status);
  std::exit(3);
}

std::string text_of(cl_device_id device, cl_device_info what) {
  std::array<char, 256> text = {};
  check(clGetDeviceInfo(device, what, text.size() - 1, text.data(), nullptr), "clGetDeviceInfo");
  return text.data();
}

struct Device {
  cl_device_id id = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
};

Device open_device() {
  cl_uint count = 0;
  std::array<cl_platform_id, 8> platforms = {};
  check(clGetPlatformIDs(platforms.size(), platforms.data(), &count), "clGetPlatformIDs");
  Device device;
  for (cl_uint i = 0; i < std::min<cl_uint>(count, platforms.size()) && device.id == nullptr; ++i)
    if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &device.id, nullptr) != CL_SUCCESS)
      device.id = nullptr;
  if (device.id == nullptr) {
    fmt::print(stderr, "bench_opencl: no OpenCL CPU device; install pocl-opencl-icd\n");
    std::exit(3);
  }
  cl_int status = CL_SUCCESS;
  device.context = clCreateContext(nullptr, 1, &device.id, nullptr, nullptr, &status);
  check(status, "clCreateContext");
  device.queue = clCreateCommandQueue(device.context, device.id, 0, &status);
  check(status, "clCreateCommandQueue");
  return device;
}

cl_program build(const Device& device, const std::string& file) {
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const char* source = text.c_str();
  cl_int status = CL_SUCCESS;
  cl_program program = clCreateProgramWithSource(device.context, 1, &source, nullptr, &status);
  check(status, "clCreateProgramWithSource");
  check(clBuildProgram(program, 1, &device.id, "", nullptr, nullptr), "clBuildProgram");
  return program;
}

cl_mem buffer(const Device& device, std::size_t count, const float* content) {
  cl_int status = CL_SUCCESS;
  cl_mem made =
      clCreateBuffer(device.context, CL_MEM_READ_WRITE, count * sizeof(float), nullptr, &status);
  check(status, "clCreateBuffer");
  if (content != nullptr)
    check(clEnqueueWriteBuffer(device.queue, made, CL_TRUE, 0, count * sizeof(float), content, 0,
                               nullptr, nullptr),
          "clEnqueueWriteBuffer");
  return made;
}

void run_kernel(const Options& options, const Device& device, cl_program program,
                const std::string& name) {
  const bench::Problem problem = bench::make_problem(name, options.size);
  cl_int status = CL_SUCCESS;
  cl_kernel kernel = clCreateKernel(program, name.c_str(), &status);
  check(status, "clCreateKernel");
  std::vector<cl_mem> buffers;
  for (const std::vector<float>& input : problem.inputs)
    buffers.push_back(buffer(device, input.size(), input.data()));
  buffers.push_back(buffer(device, problem.expected.size(), nullptr));
  cl_uint at = 0;
  for (const cl_mem& memory : buffers)
    check(clSetKernelArg(kernel, at++, sizeof memory, &memory), "clSetKernelArg");
  check(clSetKernelArg(kernel, at, sizeof problem.integer, &problem.integer), "clSetKernelArg");
  std::array<std::size_t, 3> local = {};
  std::array<std::size_t, 3> global = {};
  for (std::size_t i = 0; i < 3; ++i) {
    local[i] = problem.block[i];
    global[i] = local[i] * problem.grid[i];
  }
  const auto launch = [&] {
    check(clEnqueueNDRangeKernel(device.queue, kernel, 3, nullptr, global.data(), local.data(), 0,
                                 nullptr, nullptr),
          "clEnqueueNDRangeKernel");
    check(clFinish(device.queue), "clFinish");
    return true;
  };
  const bench::Stopwatch first;
  launch();
  const double first_ms = first.milliseconds();
  const auto times = bench::repeat(options.repetitions, options.seconds, launch);
  std::vector<float> output(problem.expected.size());
  check(clEnqueueReadBuffer(device.queue, buffers.back(), CL_TRUE, 0, output.size() * sizeof(float),
                            output.data(), 0, nullptr, nullptr),
        "clEnqueueReadBuffer");
  nlohmann::json json = bench::describe(problem, times, output.data());
  json["first_launch_ms"] = first_ms;
  json["device"] =
      text_of(device.id, CL_DEVICE_NAME) + ", " + text_of(device.id, CL_DEVICE_VERSION);
  cl_uint units = 0;
  check(clGetDeviceInfo(device.id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, nullptr),
        "clGetDeviceInfo");
  json["cores"] = units;
  fmt::print("{}\n", json.dump());
  std::fflush(stdout);
  for (const cl_mem& memory : buffers)
    clReleaseMemObject(memory);
  clReleaseKernel(kernel);
}

} // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Times OpenCL kernels on the CPU; prints JSON lines");
  app.add_option("file", options.file, "OpenCL C")->required()->check(CLI::ExistingFile);
  app.add_option("--kernel", options.kernels, "Only this one; repeatable");
  app.add_option("--size", options.size, "n, or rows,columns")->delimiter(',');
  app.add_option("--repetitions", options.repetitions, "Launches that are timed");
  app.add_option("--seconds", options.seconds, "Stop repeating after this long");
  CLI11_PARSE(app, argc, argv);
  const Device device = open_device();
  cl_program program = build(device, options.file);
  for (const std::string& kernel :
       options.kernels.empty() ? bench::kernel_names() : options.kernels)
    run_kernel(options, device, program, kernel);
  return 0;
}
