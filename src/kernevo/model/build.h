// What the toolchain made of a source: PTX, and the machine resources of each kernel in it.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/base/units.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

struct KernelResources {
  std::string name;      // as in the PTX (mangled)
  std::string demangled; // as in the source
  std::optional<int> registers;
  std::optional<Bytes> static_shared;
  std::optional<Bytes> constant;
  std::optional<Bytes> stack;
  std::optional<Bytes> spill_stores;
  std::optional<Bytes> spill_loads;
  std::optional<int> barriers;
};

struct Diagnostic {
  enum class Severity { note, warning, error };
  Severity severity = Severity::error;
  Place place; // the user's file and line
  std::string message;
};

std::string_view name_of(Diagnostic::Severity severity);

struct Build {
  bool ok = false;
  bool syntax_error =
      false;            // when not ok: the source does not parse, rather than does not type-check
  std::string compiler; // "NVRTC 13.2"
  std::string architecture; // "sm_80"
  std::string ptx;
  std::string ptx_hash;
  std::string assembler;                  // "ptxas 13.2.86"; empty when it was not run
  std::vector<KernelResources> resources; // every kernel of the module
  // Template instantiations asked for by name ("reduce<256>") -> the name in the PTX.
  std::map<std::string, std::string> lowered_names;
  std::vector<Diagnostic> diagnostics;
  bool from_cache = false;

  // The resources of a kernel by the name a launch uses; null when they are not known.
  const KernelResources* resources_of(const std::string& kernel) const {
    const auto lowered = lowered_names.find(kernel);
    const std::string& entry = lowered == lowered_names.end() ? kernel : lowered->second;
    for (const KernelResources& candidate : resources)
      if (candidate.name == entry || candidate.demangled == entry)
        return &candidate;
    return nullptr;
  }
};

} // namespace kernevo
