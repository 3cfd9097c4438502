#include "kernevo/toolchain/toolchain.h"

#include <cstdlib>
#include <cxxabi.h>
#include <memory>

namespace kernevo {

namespace {

// Drops a trailing bracketed group, "(float*, int)" or "<32>", and what follows it.
std::string without_group(std::string text, char open, char close) {
  if (!text.ends_with(close))
    return text;
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == close)
      ++depth;
    else if (text[i] == open && --depth == 0) {
      text.resize(i);
      return text;
    }
  }
  return text;
}

} // namespace

std::string plain_kernel_name(const std::string& mangled) {
  if (!mangled.starts_with("_Z"))
    return mangled;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || demangled == nullptr)
    return mangled;
  std::string name = without_group(demangled.get(), '(', ')');
  name = without_group(std::move(name), '<', '>');
  const std::size_t separator = name.find_last_of(": ");
  return separator == std::string::npos ? name : name.substr(separator + 1);
}

} // namespace kernevo
