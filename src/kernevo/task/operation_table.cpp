#include "kernevo/task/operation.h"

#include <algorithm>
#include <fmt/format.h>

namespace kernevo {
namespace {

constexpr Distribution kNormal{Distribution::Kind::normal, 0.0, 1.0};
constexpr Distribution kPositive{Distribution::Kind::uniform, 0.5, 2.0};
// The largest index follows from the problem's dimensions.
constexpr Distribution kIndices{Distribution::Kind::indices, 0.0, 0.0};

const std::vector<DType> kFloats = {DType::float32, DType::float16, DType::bfloat16,
                                    DType::float64};
const std::vector<DType> kAll = {DType::float32, DType::float16, DType::bfloat16,
                                 DType::float64, DType::int32,   DType::int8};

using Shape = std::vector<std::string>;

ArgumentTemplate in(std::string name, Shape shape, Distribution initial = kNormal) {
  return {std::move(name), Direction::in, ElementType::task, std::move(shape), initial, false};
}

ArgumentTemplate fixed(std::string name, Shape shape, Distribution initial) {
  return {std::move(name), Direction::in, ElementType::task, std::move(shape), initial, true};
}

ArgumentTemplate indices(std::string name, Shape shape) {
  return {std::move(name), Direction::in, ElementType::index, std::move(shape), kIndices, true};
}

ArgumentTemplate out(std::string name, Shape shape, ElementType type = ElementType::task) {
  return {std::move(name), Direction::out, type, std::move(shape), {}, false};
}

DimensionSpec size(std::string name, std::string meaning) {
  return {std::move(name), false, 0, std::move(meaning)};
}

DimensionSpec attribute(std::string name, std::int64_t fallback, std::string meaning) {
  return {std::move(name), true, fallback, std::move(meaning)};
}

constexpr auto kTile = Scaling::tile;
constexpr auto kBatch = Scaling::batch;
constexpr auto kKeep = Scaling::keep;

std::vector<DimensionSpec> product_sizes(bool batched) {
  std::vector<DimensionSpec> sizes = {size("M", "rows of C"), size("N", "columns of C"),
                                      size("K", "length of the sums")};
  if (batched)
    sizes.insert(sizes.begin(), size("BATCH", "independent products"));
  return sizes;
}

Operation product(std::string name, std::vector<std::string> aliases, std::string semantics,
                  bool transposed_a, bool transposed_b) {
  Operation op;
  op.info = {std::move(name), std::move(aliases), std::move(semantics), product_sizes(false), kAll};
  op.family = Family::matmul;
  op.transposed_a = transposed_a;
  op.transposed_b = transposed_b;
  op.scaling = {kTile, kTile, kTile};
  op.arguments = {in("A", transposed_a ? Shape{"K", "M"} : Shape{"M", "K"}),
                  in("B", transposed_b ? Shape{"N", "K"} : Shape{"K", "N"}),
                  out("C", {"M", "N"}, ElementType::accumulator)};
  op.flops = "2 * M * N * K";
  op.work = "M * N * K";
  op.launch = "kernel<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, C, M, N, K)";
  return op;
}

Operation batched_product() {
  Operation op = product("batched_matmul", {"bmm"}, "C[b] = A[b] @ B[b]", false, false);
  op.info.dimensions = product_sizes(true);
  op.scaling = {kBatch, kTile, kTile, kTile};
  for (ArgumentTemplate& argument : op.arguments)
    argument.shape.insert(argument.shape.begin(), "BATCH");
  op.flops = "2 * BATCH * M * N * K";
  op.work = "BATCH * M * N * K";
  op.launch = "kernel<<<dim3(ceil_div(N, 16), ceil_div(M, 16), BATCH), dim3(16, 16)>>>"
              "(A, B, C, BATCH, M, N, K)";
  return op;
}

Operation fused_product(const std::string& function) {
  const bool plain = function == "identity";
  Operation op = product(plain ? "matmul_bias" : "matmul_bias_" + function,
                         plain ? std::vector<std::string>{"linear", "gemm_bias"}
                               : std::vector<std::string>{"linear_" + function},
                         plain ? "C = A @ B + bias" : fmt::format("C = {}(A @ B + bias)", function),
                         false, false);
  op.function = function;
  op.bias = true;
  op.info.dtypes = kFloats;
  op.arguments.insert(op.arguments.begin() + 2, in("bias", {"N"}));
  op.flops = "2 * M * N * K + M * N";
  op.launch =
      "kernel<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(A, B, bias, C, M, N, K)";
  return op;
}

Operation matvec() {
  Operation op;
  op.info = {"matvec",
             {"gemv"},
             "y[M] = A[M,N] @ x[N]",
             {size("M", "rows of A"), size("N", "length of the sums")},
             kAll};
  op.family = Family::matvec;
  op.scaling = {kTile, kTile};
  op.arguments = {in("A", {"M", "N"}), in("x", {"N"}), out("y", {"M"}, ElementType::accumulator)};
  op.flops = "2 * M * N";
  op.work = "M * N";
  op.launch = "kernel<<<ceil_div(M, 256), 256>>>(A, x, y, M, N)";
  return op;
}

Operation unary(std::string function, std::string semantics, std::vector<DType> dtypes,
                Distribution initial = kNormal, std::vector<std::string> aliases = {}) {
  Operation op;
  op.info = {function,
             std::move(aliases),
             std::move(semantics),
             {size("N", "elements")},
             std::move(dtypes)};
  op.family = Family::unary;
  op.function = std::move(function);
  op.scaling = {kTile};
  op.arguments = {initial == kNormal ? in("x", {"N"}) : fixed("x", {"N"}, initial),
                  out("y", {"N"})};
  op.flops = "N";
  op.work = "N";
  op.launch = "kernel<<<ceil_div(N, 256), 256>>>(x, y, N)";
  return op;
}

Operation unary_with_alpha(std::string function, std::string semantics, double alpha) {
  Operation op = unary(std::move(function), std::move(semantics), kFloats);
  op.scalars = {{"alpha", DType::float32, alpha}};
  op.launch = "kernel<<<ceil_div(N, 256), 256>>>(x, y, N, alpha)";
  return op;
}

Operation binary(std::string function, std::string semantics,
                 std::vector<std::string> aliases = {}) {
  Operation op;
  const bool divides = function == "div";
  op.info = {function, std::move(aliases), std::move(semantics), {size("N", "elements")}, kAll};
  op.family = Family::binary;
  op.function = std::move(function);
  op.scaling = {kTile};
  op.arguments = {in("A", {"N"}), divides ? fixed("B", {"N"}, kPositive) : in("B", {"N"}),
                  out("C", {"N"})};
  op.flops = "N";
  op.work = "N";
  op.launch = "kernel<<<ceil_div(N, 256), 256>>>(A, B, C, N)";
  return op;
}

Operation axpy() {
  Operation op;
  op.info = {"axpy", {"saxpy"}, "y = alpha * x + y", {size("N", "elements")}, kFloats};
  op.family = Family::axpy;
  op.scaling = {kTile};
  op.arguments = {in("x", {"N"}),
                  {"y", Direction::inout, ElementType::task, {"N"}, kNormal, false}};
  op.scalars = {{"alpha", DType::float32, 1.7}};
  op.flops = "2 * N";
  op.work = "N";
  op.launch = "kernel<<<ceil_div(N, 256), 256>>>(x, y, N, alpha)";
  return op;
}

Operation matrix_operation(std::string name, Family family, std::string semantics,
                           std::vector<DType> dtypes) {
  Operation op;
  op.info = {std::move(name),
             {},
             std::move(semantics),
             {size("M", "rows"), size("N", "columns")},
             std::move(dtypes)};
  op.family = family;
  op.scaling = {kTile, kTile};
  op.flops = "M * N";
  op.work = "M * N";
  return op;
}

Operation bias(const std::string& function) {
  const bool plain = function == "identity";
  Operation op =
      matrix_operation(plain ? "bias_add" : "bias_" + function, Family::bias,
                       plain ? "y = x + bias" : fmt::format("y = {}(x + bias)", function),
                       plain || function == "relu" ? kAll : kFloats);
  op.function = function;
  op.arguments = {in("x", {"M", "N"}), in("bias", {"N"}), out("y", {"M", "N"})};
  op.launch = "kernel<<<ceil_div(M * N, 256), 256>>>(x, bias, y, M, N)";
  return op;
}

Operation reduction(std::string name, Family family, std::string function, std::string semantics,
                    std::vector<DType> dtypes, ElementType result) {
  Operation op;
  op.info = {std::move(name),
             {},
             std::move(semantics),
             {size("OUTER", "product of the sizes before the axis"),
              size("R", "size along the axis"), size("INNER", "product of the sizes after it"),
              attribute("axis", -1, "the axis reduced, counted from the end when negative")},
             std::move(dtypes)};
  op.family = family;
  op.function = std::move(function);
  op.any_rank = true;
  op.scaling = {kTile, kTile, kTile};
  op.arguments = {in("x", {"OUTER", "R", "INNER"}), out("y", {"OUTER", "INNER"}, result)};
  op.flops = "OUTER * R * INNER";
  op.work = "OUTER * R * INNER";
  op.launch = "kernel<<<ceil_div(OUTER * INNER, 256), 256>>>(x, y, OUTER, R, INNER)";
  return op;
}

Operation row_operation(std::string name, Family family, std::string semantics,
                        std::vector<ArgumentTemplate> arguments, const std::string& parameters) {
  Operation op = matrix_operation(std::move(name), family, std::move(semantics), kFloats);
  op.arguments = std::move(arguments);
  op.launch = fmt::format("kernel<<<M, 256>>>({})", parameters);
  return op;
}

Operation with_eps(Operation op) {
  op.scalars = {{"eps", DType::float32, 1e-5}};
  return op;
}

Operation channel_norm(std::string name, Family family, std::string semantics) {
  Operation op;
  const bool grouped = family == Family::group_norm;
  op.info = {std::move(name),
             {},
             std::move(semantics),
             {size("N", "samples"), size("C", "channels"), size("HW", "pixels")},
             kFloats};
  op.family = family;
  op.scaling = {kBatch, kTile, kTile};
  op.arguments = {in("x", {"N", "C", "HW"})};
  op.flops = "2 * N * C * HW";
  op.work = "N * C * HW";
  if (grouped) {
    op.info.dimensions.push_back(size("G", "groups of channels"));
    op.scaling.push_back(kKeep);
    op.launch = "kernel<<<N * G, 256>>>(x, gamma, beta, y, N, C, HW, G, eps)";
  } else {
    op.arguments.push_back(in("mean", {"C"}));
    op.arguments.push_back(fixed("var", {"C"}, kPositive));
    op.launch = "kernel<<<ceil_div(N * C * HW, 256), 256>>>"
                "(x, mean, var, gamma, beta, y, N, C, HW, eps)";
  }
  op.arguments.push_back(in("gamma", {"C"}));
  op.arguments.push_back(in("beta", {"C"}));
  op.arguments.push_back(out("y", {"N", "C", "HW"}));
  return with_eps(std::move(op));
}

Operation convolution(bool two) {
  Operation op;
  op.info.name = two ? "conv2d" : "conv1d";
  op.info.semantics = "y = x convolved with w (cross-correlation, zero padding)";
  op.info.dtypes = kAll;
  op.info.dimensions = {size("N", "samples"), size("C", "input channels")};
  op.info.dimensions.push_back(size(two ? "H" : "L", two ? "input height" : "input length"));
  if (two)
    op.info.dimensions.push_back(size("W", "input width"));
  op.info.dimensions.push_back(size("K", "output channels"));
  op.info.dimensions.push_back(size("R", two ? "filter height" : "filter length"));
  if (two)
    op.info.dimensions.push_back(size("S", "filter width"));
  op.info.dimensions.push_back(attribute("stride", 1, "step of the filter"));
  op.info.dimensions.push_back(attribute("padding", 0, "zeros on each side"));
  op.info.dimensions.push_back(attribute("groups", 1, "independent groups of channels"));
  op.family = Family::conv;
  op.scaling = two ? std::vector<Scaling>{kBatch, kTile, kTile, kTile, kTile, kKeep, kKeep}
                   : std::vector<Scaling>{kBatch, kTile, kTile, kTile, kKeep};
  const auto result = ElementType::accumulator;
  if (two) {
    op.arguments = {in("x", {"N", "C", "H", "W"}), in("w", {"K", "C / groups", "R", "S"}),
                    out("y", {"N", "K", "P", "Q"}, result)};
    op.flops = "2 * N * K * P * Q * (C / groups) * R * S";
    op.work = "N * K * P * Q * (C / groups) * R * S";
    // With a stride wider than the filter some of the input is never needed.
    op.reads = {"N * C * min(H, P * R) * min(W, Q * S)", "", ""};
    op.launch = "kernel<<<ceil_div(N * K * P * Q, 256), 256>>>"
                "(x, w, y, N, C, H, W, K, R, S, stride, padding, groups)";
  } else {
    op.arguments = {in("x", {"N", "C", "L"}), in("w", {"K", "C / groups", "R"}),
                    out("y", {"N", "K", "P"}, result)};
    op.flops = "2 * N * K * P * (C / groups) * R";
    op.work = "N * K * P * (C / groups) * R";
    op.reads = {"N * C * min(L, P * R)", "", ""};
    op.launch = "kernel<<<ceil_div(N * K * P, 256), 256>>>"
                "(x, w, y, N, C, L, K, R, stride, padding, groups)";
  }
  return op;
}

Operation pool(const std::string& function, bool two) {
  Operation op;
  op.info.name = fmt::format("{}_pool{}d", function, two ? 2 : 1);
  op.info.semantics = function == "max" ? "y = largest of each window (padding never wins)"
                                        : "y = mean of each window (padding counts as zeros)";
  op.info.dtypes = function == "max" ? kAll : kFloats;
  op.info.dimensions = {size("N", "samples"), size("C", "channels")};
  op.info.dimensions.push_back(size(two ? "H" : "L", two ? "input height" : "input length"));
  if (two)
    op.info.dimensions.push_back(size("W", "input width"));
  op.info.dimensions.push_back(attribute("kernel", 2, "extent of the window"));
  op.info.dimensions.push_back(attribute("stride", 2, "step of the window"));
  op.info.dimensions.push_back(attribute("padding", 0, "elements added on each side"));
  op.family = Family::pool;
  op.function = function;
  op.scaling = two ? std::vector<Scaling>{kBatch, kBatch, kTile, kTile}
                   : std::vector<Scaling>{kBatch, kBatch, kTile};
  if (two) {
    op.arguments = {in("x", {"N", "C", "H", "W"}), out("y", {"N", "C", "P", "Q"})};
    op.flops = "N * C * P * Q * kernel * kernel";
    op.reads = {"N * C * min(H, P * kernel) * min(W, Q * kernel)", ""};
    op.launch = "kernel<<<ceil_div(N * C * P * Q, 256), 256>>>"
                "(x, y, N, C, H, W, kernel, stride, padding)";
  } else {
    op.arguments = {in("x", {"N", "C", "L"}), out("y", {"N", "C", "P"})};
    op.flops = "N * C * P * kernel";
    op.reads = {"N * C * min(L, P * kernel)", ""};
    op.launch = "kernel<<<ceil_div(N * C * P, 256), 256>>>(x, y, N, C, L, kernel, stride, padding)";
  }
  op.work = op.flops;
  return op;
}

Operation embedding() {
  Operation op;
  op.info = {"embedding",
             {"gather"},
             "y[t] = table[indices[t]]",
             {size("T", "lookups"), size("V", "rows of the table"), size("D", "length of a row")},
             kAll};
  op.family = Family::embedding;
  op.scaling = {kTile, kTile, kTile};
  op.arguments = {indices("indices", {"T"}), in("table", {"V", "D"}), out("y", {"T", "D"})};
  op.flops = "0";
  op.work = "T * D + V * D";
  // Any row may be asked for any number of times; one row is the least that is read.
  op.reads = {"", "D", ""};
  op.launch = "kernel<<<ceil_div(T * D, 256), 256>>>(indices, table, y, T, V, D)";
  return op;
}

Operation attention() {
  Operation op;
  const Shape shape = {"B", "H", "L", "D"};
  op.info = {"attention",
             {"scaled_dot_product_attention", "sdpa"},
             "o = softmax(q @ k^T / sqrt(D)) @ v",
             {size("B", "samples"), size("H", "heads"), size("L", "sequence length"),
              size("D", "head size"),
              attribute("causal", 0, "1 when a position sees only itself and earlier ones")},
             kFloats};
  op.family = Family::attention;
  op.scaling = {kBatch, kBatch, kTile, kKeep};
  op.arguments = {in("q", shape), in("k", shape), in("v", shape), out("o", shape)};
  op.flops = "causal ? 2 * B * H * L * (L + 1) * D : 4 * B * H * L * L * D";
  op.work = "2 * B * H * L * L * D";
  op.launch = "kernel<<<dim3(ceil_div(L, 64), B * H), 64>>>(q, k, v, o, B, H, L, D, causal)";
  return op;
}

void add_elementwise(std::vector<Operation>& table) {
  constexpr Distribution positive{Distribution::Kind::uniform, 0.01, 100.0};
  table.push_back(unary("relu", "y = max(x, 0)", kAll));
  table.push_back(unary("gelu", "y = x * (1 + erf(x / sqrt(2))) / 2", kFloats));
  table.push_back(unary("gelu_tanh", "gelu by its tanh approximation", kFloats));
  table.push_back(unary("sigmoid", "y = 1 / (1 + exp(-x))", kFloats));
  table.push_back(unary("tanh", "y = tanh(x)", kFloats));
  table.push_back(unary("silu", "y = x * sigmoid(x)", kFloats, kNormal, {"swish"}));
  table.push_back(unary("exp", "y = exp(x)", kFloats));
  table.push_back(unary("log", "y = ln(x)", kFloats, positive));
  table.push_back(unary("sqrt", "y = sqrt(x)", kFloats, positive));
  table.push_back(unary("rsqrt", "y = 1 / sqrt(x)", kFloats, positive));
  table.push_back(unary("abs", "y = |x|", kAll));
  table.push_back(unary("neg", "y = -x", kAll));
  table.push_back(unary("square", "y = x * x", kAll));
  table.push_back(unary("softplus", "y = ln(1 + exp(x))", kFloats));
  table.push_back(unary("hardswish", "y = x * min(max(x + 3, 0), 6) / 6", kFloats));
  table.push_back(unary("mish", "y = x * tanh(softplus(x))", kFloats));
  table.push_back(unary("copy", "y = x", kAll));
  table.back().flops = "0";
  table.push_back(unary_with_alpha("leaky_relu", "y = x > 0 ? x : alpha * x", 0.01));
  table.push_back(unary_with_alpha("elu", "y = x > 0 ? x : alpha * (exp(x) - 1)", 1.0));
  table.push_back(binary("add", "C = A + B", {"vector_add", "vecadd", "elementwise_add"}));
  table.push_back(binary("sub", "C = A - B"));
  table.push_back(binary("mul", "C = A * B", {"elementwise_mul"}));
  table.push_back(binary("div", "C = A / B"));
  table.push_back(binary("maximum", "C = max(A, B)"));
  table.push_back(binary("minimum", "C = min(A, B)"));
  table.push_back(axpy());
  for (const char* function : {"identity", "relu", "gelu", "silu", "sigmoid", "tanh"})
    table.push_back(bias(function));
}

void add_reductions(std::vector<Operation>& table) {
  const auto sums = ElementType::accumulator;
  const auto same = ElementType::task;
  table.push_back(
      reduction("reduce_sum", Family::reduction, "sum", "y = sum of x along the axis", kAll, sums));
  table.back().info.aliases = {"sum"};
  table.push_back(reduction("reduce_mean", Family::reduction, "mean",
                            "y = mean of x along the axis", kFloats, same));
  table.back().info.aliases = {"mean"};
  table.push_back(reduction("reduce_max", Family::reduction, "max",
                            "y = largest of x along the axis", kAll, same));
  table.back().info.aliases = {"max"};
  table.push_back(reduction("reduce_min", Family::reduction, "min",
                            "y = smallest of x along the axis", kAll, same));
  table.back().info.aliases = {"min"};
  table.push_back(reduction("argmax", Family::argmax, "",
                            "y = index of the first largest of x along the axis", kAll,
                            ElementType::index));
}

void add_row_operations(std::vector<Operation>& table) {
  const Shape matrix = {"M", "N"};
  const std::vector<ArgumentTemplate> map = {in("x", matrix), out("y", matrix)};
  table.push_back(row_operation("softmax", Family::softmax,
                                "y = exp(x - max) / sum(exp(x - max)) along N", map, "x, y, M, N"));
  table.push_back(row_operation("log_softmax", Family::log_softmax,
                                "y = x - max - ln(sum(exp(x - max))) along N", map, "x, y, M, N"));
  table.push_back(row_operation(
      "cross_entropy", Family::cross_entropy, "loss = -log_softmax(logits)[label], per row",
      {in("logits", matrix), indices("labels", {"M"}), out("loss", {"M"})},
      "logits, labels, loss, M, N"));
  table.push_back(with_eps(row_operation(
      "layer_norm", Family::layer_norm, "y = (x - mean) / sqrt(var + eps) * gamma + beta along N",
      {in("x", matrix), in("gamma", {"N"}), in("beta", {"N"}), out("y", matrix)},
      "x, gamma, beta, y, M, N, eps")));
  table.back().info.aliases = {"layernorm"};
  table.push_back(with_eps(row_operation(
      "rms_norm", Family::rms_norm, "y = x / sqrt(mean(x^2) + eps) * gamma along N",
      {in("x", matrix), in("gamma", {"N"}), out("y", matrix)}, "x, gamma, y, M, N, eps")));
  table.back().info.aliases = {"rmsnorm"};
  table.push_back(channel_norm("batch_norm", Family::batch_norm,
                               "y = (x - mean) / sqrt(var + eps) * gamma + beta, per channel"));
  table.back().info.aliases = {"batchnorm"};
  table.push_back(
      channel_norm("group_norm", Family::group_norm,
                   "y = (x - mean) / sqrt(var + eps) * gamma + beta over each group of channels"));
  table.back().info.aliases = {"groupnorm"};
}

void add_movement(std::vector<Operation>& table) {
  Operation transpose = matrix_operation("transpose", Family::transpose, "y[N,M] = x[M,N]^T", kAll);
  transpose.flops = "0";
  transpose.arguments = {in("x", {"M", "N"}), out("y", {"N", "M"})};
  transpose.launch = "kernel<<<dim3(ceil_div(N, 16), ceil_div(M, 16)), dim3(16, 16)>>>(x, y, M, N)";
  table.push_back(std::move(transpose));
  Operation cumsum =
      matrix_operation("cumsum", Family::cumsum, "y = inclusive running sum of x along N", kAll);
  cumsum.info.aliases = {"scan", "prefix_sum", "cumulative_sum"};
  cumsum.arguments = {in("x", {"M", "N"}), out("y", {"M", "N"}, ElementType::accumulator)};
  cumsum.launch = "kernel<<<M, 256>>>(x, y, M, N)";
  table.push_back(std::move(cumsum));
}

std::vector<Operation> make_table() {
  std::vector<Operation> table;
  table.push_back(product("matmul", {"gemm", "mm"}, "C[M,N] = A[M,K] @ B[K,N]", false, false));
  table.push_back(product("matmul_nt", {}, "C[M,N] = A[M,K] @ B[N,K]^T", false, true));
  table.push_back(product("matmul_tn", {}, "C[M,N] = A[K,M]^T @ B[K,N]", true, false));
  table.push_back(product("matmul_tt", {}, "C[M,N] = A[K,M]^T @ B[N,K]^T", true, true));
  table.push_back(batched_product());
  table.push_back(matvec());
  for (const char* function : {"identity", "relu", "gelu", "silu"})
    table.push_back(fused_product(function));
  add_elementwise(table);
  add_reductions(table);
  add_row_operations(table);
  add_movement(table);
  table.push_back(convolution(false));
  table.push_back(convolution(true));
  for (const bool two : {true, false})
    for (const char* function : {"avg", "max"})
      table.push_back(pool(function, two));
  table.push_back(embedding());
  table.push_back(attention());
  return table;
}

} // namespace

const std::vector<Operation>& operation_table() {
  static const std::vector<Operation> table = make_table();
  return table;
}

const Operation* find_table_row(const std::string& name_or_alias) {
  for (const Operation& op : operation_table())
    if (op.info.name == name_or_alias || std::find(op.info.aliases.begin(), op.info.aliases.end(),
                                                   name_or_alias) != op.info.aliases.end())
      return &op;
  return nullptr;
}

DType element_type(ElementType type, DType task_dtype) {
  if (type == ElementType::index || (type == ElementType::accumulator && task_dtype == DType::int8))
    return DType::int32;
  return task_dtype;
}

std::vector<std::string> size_names(const Operation& operation) {
  std::vector<std::string> names;
  for (const DimensionSpec& dimension : operation.info.dimensions)
    if (!dimension.attribute)
      names.push_back(dimension.name);
  return names;
}

} // namespace kernevo
