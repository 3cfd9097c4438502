// Extracted CUDA programs and PyTorch modules, compiled by nvcc and run on the virtual GPU.
#include "kernevo/base/files.h"
#include "kernevo/base/subprocess.h"
#include "kernevo/extract/forms.h"
#include "kernevo/task/catalogue.h"
#include "recorded_run.h"
#include "test_folder.h"
#include "test_needs.h"
#include "toolchain_test.h"

#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>

namespace kernevo::extract {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string task(const std::string& operation, const std::string& shapes,
                 const std::string& dtype = "float32", const std::string& more = "") {
  return fmt::format("op_name: {}\nshapes: {}\ndtype: {}\ntarget_gpu: A100\n{}", operation, shapes,
                     dtype, more);
}

std::string example(const std::string& name) {
  return *read_text_file(fs::path(source_folder()) / "examples" / name);
}

class Programs : public testing::Test {
protected:
  void SetUp() override {
    if (const auto toolchain = needed_toolchain({&Toolchain::nvcc}))
      cuda_ = toolchain->root.string();
    if (cudart_path().empty())
      skip_for_want_of("the CUDA runtime for the virtual GPU, which is not built here");
  }

  // The best of a run that has this kernel only.
  static Extraction extracted(const std::string& task_text, const std::string& kernel,
                              const ParameterValues& parameters = {}) {
    RecordedRun run(task_text, kernel, parameters);
    auto extraction = read_extraction(run.journal(), std::nullopt);
    EXPECT_TRUE(extraction) << (extraction ? "" : format_error(extraction.error()));
    return std::move(*extraction);
  }
  static std::string in_form(const Extraction& extraction, Form form) {
    const auto text = render(extraction, form, {"1.2.4", "program.cu"});
    EXPECT_TRUE(text) << (text ? "" : format_error(text.error()));
    return text ? *text : "";
  }
  static std::string rendered(const std::string& task_text, const std::string& kernel, Form form,
                              const ParameterValues& parameters = {}) {
    return in_form(extracted(task_text, kernel, parameters), form);
  }

  SubprocessResult shell(const std::string& command) const {
    SubprocessRequest request;
    request.arguments = {"/bin/sh", "-c", command};
    request.folder = folder_;
    request.time_limit_seconds = 240;
    const char* path = std::getenv("PATH");
    request.environment = {
        fmt::format("PATH={}/bench/coverage:{}", source_folder(), path != nullptr ? path : ""),
        "KERNEVO_CUDA=" + cuda_,
        "KERNEVO_CUDART=" + cudart_path(),
        "STUB_SOURCE=" + (folder_ / "extension.cu").string(),
        "PYTHONDONTWRITEBYTECODE=1",
        fmt::format("PYTHONPATH={}/torch_stub/python:{}", test_folder("unit/extract"),
                    folder_.string())};
    const auto result = run_subprocess(request);
    EXPECT_TRUE(result) << (result ? "" : format_error(result.error()));
    return result ? *result : SubprocessResult{};
  }
  void write(const std::string& name, const std::string& text) const { made_.write(name, text); }

  // Builds the program by the line in its own head and runs it; what it prints.
  std::string run_program(const std::string& source, const std::string& arguments = "2") const {
    write("program.cu", source);
    const std::size_t begin = source.find("// build    ") + 12;
    const auto built = shell(source.substr(begin, source.find('\n', begin) - begin));
    EXPECT_EQ(built.exit_status, 0) << built.output << built.error_output << source;
    const auto ran = shell("./bench " + arguments);
    EXPECT_EQ(ran.exit_status, 0) << ran.output << ran.error_output << source;
    EXPECT_THAT(ran.output, HasSubstr(" us  (modelled for the A100: 100 us)\n"));
    return ran.output;
  }

  static double sum_of(const std::string& output, const std::string& name) {
    const std::string label = "sum of " + name + " ";
    const std::size_t at = output.find(label);
    EXPECT_NE(at, std::string::npos) << output;
    return at == std::string::npos ? 0 : std::strtod(output.c_str() + at + label.size(), nullptr);
  }

  // Imports the module with a stand-in for PyTorch, then compiles its CUDA source together with
  // this program against stand-ins for PyTorch's headers, and runs it; what it prints.
  std::string run_module(const std::string& module, const std::string& python,
                         const std::string& program) const {
    write("module.py", module);
    const auto imported = shell("python3 -c '" + python + "'");
    EXPECT_EQ(imported.exit_status, 0) << imported.output << imported.error_output << module;
    const std::string cuda = *read_text_file(folder_ / "extension.cu");
    const std::string declaration = *read_text_file(folder_ / "extension.cu.h");
    write("main.cu", "#include <torch/types.h>\n#include <vector>\n#include <cmath>\n#include "
                     "<cstdio>\n" +
                         declaration + cuda + program);
    const auto built = shell(fmt::format("nvcc -std=c++17 --expt-relaxed-constexpr -I{}/torch_stub "
                                         "main.cu -o main",
                                         test_folder("unit/extract")));
    EXPECT_EQ(built.exit_status, 0) << built.output << built.error_output << module;
    const auto ran = shell("./main");
    EXPECT_EQ(ran.exit_status, 0) << ran.output << ran.error_output << module;
    return ran.output;
  }

  std::string cuda_;
  const TestFolder made_;
  const fs::path folder_ = made_.path();
};

TEST_F(Programs, Softmax) {
  const std::string kernel =
      "// @tune T 64 128\n" // a name that would spoil any template of the host
      "// @launch rows<<<M, T>>>(x, y, N)\n"
      "float larger(float a, float b) { return a > b ? a : b; }\n" // the device's, unsaid
      "namespace kernels {\n"
      "extern \"C\" __global__ void rows(const float* x, float* y, int N) {\n"
      "  __shared__ float part[T];\n"
      "  float top = -INFINITY, sum = 0;\n"
      "  for (int i = 0; i < N; ++i) top = larger(top, x[blockIdx.x * N + i]);\n"
      "  for (int i = threadIdx.x; i < N; i += T) sum += expf(x[blockIdx.x * N + i] - top);\n"
      "  part[threadIdx.x] = sum;\n  __syncthreads();\n"
      "  for (int n = T / 2; n > 0; n /= 2) {\n"
      "    if (threadIdx.x < n) part[threadIdx.x] += part[threadIdx.x + n];\n"
      "    __syncthreads();\n  }\n"
      "  for (int i = threadIdx.x; i < N; i += T) y[blockIdx.x * N + i] = expf(x[blockIdx.x * N + "
      "i] - top) / part[0];\n"
      "}\n}\n";
  const std::string source =
      rendered(task("softmax", "[[37, 100], [64, 33]]"), kernel, Form::cu, {{"T", 128}});
  const std::string output = run_program(source);
  EXPECT_NEAR(sum_of(output, "y"), 37, 1e-3); // every row sums to one
  EXPECT_NEAR(sum_of(output.substr(output.find("64x33")), "y"), 64, 1e-3);
  // One shape by name, and names that do not exist.
  EXPECT_THAT(shell("./bench 1 64x33").output, testing::Not(HasSubstr("37x100")));
  const auto refused = shell("./bench 1 1x1");
  EXPECT_EQ(refused.exit_status, 2);
  EXPECT_EQ(refused.error_output, "there is no shape '1x1'; there are 37x100 64x33\n");
  EXPECT_EQ(shell("./bench nonsense").exit_status, 2);
}

// The same inputs whatever the kernel, so that two kernels agree.
TEST_F(Programs, MatmulAgreesWithTheNaiveKernel) {
  const std::string text = task("matmul", "[[48, 40, 64]]");
  const double naive =
      sum_of(run_program(rendered(text, example("matmul/naive.cu"), Form::cu)), "C");
  const double tiled = sum_of(
      run_program(rendered(text, example("matmul/tiled.cu"), Form::cu, {{"TILE", 32}})), "C");
  EXPECT_NEAR(naive, tiled, 1e-3 * std::abs(naive) + 1e-3);
  EXPECT_NE(naive, 0);
}

TEST_F(Programs, HalfPrecisionAgrees) {
  const std::string text = task("matmul", "[[32, 48, 64]]", "float16");
  const std::string naive =
      "// @launch mm<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, C, M, N, K)\n"
      "__global__ void mm(const half* A, const half* B, half* C, int M, int N, int K) {\n"
      "  int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;\n"
      "  if (r >= M || c >= N) return;\n  float sum = 0;\n"
      "  for (int k = 0; k < K; ++k) sum += float(A[r * K + k]) * float(B[k * N + c]);\n"
      "  C[r * N + c] = sum;\n}\n";
  const double plain = sum_of(run_program(rendered(text, naive, Form::cu)), "C");
  const double tensor =
      sum_of(run_program(rendered(text, example("matmul/tensor_core_fp16.cu"), Form::cu)), "C");
  EXPECT_NEAR(plain, tensor, 0.5); // 1536 elements rounded to half
  EXPECT_NE(plain, 0);
}

// Two launches with scratch between them, more than 48 KB of shared memory, a cooperative launch,
// and an instantiation for every shape.
TEST_F(Programs, LaunchesOfAllKinds) {
  const std::string kernel =
      "// @tune BLOCK 64\n"
      "// @scratch part float [ceil_div(N, BLOCK)]\n"
      "// @launch scale<BLOCK, N><<<ceil_div(N, BLOCK), BLOCK, 64 * 1024>>>(x, y, part, alpha)\n"
      "// @launch cooperative finish<<<2, 32>>>(y, part, N)\n"
      "#include <cooperative_groups.h>\n"
      "template <int threads, int length> __global__ void scale(const float* x, float* y, float* "
      "part, float a) {\n"
      "  extern __shared__ float room[];\n"
      "  room[16000 + threadIdx.x] = a;\n  __syncthreads();\n"
      "  int i = blockIdx.x * threads + threadIdx.x;\n"
      "  if (i < length) y[i] = x[i] > 0 ? x[i] : room[16000 + threadIdx.x] * x[i];\n"
      "  if (threadIdx.x == 0) part[blockIdx.x] = 1;\n}\n"
      "__global__ void finish(float* y, const float* part, int N) {\n"
      "  cooperative_groups::this_grid().sync();\n"
      "  for (int i = blockIdx.x * 32 + threadIdx.x; i < N; i += 64) y[i] *= part[i / BLOCK];\n}\n";
  const std::string source =
      rendered(task("leaky_relu", "[[1000], [130]]"), kernel, Form::cu, {{"BLOCK", 64}});
  EXPECT_THAT(source, HasSubstr("if (N == 1000) {"));
  EXPECT_THAT(source, HasSubstr("::scale<64, 130><<<"));
  const std::string output = run_program(source);
  const std::string naive = "// @launch relu<<<ceil_div(N, 64), 64>>>(x, y, N, alpha)\n"
                            "__global__ void relu(const float* x, float* y, int N, float a) {\n"
                            "  int i = blockIdx.x * 64 + threadIdx.x;\n"
                            "  if (i < N) y[i] = x[i] > 0 ? x[i] : a * x[i];\n}\n";
  const std::string expected =
      run_program(rendered(task("leaky_relu", "[[1000], [130]]"), naive, Form::cu));
  EXPECT_EQ(sum_of(output, "y"), sum_of(expected, "y"));
  EXPECT_EQ(sum_of(output.substr(output.find("\n130")), "y"),
            sum_of(expected.substr(expected.find("\n130")), "y"));
  // The module knows these sizes only.
  const std::string module =
      rendered(task("leaky_relu", "[[1000], [130]]"), kernel, Form::torch, {{"BLOCK", 64}});
  EXPECT_EQ(run_module(module, "import module",
                       "int main() {\n"
                       "  torch::Tensor x({130}, torch::kFloat);\n"
                       "  std::vector<float> v(130, -2.0f);\n"
                       "  cudaMemcpy(x.data_ptr(), v.data(), 520, cudaMemcpyHostToDevice);\n"
                       "  torch::Tensor y = kernevo_forward(x, 0.25);\n"
                       "  cudaMemcpy(v.data(), y.data_ptr(), 520, cudaMemcpyDeviceToHost);\n"
                       "  std::printf(\"%g %g\\n\", v[0], v[129]);\n}\n"),
            "-0.5 -0.5\n");
}

// Inputs that change are restored, indices stay inside their table at every shape.
TEST_F(Programs, InputsOfAllKinds) {
  const std::string axpy = "// @launch axpy<<<ceil_div(N, 64), 64>>>(x, y, N, alpha)\n"
                           "__global__ void axpy(const float* x, float* y, int N, float a) {\n"
                           "  int i = blockIdx.x * 64 + threadIdx.x;\n"
                           "  if (i < N) y[i] += a * x[i];\n}\n";
  run_program(rendered(task("axpy", "[[1000]]"), axpy, Form::cu), "3");
  const std::string gather =
      "// @launch gather<<<T, 32>>>(indices, table, y, D)\n"
      "__global__ void gather(const int* indices, const float* table, float* y, int D) {\n"
      "  for (int d = threadIdx.x; d < D; d += 32) y[blockIdx.x * D + d] = "
      "table[indices[blockIdx.x] * D + d];\n}\n";
  const std::string source =
      rendered(task("embedding", "[[64, 10, 33], [32, 100, 8]]"), gather, Form::cu);
  EXPECT_THAT(source, HasSubstr("shape.high_indices"));
  run_program(source);
}

TEST_F(Programs, ModuleComputesSoftmax) {
  const std::string module =
      rendered(task("softmax", "[[37, 100]]"), example("softmax/online.cu"), Form::torch);
  const std::string python =
      "import ast, module\n"
      "m = module.ModelNew()\nm.forward(\"x\")\n"
      "assert module._extension.calls == [(\"x\",)], module._extension.calls\n"
      "assert module.get_init_inputs() == []\n"
      "assert \"torch.randn((37, 100,))\" in open(\"module.py\").read()\n";
  const std::string program =
      "int main() {\n"
      "  torch::Tensor x({5, 70}, torch::kFloat);\n"
      "  std::vector<float> host(350);\n"
      "  for (int i = 0; i < 350; ++i) host[i] = float(i % 13) / 3;\n"
      "  cudaMemcpy(x.data_ptr(), host.data(), 1400, cudaMemcpyHostToDevice);\n"
      "  torch::Tensor y = kernevo_forward(x);\n"
      "  std::vector<float> out(350);\n"
      "  cudaMemcpy(out.data(), y.data_ptr(), 1400, cudaMemcpyDeviceToHost);\n"
      "  double worst = 0;\n"
      "  for (int r = 0; r < 5; ++r) {\n"
      "    double sum = 0;\n"
      "    for (int c = 0; c < 70; ++c) sum += std::exp(double(host[r * 70 + c]));\n"
      "    for (int c = 0; c < 70; ++c)\n"
      "      worst = std::max(worst, std::abs(std::exp(double(host[r * 70 + c])) / sum - out[r * "
      "70 "
      "+ c]));\n  }\n"
      "  std::printf(worst < 1e-6 ? \"right\\n\" : \"worst %g\\n\", worst);\n"
      "  std::printf(\"%lld %lld\\n\", (long long)y.size(0), (long long)y.size(1));\n"
      "  std::fflush(stdout);\n"
      "  kernevo_forward(torch::Tensor({5, 70}, torch::kHalf));\n}\n";
  write("module.py", module);
  // The last call has another dtype: refused, with exit code 3 of the stand-in.
  const std::string refusing = program;
  const std::string good = program.substr(0, program.find("  std::fflush")) + "}\n";
  EXPECT_EQ(run_module(module, python, good), "right\n5 70\n");
  write("main.cu", "#include <torch/types.h>\n#include <vector>\n#include <cmath>\n#include "
                   "<cstdio>\n" +
                       *read_text_file(folder_ / "extension.cu") + refusing);
  ASSERT_EQ(shell(fmt::format("nvcc -std=c++17 -I{}/torch_stub main.cu -o main",
                              test_folder("unit/extract")))
                .exit_status,
            0);
  const auto refused = shell("./main");
  EXPECT_EQ(refused.exit_status, 3);
  EXPECT_THAT(refused.output, HasSubstr("refused: tensor.scalar_type() == dtype"));
}

// Scalars and attributes are the constructor's, sizes come from the tensors, P and Q follow.
TEST_F(Programs, ModuleSignatures) {
  const std::string conv =
      "// @where C % 2 == 0\n"
      "// @launch conv<<<ceil_div(N * K * P * Q, 64), 64>>>(x, w, y, N, C, H, W, K, R, S, stride, "
      "padding, P, Q)\n"
      "__global__ void conv(const float* x, const float* w, float* y, int N, int C, int H, int W, "
      "int K, int R, int S, int stride, int padding, int P, int Q) {\n"
      "  int i = blockIdx.x * 64 + threadIdx.x;\n  if (i >= N * K * P * Q) return;\n"
      "  int q = i % Q, p = i / Q % P, k = i / Q / P % K, n = i / Q / P / K;\n  float sum = 0;\n"
      "  for (int c = 0; c < C; ++c) for (int r = 0; r < R; ++r) for (int s = 0; s < S; ++s) {\n"
      "    int h = p * stride + r - padding, v = q * stride + s - padding;\n"
      "    if (h >= 0 && h < H && v >= 0 && v < W) sum += x[((n * C + c) * H + h) * W + v] * w[((k "
      "* C + c) * R + r) * S + s];\n  }\n  y[i] = sum;\n}\n";
  const std::string module =
      rendered(task("conv2d", "[[1, 4, 9, 11, 8, 3, 3]]", "float32", "stride: 2\npadding: 1\n"),
               conv, Form::torch);
  EXPECT_THAT(module, HasSubstr("TORCH_CHECK(C % 2 == 0, "));
  const std::string output = run_module(
      module,
      "import module, inspect\n"
      "s = inspect.signature(module.ModelNew.__init__)\n"
      "assert str(s) == \"(self, groups=1, padding=1, stride=2)\", s\n"
      "module.ModelNew(stride=3).forward(\"x\", \"w\")\n"
      "assert module._extension.calls == [(\"x\", \"w\", 1, 1, 3)]\n",
      "int main() {\n"
      "  torch::Tensor x({2, 2, 5, 6}, torch::kFloat), w({3, 2, 3, 3}, torch::kFloat);\n"
      "  std::vector<float> one(120, 1.0f);\n"
      "  cudaMemcpy(x.data_ptr(), one.data(), 480, cudaMemcpyHostToDevice);\n"
      "  cudaMemcpy(w.data_ptr(), one.data(), 216, cudaMemcpyHostToDevice);\n"
      "  torch::Tensor y = kernevo_forward(x, w, 1, 0, 1);\n"
      "  std::vector<float> v(72);\n"
      "  cudaMemcpy(v.data(), y.data_ptr(), 288, cudaMemcpyDeviceToHost);\n"
      "  std::printf(\"%d: %lld %lld, %g %g\\n\", (int)y.dim(), (long long)y.size(2), (long "
      "long)y.size(3), v[0], v[71]);\n}\n");
  EXPECT_EQ(output, "4: 3 4, 18 18\n");

  const std::string sum =
      "// @launch sums<<<ceil_div(OUTER * INNER, 64), 64>>>(x, y, OUTER, R, INNER)\n"
      "__global__ void sums(const float* x, float* y, int OUTER, int R, int INNER) {\n"
      "  int i = blockIdx.x * 64 + threadIdx.x;\n  if (i >= OUTER * INNER) return;\n"
      "  float s = 0;\n  for (int r = 0; r < R; ++r) s += x[(i / INNER * R + r) * INNER + i % "
      "INNER];\n  y[i] = s;\n}\n";
  write("module.py",
        rendered(task("reduce_sum", "[[4, 6, 8]]", "float32", "axis: 1\n"), sum, Form::torch));
  const auto reduced = shell("python3 -c '"
                             "import module\n"
                             "class T:\n"
                             "    shape = (4, 6, 8)\n"
                             "    def dim(self): return 3\n"
                             "    def reshape(self, *sizes): return sizes\n"
                             "y = module.ModelNew().forward(T())\n"
                             "assert module._extension.calls == [((4, 6, 8),)]\n"
                             "assert y.sizes == ((4, 8),), y.sizes\n"
                             "y = module.ModelNew(axis=-1).forward(T())\n"
                             "assert module._extension.calls[1] == ((24, 8, 1),)\n"
                             "assert y.sizes == ((4, 6),), y.sizes\n'");
  EXPECT_EQ(reduced.exit_status, 0) << reduced.error_output;
}

// Every operation of the catalogue with its naive kernel: both forms are written, and Python takes
// the modules.
TEST_F(Programs, EveryOperationOfTheCatalogue) {
  std::string imports = "import importlib, inspect\n";
  for (const OperationInfo& operation : operations()) {
    const DType dtype = operation.dtypes.back();
    const auto starter = make_starter(operation.name, dtype, "A100");
    ASSERT_TRUE(starter) << operation.name;
    const Extraction naive = extracted(starter->task_yaml, starter->kernel_source);
    EXPECT_THAT(in_form(naive, Form::cu), HasSubstr("<<<sizes::extent(")) << operation.name;
    write("module_" + operation.name + ".py", in_form(naive, Form::torch));
    imports += fmt::format("m = importlib.import_module(\"module_{}\")\n"
                           "m.ModelNew(*m.get_init_inputs())\n"
                           "inspect.signature(m.get_inputs)\n",
                           operation.name);
  }
  const auto imported = shell("python3 -c '" + imports + "'");
  EXPECT_EQ(imported.exit_status, 0) << imported.error_output;
}

} // namespace
} // namespace kernevo::extract
