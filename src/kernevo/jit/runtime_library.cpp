#include "kernevo/jit/runtime_library.h"

#include <algorithm>
#include <fmt/format.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBufferRef.h>

namespace kernevo::jit {
namespace {

// Longer bodies cost more in code size and compile time than their call.
constexpr unsigned kInlineInstructions = 40;

bool is_short(const llvm::Function& function) {
  return function.size() <= 4 && function.getInstructionCount() <= kInlineInstructions;
}

} // namespace

Result<void> link_runtime(llvm::Module& module, std::string_view level) {
  const bool needed = std::any_of(module.begin(), module.end(), [](const llvm::Function& function) {
    return function.isDeclaration() && function.getName().starts_with("kv_");
  });
  if (!needed)
    return {};
  const std::string_view bitcode = runtime_bitcode(level);
  if (bitcode.empty())
    return fail(ErrorCode::infrastructure,
                fmt::format("this build has no runtime library for {}", level));
  // Lazy: only the bodies that are linked are read.
  auto library = llvm::getLazyBitcodeModule(
      llvm::MemoryBufferRef(llvm::StringRef(bitcode.data(), bitcode.size()), "runtime"),
      module.getContext(), /*ShouldLazyLoadMetadata=*/true);
  if (!library)
    return fail(ErrorCode::infrastructure,
                "the runtime library is damaged: " + llvm::toString(library.takeError()));
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  if (llvm::Linker::linkModules(module, std::move(*library), llvm::Linker::LinkOnlyNeeded))
    return fail(ErrorCode::infrastructure, "the runtime library does not link");
  for (llvm::GlobalVariable& variable : module.globals())
    if (!variable.isDeclaration() && !variable.hasAppendingLinkage())
      variable.setLinkage(llvm::GlobalValue::InternalLinkage);
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) {
      if (function.getName().starts_with("kv_"))
        return fail(ErrorCode::infrastructure,
                    fmt::format("the runtime library lacks {}", function.getName().str()));
      continue;
    }
    if (function.getName() == "kernel")
      continue;
    function.setComdat(nullptr);
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
    function.setVisibility(llvm::GlobalValue::DefaultVisibility);
    // The emitter passes 8 and 16 bits as they are; C++ promises extended ones.
    for (llvm::Argument& argument : function.args()) {
      argument.removeAttr(llvm::Attribute::ZExt);
      argument.removeAttr(llvm::Attribute::SExt);
    }
    if (!is_short(function))
      continue;
    function.removeFnAttr(llvm::Attribute::NoInline);
    function.addFnAttr(llvm::Attribute::AlwaysInline);
  }
  return {};
}

} // namespace kernevo::jit
