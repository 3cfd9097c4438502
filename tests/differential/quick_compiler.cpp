#include "quick_compiler.h"

#include "kernevo/vgpu/tier/plugin.h"

#include <atomic>

namespace kernevo::test {
namespace {

class ChosenCompiler : public vgpu::Compiler {
public:
  explicit ChosenCompiler(vgpu::Compiler& compiler) : compiler_(compiler) {}

  Result<std::unique_ptr<vgpu::CompiledFunction>> compile(const vgpu::CompileJob& job,
                                                          vgpu::CompileReport* report) override {
    vgpu::CompileJob chosen = job;
    chosen.optimise = optimised;
    return compiler_.compile(chosen, report);
  }

  std::atomic<bool> optimised = true;

private:
  vgpu::Compiler& compiler_;
};

// Null without the plug-in: then the tier itself says so.
ChosenCompiler* chosen_compiler() {
  static ChosenCompiler* const compiler = []() -> ChosenCompiler* {
    const auto plugin = vgpu::load_compiler();
    if (!plugin)
      return nullptr;
    static ChosenCompiler made(**plugin);
    vgpu::set_compiler(&made);
    return &made;
  }();
  return compiler;
}

} // namespace

void set_optimised(bool optimised) {
  if (ChosenCompiler* compiler = chosen_compiler())
    compiler->optimised = optimised;
}

} // namespace kernevo::test
