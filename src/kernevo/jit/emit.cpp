#include "kernevo/jit/emit.h"

#include "kernevo/jit/emit/light_emitter.h"
#include "kernevo/jit/emit/thorough_emitter.h"

namespace kernevo::jit {

std::unique_ptr<llvm::Module> emit(llvm::LLVMContext& context, const vgpu::CompileJob& job,
                                   const Plan& plan, const Host& host) {
  if (plan.light)
    return LightEmitter(context, job, plan, host).run();
  return ThoroughEmitter(context, job, plan, host).run();
}

} // namespace kernevo::jit
