#include "kernevo/jit/codegen.h"

#include <fmt/format.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <memory>

namespace kernevo::jit {
namespace {

// Keeps what the code generator complains about.
class Complaints final : public llvm::DiagnosticHandler {
public:
  explicit Complaints(std::string& text) : text_(text) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (const auto* stack = llvm::dyn_cast<llvm::DiagnosticInfoStackSize>(&info))
      text_ = fmt::format("its registers need {} bytes of stack, over the limit of {}",
                          stack->getResourceSize(), kLargestFrame);
    else if (info.getSeverity() == llvm::DS_Error) {
      llvm::raw_string_ostream stream(text_);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
    }
    return true;
  }

private:
  std::string& text_;
};

Result<std::string> generate(llvm::Module& module, llvm::TargetMachine& machine,
                             llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type, /*DisableVerify=*/true))
    return fail(ErrorCode::unsupported, "the code generator writes no objects for this processor");
  passes.run(module);
  return std::string(bytes.data(), bytes.size());
}

} // namespace

Result<std::string> make_object(llvm::Module& module, llvm::TargetMachine& machine, PassLog& log) {
  std::string complaint;
  llvm::LLVMContext& context = module.getContext();
  std::unique_ptr<llvm::DiagnosticHandler> previous = context.getDiagnosticHandler();
  context.setDiagnosticHandler(std::make_unique<Complaints>(complaint));
  for (llvm::Function& function : module)
    if (!function.isDeclaration())
      function.addFnAttr("warn-stack-size", std::to_string(kLargestFrame));
  if (log.wants_dump("codegen"))
    if (auto text =
            generate(*llvm::CloneModule(module), machine, llvm::CodeGenFileType::AssemblyFile))
      log.dump("codegen", std::move(*text));
  auto object = log.run(
      "codegen", [&] { return generate(module, machine, llvm::CodeGenFileType::ObjectFile); });
  context.setDiagnosticHandler(std::move(previous));
  if (object && !complaint.empty())
    return fail(ErrorCode::unsupported, complaint);
  return object;
}

} // namespace kernevo::jit
