// cvt between floating formats.
#include "kernevo/jit/runtime/convert.h"
#include "kernevo/jit/runtime/lane.h"

namespace kernevo::jit::runtime {

namespace sem = vgpu::semantics;
using sem::Rounding;

#include "kernevo/jit/runtime/convert_float.def"

} // namespace kernevo::jit::runtime
