// What ptxas and nvdisasm made of a module, kept by content: a kernel is assembled once, for its
// resources and for its machine instructions alike.
#pragma once

#include "kernevo/base/file_cache.h"
#include "kernevo/toolchain/toolchain.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

// All that a cubin depends on. `ptx` is the text given to ptxas.
struct AssemblyRequest {
  std::string_view ptx;
  std::string architecture;
  std::vector<std::string> flags; // ptxas takes those that begin with -O
  std::optional<int> max_registers;
  std::string entry = {}; // only this kernel and what it calls; empty: all
};

// The arguments of ptxas, without files.
std::vector<std::string> assembler_arguments(const Toolchain& toolchain,
                                             const AssemblyRequest& request);

class AssembledFiles {
public:
  // In cache_folder().
  AssembledFiles();

  enum class Kind { cubin, listing, log };
  // Absent also when the entry is damaged; it is then made anew.
  std::optional<std::string> find(Kind kind, const std::string& key) const;
  // Trouble costs time, never a result: it is not told.
  void store(Kind kind, const std::string& key, std::string_view content) const;

private:
  FileCache files_;
};

std::string assembly_key(const Toolchain& toolchain, const AssemblyRequest& request);

// The text with .loc and .file directives blanked, line by line: with them, ptxas would record
// lines of the CUDA source. The line numbers of what is left do not change.
std::string without_source_lines(std::string_view ptx);

} // namespace kernevo
