#include "kernevo/vgpu/program/kernels.h"

#include "kernevo/vgpu/program/lower.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <fmt/format.h>
#include <memory>
#include <set>

namespace kernevo::vgpu {
namespace {

KernelInfo describe(const Program& program, const Code& code) {
  KernelInfo info;
  info.name = code.function->name;
  info.demangled = plain_name(info.name);
  for (std::size_t i = 0; i < code.parameters.size(); ++i) {
    const ptx::Variable& declared = code.function->parameters[i];
    const bool is_float = declared.type == ptx::Type::f32 || declared.type == ptx::Type::f64;
    const bool is_class = declared.type == ptx::Type::b8 && code.parameters[i].bytes != 0;
    info.parameters.push_back(
        {code.parameters[i].offset, code.parameters[i].bytes, is_float, is_class});
    info.parameter_bytes = code.parameters[i].offset + code.parameters[i].bytes;
  }
  info.static_shared = lay_out_shared(program, code.index).static_bytes;
  for (const ptx::Variable* variable : program.variables)
    if (variable->space == ptx::Space::constant)
      info.constants += variable->bytes;
  for (const auto& threads : {code.function->max_threads, code.function->required_threads})
    if (threads)
      info.most_threads =
          std::uint64_t{(*threads)[0]} * std::max((*threads)[1], 1U) * std::max((*threads)[2], 1U);
  info.instructions = code.function->instructions.size();
  return info;
}

std::string last_component(const std::string& name) {
  const auto colons = name.rfind("::");
  return colons == std::string::npos ? name : name.substr(colons + 2);
}

} // namespace

std::vector<std::uint32_t> reachable_functions(const Program& program, std::uint32_t kernel) {
  std::set<std::uint32_t> reached;
  std::vector<std::uint32_t> open = {kernel};
  while (!open.empty()) {
    const std::uint32_t index = open.back();
    open.pop_back();
    if (!reached.insert(index).second)
      continue;
    const Code& code = program.codes[index];
    open.insert(open.end(), code.callees.begin(), code.callees.end());
    if (code.indirect_calls)
      for (const Code& other : program.codes)
        if (!other.function->is_entry)
          open.push_back(other.index);
  }
  return {reached.begin(), reached.end()};
}

SharedLayout lay_out_shared(const Program& program, std::uint32_t kernel) {
  SharedLayout layout;
  layout.offsets.assign(program.variables.size(), kNowhere);
  std::set<std::uint32_t> used;
  for (const std::uint32_t function : reachable_functions(program, kernel))
    used.insert(program.codes[function].shared_variables.begin(),
                program.codes[function].shared_variables.end());
  std::uint64_t dynamic_alignment = 16;
  for (const std::uint32_t index : used) {
    const ptx::Variable& variable = *program.variables[index];
    const std::uint64_t alignment = std::max<std::uint32_t>(variable.alignment, 1);
    if (variable.unsized || variable.bytes == 0) {
      dynamic_alignment = std::max(dynamic_alignment, alignment);
      continue;
    }
    layout.static_bytes = (layout.static_bytes + alignment - 1) / alignment * alignment;
    layout.offsets[index] = layout.static_bytes;
    layout.static_bytes += variable.bytes;
  }
  layout.dynamic_base =
      (layout.static_bytes + dynamic_alignment - 1) / dynamic_alignment * dynamic_alignment;
  for (const std::uint32_t index : used)
    if (layout.offsets[index] == kNowhere)
      layout.offsets[index] = layout.dynamic_base;
  return layout;
}

std::string full_name(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  return status != 0 || demangled == nullptr ? mangled : std::string(demangled.get());
}

std::string plain_variable_name(const std::string& mangled) {
  // nvcc writes _ZZ6kernelPfE4tile for `tile` of kernel(float*); the demangler gives
  // "kernel(float*)::tile".
  const std::string whole = full_name(mangled);
  const auto colons = whole.rfind("::");
  return colons == std::string::npos ? whole : whole.substr(colons + 2);
}

std::string plain_name(const std::string& mangled) {
  std::string text = full_name(mangled);
  if (text == mangled)
    return text;
  // "void ns::f<float, 3>(float*)" -> "ns::f": template arguments and the anonymous namespace go,
  // then everything from the parameter list on, then the return type.
  const std::string anonymous = "(anonymous namespace)::";
  for (auto at = text.find(anonymous); at != std::string::npos; at = text.find(anonymous))
    text.erase(at, anonymous.size());
  std::string name;
  int depth = 0;
  for (const char c : text) {
    if (c == '>')
      --depth;
    if (depth == 0 && c == '(')
      break;
    if (depth == 0 && c != '>')
      name += c == '<' ? '\0' : c;
    if (c == '<')
      ++depth;
  }
  std::erase(name, '\0');
  const auto space = name.rfind(' ');
  return space == std::string::npos ? name : name.substr(space + 1);
}

std::vector<KernelInfo> kernels_of(const Program& program) {
  std::vector<KernelInfo> kernels;
  for (const Code& code : program.codes)
    if (code.function->is_entry && !code.function->is_declaration)
      kernels.push_back(describe(program, code));
  return kernels;
}

Result<KernelInfo> find_kernel(const Program& program, const std::string& name) {
  if (const auto exact = program.function_of.find(name); exact != program.function_of.end()) {
    const Code& code = program.codes[exact->second];
    if (code.function->is_entry && !code.function->is_declaration)
      return describe(program, code);
  }
  const std::vector<KernelInfo> kernels = kernels_of(program);
  std::vector<const KernelInfo*> matches;
  for (const KernelInfo& kernel : kernels)
    if (kernel.demangled == name || last_component(kernel.demangled) == name)
      matches.push_back(&kernel);
  if (matches.size() == 1)
    return *matches.front();
  std::string known;
  auto list = [&](const std::string& entry) { known += (known.empty() ? "" : ", ") + entry; };
  if (matches.size() > 1) {
    for (const KernelInfo* kernel : matches)
      list(kernel->name);
    return fail(ErrorCode::input,
                fmt::format("kernel name '{}' is ambiguous in {}", name, program.file),
                std::nullopt, fmt::format("use one of the mangled names: {}", known));
  }
  for (const KernelInfo& kernel : kernels)
    list(kernel.demangled);
  return fail(ErrorCode::input, fmt::format("no kernel '{}' in {}", name, program.file),
              std::nullopt,
              known.empty() ? "the module has no kernels" : fmt::format("it has: {}", known));
}

} // namespace kernevo::vgpu
