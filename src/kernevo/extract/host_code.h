// What host code around a kernel is made of: names, sizes and launches as C++ text. Shared by the
// forms that launch the kernel themselves.
#pragma once

#include "kernevo/extract/extraction.h"
#include "kernevo/kernel/device_code.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo::extract {

// The namespace of everything that is not the kernel's own.
inline constexpr std::string_view kHostNamespace = "kernevo_host";

// A name of the task as a C++ name: one that means something else there gets an underscore.
std::string host_name(const std::string& name);

// An integer expression as C++ over variables of type long long.
std::string cpp_expression(std::string_view expression);
// "a * b", "1" for none.
std::string cpp_product(const std::vector<Expression>& factors);

// How the two forms say what differs.
struct LaunchStyle {
  std::string check_launch; // the statement after a launch
  std::string check_call;   // around a call that returns cudaError_t: "check({})"
  std::string refuse;       // when no instantiation fits: "fail(\"{}\")"
};

// Names and functions that launches use: integer functions, buffers that convert to whatever
// pointer a kernel takes, and what large shared memory and cooperative launches need.
std::string launch_support(const std::vector<LaunchDirective>& launches, const LaunchStyle& style);

// The statements that launch everything, in a scope where dimensions, scalars, parameters and
// buffers have their host_name and `stream` is the stream.
struct LaunchCode {
  std::string text;
  bool instances_vary = false; // template arguments depend on the shape
};
Result<LaunchCode> launch_code(const Extraction& extraction, const DeviceCode& device,
                               const std::vector<LaunchDirective>& launches,
                               const LaunchStyle& style);

// The device code between the #defines of its parameters and their #undefs, so that neither they
// nor its own macros reach the host code that follows, or what the macros used there stand for.
std::string enclosed_device_code(const DeviceCode& device, const ParameterValues& parameters);

// "const" declarations of the parameters, for the scope of the launches.
std::string parameter_constants(const ParameterValues& parameters, std::string_view indent);

// Every dimension of the task's shapes, derived ones too, by name.
std::vector<std::string> dimension_names(const Task& task);

// The compiler's flags the kernel file asks for, besides the architecture.
std::vector<std::string> nvcc_flags(const KernelFile& file);

} // namespace kernevo::extract
