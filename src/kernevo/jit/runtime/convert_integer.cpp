// cvt to and from integers.
#include "kernevo/jit/runtime/convert.h"
#include "kernevo/jit/runtime/lane.h"

namespace kernevo::jit::runtime {

namespace sem = vgpu::semantics;
using sem::Rounding;

#include "kernevo/jit/runtime/convert_integer.def"

} // namespace kernevo::jit::runtime
