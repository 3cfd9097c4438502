// One thread does what must not be done.
#include "generator.h"

#include <fmt/format.h>

namespace kernevo::test {

Piece Generator::planted_fault() {
  planted_ = true;
  const std::string test = fmt::format("%q{}", name());
  std::vector<std::string> text = {
      fmt::format("setp.eq.u32 {}, %gid, {};", test, dice_.below(program_.threads()))};
  const auto bad = [&](const std::string& good, const std::string& offset) {
    text.push_back(fmt::format("selp.b64 %td0, {}, 0, {};", offset, test));
    text.push_back(fmt::format("add.s64 %td0, %td0, {};", good));
  };
  switch (dice_.below(8)) {
  case 0:
    bad("%in", fmt::format("{}", kInputBytes - dice_.below(4)));
    text.emplace_back("ld.global.b32 %r0, [%td0];");
    break;
  case 1:
    bad("%own", "0x100000000000");
    text.emplace_back("st.global.b32 [%td0], %r0;");
    break;
  case 2:
    bad("%in", fmt::format("{}", 1 + dice_.below(3)));
    text.emplace_back("ld.global.b32 %r0, [%td0];");
    break;
  case 3:
    bad("%own", "4");
    text.emplace_back("st.global.v2.b32 [%td0], {%r0, %r1};");
    break;
  case 4: text.push_back(fmt::format("@{} trap;", test)); break;
  case 5:
    bad("%in", "0");
    text.push_back(fmt::format("@{} st.global.b32 [%td0], %r0;", test));
    break;
  case 6:
    text.emplace_back("mov.u32 %t0, slots;");
    text.push_back(fmt::format("@{} add.u32 %t0, %t0, 0x20000;", test));
    text.emplace_back("ld.shared.b32 %junk, [%t0];");
    break;
  default:
    text.emplace_back("mov.u64 %td0, mine;");
    text.push_back(fmt::format("@{} add.u64 %td0, %td0, 0x100000;", test));
    text.emplace_back("ld.local.b32 %r0, [%td0];");
  }
  return lines(std::move(text));
}

} // namespace kernevo::test
