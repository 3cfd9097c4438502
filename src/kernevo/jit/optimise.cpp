#include "kernevo/jit/optimise.h"

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/DCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

namespace kernevo::jit {
namespace {

struct Managers {
  explicit Managers(llvm::TargetMachine& machine) : builder(&machine) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(graphs);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, graphs, modules);
  }

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
};

} // namespace

void optimise(llvm::Module& module, llvm::TargetMachine& machine, PassLog& log) {
  Managers managers(machine);
  const auto dump = [&](const char* name) {
    if (!log.wants_dump(name))
      return;
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream, nullptr);
    log.dump(name, std::move(text));
  };
  const auto on_module = [&](const char* name, auto pass) {
    log.run(name, [&] {
      const llvm::PreservedAnalyses kept = pass.run(module, managers.modules);
      managers.modules.invalidate(module, kept);
    });
    dump(name);
  };
  // The library's functions were optimised when they were compiled.
  llvm::Function& kernel = *module.getFunction("kernel");
  const auto on_kernel = [&](const char* name, auto pass) {
    log.run(name, [&] {
      const llvm::PreservedAnalyses kept = pass.run(kernel, managers.functions);
      managers.functions.invalidate(kernel, kept);
    });
    dump(name);
  };

  on_module("inline", llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
  on_module("globaldce", llvm::GlobalDCEPass());
  // Operands of inlined library functions become values here, too. They must: where the code
  // generator of LLVM 19 first sees a constant through memory, it gets mul.hi by one wrong.
  on_kernel("sroa", llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  on_kernel("simplifycfg", llvm::SimplifyCFGPass());
  on_kernel("early-cse", llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  on_kernel("instcombine", llvm::InstCombinePass());
  on_kernel("licm", llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()),
                                                          /*UseMemorySSA=*/true));
  on_kernel("dce", llvm::DCEPass());
}

} // namespace kernevo::jit
