#include "kernevo/kernel/find_kernels.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>

namespace kernevo {

namespace {

using Tokens = std::vector<SourceToken>;

// How far a declaration's parts may lie from its __global__; bounds the work on hostile sources.
constexpr std::size_t kReach = 500;

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Attributes that look like a call between __global__ and the function's name.
bool is_attribute(std::string_view name) {
  static constexpr std::array<std::string_view, 9> attributes = {
      "__launch_bounds__", "__maxnreg__", "__cluster_dims__", "__block_size__", "__attribute__",
      "alignas",           "__align__",   "decltype",         "__declspec"};
  return std::find(attributes.begin(), attributes.end(), name) != attributes.end();
}

// The index after the parenthesis that closes the one at `open`.
std::size_t skip_parentheses(const Tokens& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i].text == "(")
      ++depth;
    else if (tokens[i].text == ")" && --depth == 0)
      return i + 1;
  }
  return tokens.size();
}

// The name of the function declared by the __global__ at `start`; empty when there is none.
std::string_view declared_name(const Tokens& tokens, std::size_t start) {
  const std::size_t end = std::min(tokens.size(), start + kReach);
  for (std::size_t i = start + 1; i + 1 < end;) {
    const SourceToken& token = tokens[i];
    if (token.text == ";" || token.text == "{" || token.text == "}")
      return {};
    if (token.kind == SourceToken::Kind::identifier && tokens[i + 1].text == "(") {
      if (!is_attribute(token.text))
        return token.text;
      i = skip_parentheses(tokens, i + 1);
      continue;
    }
    ++i;
  }
  return {};
}

// Whether `template <...>` stands before the declaration that contains token `at`.
bool is_template(const Tokens& tokens, std::size_t at) {
  const std::size_t first = at > kReach ? at - kReach : 0;
  for (std::size_t i = at; i > first; --i) {
    const SourceToken& token = tokens[i - 1];
    if (token.preprocessor)
      continue;
    if (token.text == ";" || token.text == "{" || token.text == "}")
      return false;
    if (token.text == "template")
      // template<> is a specialisation and `template __global__` an instantiation; both need the
      // primary template, so calling them templates too is right.
      return true;
  }
  return false;
}

bool is_host_header(std::string_view header) {
  static constexpr std::array<std::string_view, 17> host_headers = {
      "iostream", "fstream", "sstream",       "string",     "vector",   "map",
      "chrono",   "random",  "thread",        "memory",     "stdlib.h", "cstdlib",
      "numeric",  "iomanip", "unordered_map", "functional", "stdexcept"};
  static constexpr std::array<std::string_view, 8> host_folders = {
      "torch/", "ATen/", "c10/", "pybind11/", "thrust/", "cublas", "cudnn", "Python.h"};
  return std::find(host_headers.begin(), host_headers.end(), header) != host_headers.end() ||
         std::any_of(host_folders.begin(), host_folders.end(),
                     [&](std::string_view folder) { return header.starts_with(folder); });
}

bool is_host_call(std::string_view name) {
  static constexpr std::array<std::string_view, 16> host_calls = {
      "cudaMalloc",    "cudaFree",        "cudaMemcpy",       "cudaMemset",
      "cudaLaunch",    "cudaDeviceSync",  "cudaGetLastError", "cudaPeekAtLastError",
      "cudaStream",    "cudaEvent",       "cudaFuncSet",      "cudaGetDevice",
      "cudaSetDevice", "PYBIND11_MODULE", "TORCH_LIBRARY",    "cudaOccupancy"};
  return std::any_of(host_calls.begin(), host_calls.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

} // namespace

FoundKernels find_cuda_kernels(const SourceScan& scan) {
  FoundKernels found;
  std::set<std::string_view> seen; // a hostile file can declare tens of thousands
  for (std::size_t i = 0; i < scan.tokens.size(); ++i) {
    if (scan.tokens[i].text != "__global__")
      continue;
    if (scan.tokens[i].defines) {
      found.incomplete = true;
      continue;
    }
    const std::string_view name = declared_name(scan.tokens, i);
    if (name.empty() || !seen.insert(name).second)
      continue;
    found.names.emplace_back(name);
    if (is_template(scan.tokens, i))
      found.templates.emplace_back(name);
  }
  return found;
}

FoundKernels find_triton_kernels(const SourceScan& scan) {
  FoundKernels found;
  const Tokens& tokens = scan.tokens;
  bool jit = false;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].text == "@")
      jit = jit ||
            (i + 3 < tokens.size() && tokens[i + 1].text == "triton" &&
             tokens[i + 3].text == "jit") ||
            tokens[i + 1].text == "jit";
    if (tokens[i].text != "def")
      continue;
    if (jit && !contains(found.names, tokens[i + 1].text))
      found.names.emplace_back(tokens[i + 1].text);
    jit = false;
  }
  return found;
}

std::optional<Error> find_host_code(const SourceScan& scan, const std::string& file) {
  auto refuse = [&](std::string what, int line, int column) {
    return Error{ErrorCode::input, "a kernel file holds device code only: " + std::move(what),
                 Place{file, line, column},
                 "describe launches with '// @launch name<<<grid, block>>>(arguments)'"};
  };
  std::optional<Error> first;
  auto offer = [&](Error error) {
    if (!first || std::pair(error.place->line, error.place->column) <
                      std::pair(first->place->line, first->place->column))
      first = std::move(error);
  };
  for (const IncludeLine& include : scan.includes)
    if (!include.conditional && !include.computed && is_host_header(include.header)) {
      offer(refuse(fmt::format("<{}> is a host header", include.header), include.line,
                   include.column));
      break;
    }
  const Tokens& tokens = scan.tokens;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const SourceToken& token = tokens[i];
    if (token.preprocessor)
      continue;
    const bool called = i + 1 < tokens.size() && tokens[i + 1].text == "(";
    std::string what;
    if (token.text == "<<<")
      what = "'<<<' launches a kernel from code";
    else if (token.text == "main" && called && i > 0 &&
             (tokens[i - 1].text == "int" || tokens[i - 1].text == "void"))
      what = "'main' is a host function";
    else if (token.kind == SourceToken::Kind::identifier && called && is_host_call(token.text))
      what = fmt::format("'{}' is a host call", token.text);
    if (!what.empty()) {
      offer(refuse(std::move(what), token.line, token.column));
      break;
    }
  }
  return first;
}

} // namespace kernevo
