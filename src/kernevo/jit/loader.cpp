#include "kernevo/jit/loader.h"

#include <atomic>
#include <fmt/format.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Process.h>

namespace kernevo::jit {

namespace orc = llvm::orc;

namespace {

// Finds the runtime library's functions by name.
class RuntimeSymbols final : public orc::DefinitionGenerator {
public:
  explicit RuntimeSymbols(const RuntimeEntry* table) {
    for (; table != nullptr && table->name != nullptr; ++table)
      functions_[table->name] = table->function;
  }

  llvm::Error tryToGenerate(orc::LookupState& /*state*/, orc::LookupKind /*kind*/,
                            orc::JITDylib& library, orc::JITDylibLookupFlags /*flags*/,
                            const orc::SymbolLookupSet& names) override {
    orc::SymbolMap found;
    for (const auto& [name, flags] : names)
      if (const auto at = functions_.find(*name); at != functions_.end())
        found[name] = {orc::ExecutorAddr::fromPtr(at->second),
                       llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
    return found.empty() ? llvm::Error::success()
                         : library.define(orc::absoluteSymbols(std::move(found)));
  }

private:
  llvm::StringMap<void (*)()> functions_;
};

} // namespace

struct Loader::Session {
  explicit Session(std::unique_ptr<orc::ExecutorProcessControl> control)
      : execution(std::move(control)), objects(execution) {
    // A look-up only says that it failed; why is told here, on the same thread.
    execution.setErrorReporter(
        [](llvm::Error error) { reason() = llvm::toString(std::move(error)); });
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { llvm::consumeError(execution.endSession()); }

  static std::string& reason() {
    thread_local std::string text;
    return text;
  }

  orc::ExecutionSession execution;
  orc::ObjectLinkingLayer objects;
  orc::JITDylib* process = nullptr; // memcpy and the C library's mathematics
  std::atomic<std::uint64_t> next = 0;
};

Loader::Loader(std::shared_ptr<Session> session) : session_(std::move(session)) {}
Loader::~Loader() = default;

Result<std::unique_ptr<Loader>> Loader::create(const RuntimeEntry* table) {
  const auto trouble = [](llvm::Error error) {
    return fail(ErrorCode::infrastructure,
                "machine code cannot be loaded here: " + llvm::toString(std::move(error)));
  };
  // Links on the calling thread: no threads of LLVM's own.
  auto control = orc::SelfExecutorProcessControl::Create(
      nullptr, std::make_unique<orc::InPlaceTaskDispatcher>());
  if (!control)
    return trouble(control.takeError());
  auto session = std::make_shared<Session>(std::move(*control));
  session->process = &session->execution.createBareJITDylib("process");
  auto symbols = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess('\0');
  if (!symbols)
    return trouble(symbols.takeError());
  session->process->addGenerator(std::make_unique<RuntimeSymbols>(table));
  session->process->addGenerator(std::move(*symbols));
  return std::unique_ptr<Loader>(new Loader(std::move(session))); // NOLINT: private constructor
}

Result<LoadedCode> Loader::load(std::string_view object, std::string_view symbol) {
  Session::reason().clear();
  const auto trouble = [](llvm::Error error) {
    const std::string text = llvm::toString(std::move(error));
    return fail(ErrorCode::infrastructure,
                "machine code does not link: " +
                    (Session::reason().empty() ? text : Session::reason()));
  };
  orc::ExecutionSession& execution = session_->execution;
  orc::JITDylib& library =
      execution.createBareJITDylib(fmt::format("code{}", session_->next.fetch_add(1)));
  library.addToLinkOrder(*session_->process);
  // From here on the library goes with its last user.
  std::shared_ptr<void> owner(&library, [session = session_](void* gone) {
    llvm::consumeError(session->execution.removeJITDylib(*static_cast<orc::JITDylib*>(gone)));
  });
  auto bytes = llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(object.data(), object.size()),
                                                    library.getName());
  if (auto error = session_->objects.add(library, std::move(bytes)))
    return trouble(std::move(error));
  auto found = execution.lookup({&library}, llvm::StringRef(symbol.data(), symbol.size()));
  if (!found)
    return trouble(found.takeError());
  return LoadedCode{found->getAddress().toPtr<void*>(), std::move(owner)};
}

} // namespace kernevo::jit
