// The candidate as a CUDA program of its own: kernels, launches, inputs and a benchmark.
#include "kernevo/extract/forms.h"
#include "kernevo/extract/host_code.h"
#include "kernevo/extract/judged_code.h"
#include "kernevo/hardware/gpu_table.h"
#include "kernevo/model/cuda_type.h"
#include "kernevo/task/inputs.h"
#include "kernevo/toolchain/prelude.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kernevo::extract {
namespace {

constexpr const char* kIncludes = R"(#include <algorithm>
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <cuda_runtime.h>
)";

constexpr const char* kCheck = R"(inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

[[noreturn]] inline void refuse(const char* why) {
  std::fprintf(stderr, "%s\n", why);
  std::exit(1);
}

)";

constexpr const char* kInputs = R"(
enum class Kind { normal, uniform, integers, constant, wide, denormal };

// An element depends on the seed and its index alone, so every run has the same inputs.
inline unsigned long long mix(unsigned long long x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}
inline double sample(Kind kind, double low, double high, unsigned long long seed, unsigned long long index) {
  const unsigned long long bits = mix(mix(index * 0x9E3779B97F4A7C15ull + seed) ^ seed);
  const double fraction = static_cast<double>(bits >> 11) * 0x1p-53;
  switch (kind) {
  case Kind::normal: {
    const double angle = static_cast<double>(mix(bits) >> 11) * 0x1p-53;
    return low + high * std::sqrt(-2.0 * std::log(1.0 - fraction)) * std::cos(6.283185307179586 * angle);
  }
  case Kind::uniform: return low + (high - low) * fraction;
  case Kind::integers: return low + std::floor((high - low + 1) * fraction);
  case Kind::constant: return low;
  case Kind::wide: return ((bits & 1) != 0 ? -1 : 1) * std::exp2(low + (high - low) * fraction);
  case Kind::denormal: return (bits & 1) != 0 ? fraction : std::floor(low / high * fraction) * high;
  }
  return 0;
}
)";

constexpr const char* kTensor = R"(
// A tensor on the device with a copy of its first content.
template <class T> struct Tensor {
  explicit Tensor(long long size) : elements(size) {
    check(cudaMalloc(&device.data, std::max<size_t>(bytes(), 1)), "cudaMalloc");
    check(cudaMemset(device.data, 0, bytes()), "cudaMemset");
  }
  ~Tensor() { cudaFree(device.data); }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  size_t bytes() const { return static_cast<size_t>(elements) * sizeof(T); }
  void fill(Kind kind, double low, double high, unsigned long long seed) {
    first.resize(static_cast<size_t>(elements));
    for (long long i = 0; i < elements; ++i)
      first[static_cast<size_t>(i)] = element<T>(sample(kind, low, high, seed, static_cast<unsigned long long>(i)));
    restore();
  }
  void restore() { check(cudaMemcpy(device.data, first.data(), bytes(), cudaMemcpyHostToDevice), "cudaMemcpy"); }
  double sum() const {
    std::vector<T> host(static_cast<size_t>(elements));
    check(cudaMemcpy(host.data(), device.data, bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    double total = 0;
    for (const T& value : host) total += number(value);
    return total;
  }

  long long elements = 0;
  Buffer device;
  std::vector<T> first;
};

// Median of single runs, each timed by its own pair of events and started with a cold L2 cache.
template <class Prepare, class Work> double median_us(int repeats, Prepare prepare, Work work) {
  constexpr int warm_up = 3;
  int l2_bytes = 0;
  check(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, 0), "cudaDeviceGetAttribute");
  Tensor<char> other(2LL * l2_bytes);
  cudaEvent_t from, to;
  check(cudaEventCreate(&from), "cudaEventCreate");
  check(cudaEventCreate(&to), "cudaEventCreate");
  std::vector<double> times;
  for (int i = -warm_up; i < repeats; ++i) {
    prepare();
    check(cudaMemset(other.device.data, i & 1, other.bytes()), "cudaMemset");
    check(cudaEventRecord(from), "cudaEventRecord");
    work();
    check(cudaEventRecord(to), "cudaEventRecord");
    check(cudaEventSynchronize(to), "the kernel");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, from, to), "cudaEventElapsedTime");
    if (i >= 0) times.push_back(1e3 * milliseconds);
  }
  check(cudaEventDestroy(from), "cudaEventDestroy");
  check(cudaEventDestroy(to), "cudaEventDestroy");
  std::sort(times.begin(), times.end());
  const size_t middle = times.size() / 2;
  return times.size() % 2 == 1 ? times[middle] : (times[middle - 1] + times[middle]) / 2;
}
)";

constexpr const char* kMain = R"(
inline int bench(int argc, char** argv) {
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 50;
  if (repeats < 1 || argc > 3) {
    std::fprintf(stderr, "usage: %s [repeats [shape]]\n", argv[0]);
    return 2;
  }
  cudaDeviceProp properties;
  kernevo_host::check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  std::printf("device %s, median of %d runs\n", properties.name, repeats);
  bool any = false;
  for (const Shape& shape : kShapes)
    if (argc < 3 || std::strcmp(argv[2], shape.shape_id) == 0) {
      run(shape, repeats);
      any = true;
    }
  if (!any) {
    std::fprintf(stderr, "there is no shape '%s'; there are", argv[2]);
    for (const Shape& shape : kShapes) std::fprintf(stderr, " %s", shape.shape_id);
    std::fprintf(stderr, "\n");
    return 2;
  }
  return 0;
}
)";

// Conversions of the element types the tensors have.
std::string element_functions(const std::set<DType>& dtypes) {
  std::string text =
      "\ntemplate <class T> T element(double value) { return static_cast<T>(value); }\n"
      "template <class T> double number(T value) { return static_cast<double>(value); "
      "}\n";
  if (dtypes.contains(DType::float16))
    text += "template <> inline __half element<__half>(double value) { return "
            "__float2half(static_cast<float>(value)); }\n"
            "inline double number(__half value) { return __half2float(value); }\n";
  if (dtypes.contains(DType::bfloat16))
    text += "template <> inline __nv_bfloat16 element<__nv_bfloat16>(double value) { return "
            "__float2bfloat16(static_cast<float>(value)); }\n"
            "inline double number(__nv_bfloat16 value) { return __bfloat162float(value); }\n";
  return text;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return result + "\"";
}

// How an input is filled at one shape, in the program's words.
struct FillText {
  std::string kind;
  std::string low;
  std::string high;
};

FillText fill_text(const InputRecipe& recipe) {
  using Kind = Distribution::Kind;
  double low = recipe.low;
  double high = recipe.high;
  std::string kind = "normal";
  switch (recipe.kind) {
  case Kind::normal: break;
  case Kind::uniform: kind = "uniform"; break;
  case Kind::integers:
  case Kind::indices: kind = "integers"; break;
  case Kind::zeros:
    kind = "constant";
    low = 0;
    break;
  case Kind::constant: kind = "constant"; break;
  case Kind::wide: kind = "wide"; break;
  case Kind::denormal:
    kind = "denormal";
    low = recipe.tiny;
    high = recipe.denormal_step;
    break;
  }
  return {"Kind::" + kind, fmt::format("{}", low), fmt::format("{}", high)};
}

class Program {
public:
  Program(const Extraction& extraction, const ReceiptOptions& options)
      : x_(extraction), options_(options),
        style_{"kernevo_host::check(cudaGetLastError(), \"the launch\");",
               "kernevo_host::check({}, \"preparing a launch\")", "kernevo_host::refuse(\"{}\")"} {}

  Result<std::string> write() {
    if (x_.file.language != KernelLanguage::cuda)
      return fail(ErrorCode::unsupported, "a Triton kernel cannot become a CUDA program",
                  std::nullopt, "extract it --as kernel");
    KERNEVO_TRY(judged, judged_code(x_));
    KERNEVO_TRY(launches, launch_directives(x_.file, x_.task.default_launch, Place{x_.task.file}));
    KERNEVO_CHECK(read_fills());
    KERNEVO_TRY(code, launch_code(x_, judged.device, launches, style_));
    for (const ArgumentSpec& argument : x_.task.arguments)
      dtypes_.insert(argument.dtype);
    for (const ScratchDirective& scratch : x_.file.scratch)
      dtypes_.insert(scratch.dtype);
    const std::string host =
        fmt::format("\nnamespace {0} {{\n\n{1}\n{2}\n{3}{4}\n}} // namespace {0}\n\n"
                    "int main(int argc, char** argv) {{ return {0}::bench(argc, argv); }}\n",
                    kHostNamespace, shapes(), launch_function(code.text), run_function(), kMain);
    KERNEVO_TRY(head, comment());
    std::string text = head + kIncludes;
    std::string headers = missing_includes(judged.source);
    for (const DType dtype : dtypes_)
      if (const std::string header(cuda_header(dtype));
          !header.empty() && headers.find(header) == std::string::npos)
        headers += fmt::format("#include <{}>\n", header);
    text += headers;
    text += fmt::format("\nnamespace {} {{\n\n{}{}{}{}{}\n}} // namespace {}\n\n", kHostNamespace,
                        kCheck, launch_support(launches, style_), kInputs,
                        element_functions(dtypes_), kTensor, kHostNamespace);
    text += "// The kernels, as they were judged, between their parameters.\n";
    text += enclosed_device_code(judged.device, x_.evaluation.parameters);
    return text + host;
  }

private:
  Result<std::string> comment() const {
    std::vector<std::string> lines = receipt(x_, options_);
    const auto gpu = find_gpu(x_.started.gpu);
    const std::string architecture = x_.file.architecture ? *x_.file.architecture
                                     : gpu ? fmt::format("sm_{}", gpu->compute_capability)
                                           : "native";
    // The line about check is for kernel files.
    lines.back() = fmt::format("build    nvcc -O3 -arch={} {} {} -o bench", architecture,
                               fmt::join(nvcc_flags(x_.file), " "), options_.file);
    lines.emplace_back("run      ./bench [repeats [shape]]");
    return as_comment(lines, "//");
  }

  Result<void> read_fills() {
    for (const ShapeCase& shape : x_.task.shapes) {
      KERNEVO_TRY(problem, make_problem(x_.task, shape));
      std::vector<FillText> row;
      for (std::size_t i = 0; i < problem.buffers.size(); ++i)
        row.push_back(problem.buffers[i].direction == Direction::out
                          ? FillText{}
                          : fill_text(input_recipe(problem, i, InputSet::nominal, 0)));
      fills_.push_back(std::move(row));
    }
    return {};
  }

  // Whether how an input is filled depends on the shape (indices into a table do).
  bool varies(std::size_t argument) const {
    return std::any_of(fills_.begin(), fills_.end(), [&](const std::vector<FillText>& row) {
      return row[argument].low != fills_.front()[argument].low ||
             row[argument].high != fills_.front()[argument].high;
    });
  }

  std::string shapes() const {
    const std::vector<std::string> dims = dimension_names(x_.task);
    std::string text = "// The shapes of the task.\nstruct Shape {\n  const char* shape_id;\n"
                       "  double known_us; // 0: unknown\n";
    for (const std::string& name : dims)
      text += fmt::format("  long long {};\n", host_name(name));
    for (std::size_t i = 0; i < x_.task.arguments.size(); ++i)
      if (varies(i))
        text += fmt::format("  double low_{0}, high_{0};\n", x_.task.arguments[i].name);
    text += "};\nconstexpr Shape kShapes[] = {\n";
    for (std::size_t s = 0; s < x_.task.shapes.size(); ++s) {
      const ShapeCase& shape = x_.task.shapes[s];
      double known = 0;
      for (const ShapeTime& result : x_.evaluation.shapes)
        if (result.shape == shape.id)
          known = result.time.value / 1e3;
      text += fmt::format("    {{{}, {:.6g}", quoted(shape.id), known);
      for (const std::string& name : dims) {
        const auto found = shape.dims.find(name);
        text += fmt::format(", {}", found == shape.dims.end() ? 0 : found->second);
      }
      for (std::size_t i = 0; i < x_.task.arguments.size(); ++i)
        if (varies(i))
          text += fmt::format(", {}, {}", fills_[s][i].low, fills_[s][i].high);
      text += "},\n";
    }
    return text + "};\n";
  }

  std::string locals() const {
    std::string text;
    for (const std::string& name : dimension_names(x_.task))
      text += fmt::format("  [[maybe_unused]] const long long {0} = shape.{0};\n", host_name(name));
    for (const ScalarSpec& scalar : x_.task.scalars)
      text += fmt::format("  [[maybe_unused]] const {} {} = static_cast<{}>({});\n",
                          scalar_type(scalar.dtype), host_name(scalar.name),
                          scalar_type(scalar.dtype), scalar.value);
    return text + parameter_constants(x_.evaluation.parameters, "  ");
  }

  static std::string_view scalar_type(DType dtype) {
    if (!is_floating(dtype))
      return "long long";
    return dtype == DType::float64 ? "double" : "float";
  }

  std::string launch_function(const std::string& launches) const {
    std::vector<std::string> parameters = {"const Shape& shape"};
    for (const ArgumentSpec& argument : x_.task.arguments)
      parameters.push_back("[[maybe_unused]] Buffer " + host_name(argument.name));
    for (const ScratchDirective& scratch : x_.file.scratch)
      parameters.push_back("[[maybe_unused]] Buffer " + host_name(scratch.name));
    parameters.emplace_back("cudaStream_t stream");
    return fmt::format("inline void launch({}) {{\n{}{}}}\n", fmt::join(parameters, ", "), locals(),
                       launches);
  }

  std::string run_function() const {
    std::string text = "inline void run(const Shape& shape, int repeats) {\n" + locals();
    std::vector<std::string> buffers = {"shape"};
    std::string restore;
    std::string sums;
    for (std::size_t i = 0; i < x_.task.arguments.size(); ++i) {
      const ArgumentSpec& argument = x_.task.arguments[i];
      const std::string name = host_name(argument.name);
      text += fmt::format("  Tensor<{}> {}({});\n", cuda_type(argument.dtype), name,
                          cpp_product(argument.shape));
      buffers.push_back(name + ".device");
      if (argument.direction != Direction::out) {
        const FillText& fill = fills_.front()[i];
        text +=
            fmt::format("  {}.fill({}, {}, {}, {});\n", name, fill.kind,
                        varies(i) ? fmt::format("shape.low_{}", argument.name) : fill.low,
                        varies(i) ? fmt::format("shape.high_{}", argument.name) : fill.high, i + 1);
      }
      if (argument.direction == Direction::inout)
        restore += fmt::format(" {}.restore();", name);
      if (argument.direction != Direction::in)
        sums +=
            fmt::format("  std::printf(\"  sum of {} %.9g\", {}.sum());\n", argument.name, name);
    }
    for (const ScratchDirective& scratch : x_.file.scratch) {
      text += fmt::format("  Tensor<{}> {}({});\n", cuda_type(scratch.dtype),
                          host_name(scratch.name), cpp_product(scratch.shape));
      buffers.push_back(host_name(scratch.name) + ".device");
    }
    buffers.emplace_back("nullptr");
    const std::string call = fmt::format("launch({});", fmt::join(buffers, ", "));
    text += fmt::format("  {}\n  kernevo_host::check(cudaDeviceSynchronize(), \"the kernel\");\n",
                        call);
    text += "  std::printf(\"%s\", shape.shape_id);\n" + sums;
    text += fmt::format("  const double median = median_us(repeats, [&] {{{} }}, [&] {{ {} }});\n",
                        restore, call);
    text += fmt::format("  std::printf(\"  %.3f us\", median);\n"
                        "  if (shape.known_us > 0) std::printf(\"  ({} for the {}: %.4g us)\", "
                        "shape.known_us);\n"
                        "  std::printf(\"\\n\");\n}}\n",
                        x_.started.method, x_.started.gpu);
    return text;
  }

  const Extraction& x_;
  const ReceiptOptions& options_;
  LaunchStyle style_;
  std::vector<std::vector<FillText>> fills_; // per shape, per argument
  std::set<DType> dtypes_;
};

} // namespace

Result<std::string> render_cu(const Extraction& extraction, const ReceiptOptions& options) {
  return Program(extraction, options).write();
}

} // namespace kernevo::extract
