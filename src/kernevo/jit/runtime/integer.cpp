// Integer arithmetic and bits.
#include "kernevo/vgpu/semantics/integer.h"
#include "kernevo/jit/runtime/lane.h"
#include "kernevo/vgpu/semantics/bits.h"

namespace kernevo::jit::runtime {

namespace sem = vgpu::semantics;

#include "kernevo/jit/runtime/integer.def"

} // namespace kernevo::jit::runtime
