// f16 and bf16 arithmetic.
#include "kernevo/jit/runtime/lane.h"
#include "kernevo/vgpu/semantics/approx.h"
#include "kernevo/vgpu/semantics/integer.h"

namespace kernevo::jit::runtime {

namespace sem = vgpu::semantics;

#include "kernevo/jit/runtime/half.def"

} // namespace kernevo::jit::runtime
