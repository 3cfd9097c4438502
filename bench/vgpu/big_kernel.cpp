#include "big_kernel.h"

#include <fmt/format.h>
#include <iterator>
#include <random>

namespace bench {
namespace {

constexpr int kRegisters = 64;

} // namespace

std::string big_kernel(int instructions) {
  std::string text = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry big(.param .u64 data, .param .u32 times)
{
  .reg .f32 %f<64>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [data];
  cvta.to.global.u64 %rd1, %rd1;
  ld.param.u32 %r5, [times];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  mul.wide.s32 %rd2, %r4, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f0, [%rd3];
)";
  auto out = std::back_inserter(text);
  for (int i = 1; i < kRegisters; ++i)
    fmt::format_to(out, "  mov.f32 %f{}, 0f3F800000;\n", i);
  text += "AGAIN:\n";
  std::minstd_rand random(1); // the same kernel every time
  const auto reg = [&] { return static_cast<int>(random() >> 4U) % kRegisters; };
  for (int i = 0; i < instructions; ++i) {
    const int to = reg();
    const int a = reg();
    const int b = reg();
    if (i % 3 == 0)
      fmt::format_to(out, "  fma.rn.f32 %f{}, %f{}, %f{}, %f{};\n", to, a, b, reg());
    else
      fmt::format_to(out, "  {}.f32 %f{}, %f{}, %f{};\n", i % 3 == 1 ? "add" : "mul", to, a, b);
  }
  text += R"(  sub.s32 %r5, %r5, 1;
  setp.gt.s32 %p1, %r5, 0;
  @%p1 bra AGAIN;
  st.global.f32 [%rd3], %f1;
  ret;
}
)";
  return text;
}

} // namespace bench
