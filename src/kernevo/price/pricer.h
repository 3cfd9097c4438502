// What launches cost on one GPU: the timing model over machine code, remembered per kernel, with
// the first finding of the rules.
#pragma once

#include "kernevo/explain/rules.h"
#include "kernevo/model/gpu.h"
#include "kernevo/model/launch_price.h"
#include "kernevo/sass/sass.h"
#include "kernevo/toolchain/toolchain.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kernevo {

class Pricer {
public:
  // Without the toolkit's tools the PTX has to do, and every price says so.
  static Result<Pricer> make(const std::string& gpu);

  // The PTX of the kernels to come; a module of the same number is forgotten.
  void add_module(std::uint64_t module, std::vector<std::string> texts);
  // `kernel` as in the PTX. An error where the launch does not fit the GPU or the module is
  // unknown; what stands in the way of the machine code is the price's note.
  Result<LaunchPrice> price(std::uint64_t module, const std::string& kernel,
                            const LaunchCounts& counts);

  // An error where the assembler is missing or refuses the module.
  Result<AssembledKernel> kernel(std::uint64_t module, const std::string& kernel);

private:
  // Of one kernel, or of all where there are few.
  struct Code {
    std::optional<sass::SassModule> module;
    std::string note; // why there is none
  };
  struct Module {
    std::vector<std::string> texts;
    bool whole = true;                // assembled in one piece
    std::map<std::string, Code> code; // by kernel; "" for the whole
    std::map<std::string, Result<std::vector<KernelResources>>> resources;
  };

  Pricer(Gpu gpu, std::vector<Rule> rules) : gpu_(std::move(gpu)), rules_(std::move(rules)) {}
  Result<std::vector<KernelResources>> read_resources(const Module& module,
                                                      const std::string& entry) const;
  const Code& code_of(Module& module, const std::string& kernel);
  Code assemble(const Module& module, const std::string& entry) const;

  Gpu gpu_;
  std::vector<Rule> rules_;
  std::optional<Toolchain> toolchain_;
  std::string no_toolchain_; // why
  std::map<std::uint64_t, Module> modules_;
};

} // namespace kernevo
