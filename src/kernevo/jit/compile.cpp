#include "kernevo/jit/codegen.h"
#include "kernevo/jit/compiler.h"
#include "kernevo/jit/emit.h"
#include "kernevo/jit/host.h"
#include "kernevo/jit/loader.h"
#include "kernevo/jit/object_key.h"
#include "kernevo/jit/optimise.h"
#include "kernevo/jit/plan.h"
#include "kernevo/jit/plan_text.h"
#include "kernevo/jit/runtime_library.h"

#include <algorithm>
#include <fmt/format.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/raw_ostream.h>

namespace kernevo::jit {
namespace {

// Instructions of LLVM IR: about 5 for one of PTX in quick code, 5 to 20 in thorough code. They
// take 4 us each and 15 us or more: past these, seconds of a core's time, the interpreter goes on
// alone.
constexpr unsigned kMostQuick = 400'000;
constexpr unsigned kMostThorough = 60'000;

std::string text_of(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

class LlvmCompiler final : public vgpu::Compiler {
public:
  LlvmCompiler(Host host, std::unique_ptr<Loader> loader)
      : host_(std::move(host)), target_(fmt::format("{} {} {} {}", LLVM_VERSION_STRING,
                                                    host_.triple, host_.cpu, host_.features)),
        loader_(std::move(loader)) {}

  Result<std::unique_ptr<vgpu::CompiledFunction>> compile(const vgpu::CompileJob& job,
                                                          vgpu::CompileReport* report) override {
    PassLog log(report);
    const Plan plan = make_plan(job, log);
    if (log.wants_dump("plan"))
      log.dump("plan", plan_text(job, plan));

    std::optional<vgpu::ObjectKey> key;
    if (job.store)
      key = log.run("key", [&] { return object_key(job, target_); });
    if (key)
      if (const auto object = log.run("find", [&] { return job.store->find(*key); }))
        // One that does not link is made again.
        if (auto code = load(*object, log)) {
          note(report, object->size(), true);
          return describe(job, plan, std::move(*code));
        }
    KERNEVO_TRY(object, make(job, plan, log));
    KERNEVO_TRY(code, load(object, log));
    if (key)
      job.store->save(*key, object);
    note(report, object.size(), false);
    return describe(job, plan, std::move(code));
  }

private:
  Result<LoadedCode> load(const std::string& object, PassLog& log) const {
    return log.run("link", [&] { return loader_->load(object, kKernelSymbol); });
  }

  static void note(vgpu::CompileReport* report, std::size_t bytes, bool cached) {
    if (report == nullptr)
      return;
    report->from_cache = cached;
    report->machine_code_bytes = bytes;
  }

  Result<std::string> make(const vgpu::CompileJob& job, const Plan& plan, PassLog& log) const {
    KERNEVO_TRY(machine, make_target_machine(host_, job.optimise));
    llvm::LLVMContext context;
    auto module = log.run("emit", [&] { return emit(context, job, plan, host_); });
    if (log.wants_dump("emit"))
      log.dump("emit", text_of(*module));
    const unsigned most = job.optimise ? kMostThorough : kMostQuick;
    if (const unsigned count = module->getFunction(kKernelSymbol)->getInstructionCount();
        count > most)
      return fail(ErrorCode::unsupported,
                  fmt::format("its code is {} instructions long, over the compiler's limit of {}",
                              count, most));
    set_host(*module, host_, *machine);
    if (!plan.light) {
      auto linked = log.run("runtime", [&] { return link_runtime(*module, host_.runtime_level); });
      KERNEVO_CHECK(linked);
      set_host(*module, host_, *machine);
      optimise(*module, *machine, log);
    }
    if (job.cancelled != nullptr && job.cancelled->load())
      return fail(ErrorCode::infrastructure, "the compilation was called off");
    return make_object(*module, *machine, log);
  }

  static std::unique_ptr<vgpu::CompiledFunction> describe(const vgpu::CompileJob& job,
                                                          const Plan& plan, LoadedCode code) {
    auto made = std::make_unique<vgpu::CompiledFunction>();
    made->function = reinterpret_cast<vgpu::CompiledFunction::Function>(code.address); // NOLINT
    made->entries = plan.entries;
    made->exits = plan.exits;
    made->entry_at.assign(job.program->codes[job.function].ops.size(), vgpu::kNone);
    for (std::uint32_t i = 0; i < plan.entries.size(); ++i)
      made->entry_at[plan.entries[i].pc] = i;
    made->hits = plan.hits;
    made->scalars = plan.scalars;
    made->barriers = job.full && std::find(plan.treatment.begin(), plan.treatment.end(),
                                           Treatment::barrier) != plan.treatment.end();
    made->code = std::move(code.owner);
    return made;
  }

  Host host_;
  std::string target_;
  std::unique_ptr<Loader> loader_;
};

} // namespace

Result<std::unique_ptr<vgpu::Compiler>> create_compiler() {
  return create_compiler(find_host());
}

Result<std::unique_ptr<vgpu::Compiler>> create_compiler(Host host) {
  KERNEVO_TRY(loader, Loader::create(runtime_table(host.runtime_level)));
  return std::make_unique<LlvmCompiler>(std::move(host), std::move(loader));
}

} // namespace kernevo::jit
