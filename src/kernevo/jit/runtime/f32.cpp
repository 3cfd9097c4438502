// f32 and f64 arithmetic.
#include "kernevo/jit/runtime/lane.h"
#include "kernevo/vgpu/semantics/approx.h"

namespace kernevo::jit::runtime {

namespace sem = vgpu::semantics;
using sem::Rounding;

#include "kernevo/jit/runtime/f32.def"

} // namespace kernevo::jit::runtime
