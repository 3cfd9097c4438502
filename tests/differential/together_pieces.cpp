// What the threads of a warp or a block do together.
#include "generator.h"

#include <fmt/format.h>

namespace kernevo::test {

Piece Generator::warp_piece(const Context& context) {
  const std::string& mask = context.mask;
  const auto made = [&](std::string text) {
    return lines({with_mask(std::move(text), mask, context)});
  };
  switch (dice_.below(9)) {
  case 0:
  case 1:
  case 2: {
    static const std::vector<std::string> clamps = {"31", "31", "0x1C1F", "0x101F", "0x1803", "0"};
    if (context.whole) {
      if (dice_.chance(30))
        return made("shfl.sync.up.b32 $R|$P, $y, $s, [0|0|0x1C00|0x1800], ");
      return lines({with_mask("shfl.sync.[down|bfly|idx].b32 $R" +
                                  std::string(dice_.chance(50) ? "|$P" : "") + ", $y, $s, " +
                                  dice_.pick(clamps) + ", ",
                              mask, context)});
    }
    // Only from lanes that take part: the lowest or the highest of them.
    if (dice_.chance(50))
      return lines({fmt::format("brev.b32 %t0, {};", mask), "clz.b32 %t0, %t0;",
                    with_mask("shfl.sync.idx.b32 $R|$P, $y, %t0, 31, ", mask, context)});
    return lines({fmt::format("bfind.u32 %t0, {};", mask),
                  with_mask("shfl.sync.idx.b32 $R, $y, %t0, 31, ", mask, context)});
  }
  case 3: return made("vote.sync.[all|any|uni].pred $P, $n, ");
  case 4: return made("vote.sync.ballot.b32 $R, $n, ");
  case 5: return made("match.any.sync.b[32 $R, $y|64 $R, $z], ");
  case 6: return made("match.all.sync.b32 $R|$P, [$y|%u0|%u1], ");
  case 7:
    return dice_.chance(60) ? made("redux.sync.[add|min|max].[u32|s32] $R, $y, ")
                            : made("redux.sync.[and|or|xor].b32 $R, $y, ");
  default: return made("bar.warp.sync ");
  }
}

std::string Generator::with_mask(std::string text, const std::string& mask,
                                 const Context& context) {
  return fill_in(dice_, std::move(text) + mask, words(context));
}

Piece Generator::block_piece(const Context& context) {
  static const std::vector<std::string> barriers = {"bar.sync 0;", "bar.sync 0;", "barrier.sync 0;",
                                                    "barrier.sync.aligned 1;", "bar.sync 2;"};
  const std::string barrier = dice_.pick(barriers);
  switch (dice_.below(7)) {
  case 0: return lines({fill_in(dice_, fmt::format("barrier.red.popc.u32 $R, 0, $n"), {})});
  case 1: return lines({fill_in(dice_, "barrier.red.[and|or].pred $P, 0, $n", {})});
  case 2: return sums_of_block(barrier);
  case 3: return copied_rows(context, barrier);
  default: return value_of_another(barrier);
  }
}

Piece Generator::sums_of_block(const std::string& barrier) {
  const std::uint32_t which = dice_.below(4);
  static const std::vector<std::string> operations = {"add.u32", "xor.b32", "max.s32", "min.u32"};
  const std::string end = label();
  const std::string test = fmt::format("%q{}", name());
  std::vector<std::string> text = {
      barrier,
      fmt::format("setp.ge.u32 {}, %tid_, 16;", test),
      fmt::format("@{} bra {};", test, end),
      "mov.u32 %t0, sums;",
      "mad.lo.u32 %t0, %tid_, 4, %t0;",
      fmt::format("st.shared.u32 [%t0], {};", dice_.below(3)),
      end + ":",
      barrier,
      "mov.u32 %t1, sums;",
      fmt::format("and.b32 %t0, %r{}, {};", dice_.below(kWords), threads_ < 16 ? 3 : 15),
      "mad.lo.u32 %t0, %t0, 4, %t1;",
      fmt::format("{}red.shared.{} [%t0], %r{};", guard(), operations[which], dice_.below(kWords)),
      barrier,
      fmt::format("ld.shared.b32 %r{}, [%t0];", dice_.below(kWords)),
      barrier};
  return lines(std::move(text));
}

Piece Generator::value_of_another(const std::string& barrier) {
  const Type& type = kTypes[dice_.below(kTypes.size())];
  int count = dice_.chance(70) ? 1 : dice_.chance(50) ? 2 : 4;
  if (type.bytes * count > 16)
    count = 2;
  const std::uint32_t bytes = static_cast<std::uint32_t>(type.bytes * count);
  const std::uint32_t offset = dice_.below(16 / bytes) * bytes;
  std::vector<std::string> text = {"mov.u32 %t2, slots;", "mad.lo.u32 %t1, %tid_, 16, %t2;"};
  store(text, type, count, ".shared", fmt::format("[%t1+{}]", offset));
  text.push_back(barrier);
  if (dice_.chance(50))
    text.push_back(
        fmt::format("mad.lo.u32 %t0, %tid_, {}, {};", 1 + dice_.below(7), dice_.below(50)));
  else
    text.push_back(
        fmt::format("mov.u32 %t0, %{}{};", dice_.chance(70) ? 'r' : 'u', dice_.below(3)));
  text.push_back(fmt::format("rem.u32 %t0, %t0, {};", threads_));
  text.push_back("mad.lo.u32 %t0, %t0, 16, %t2;");
  text.push_back(load(type, count, ".shared", fmt::format("[%t0+{}]", offset)));
  text.push_back(barrier);
  return lines(std::move(text));
}

// From global to shared memory without registers; then as rows of a matrix.
Piece Generator::copied_rows(const Context& context, const std::string& barrier) {
  std::vector<std::string> text = {"mov.u32 %t2, slots;", "mad.lo.u32 %t1, %tid_, 16, %t2;"};
  const int bytes = dice_.chance(60) ? 16 : 8;
  const std::string from = input_address(text, context, bytes);
  text.push_back(fmt::format("{}cp.async.ca.shared.global [%t1], {}, {};", guard(), from, bytes));
  text.emplace_back(dice_.chance(50) ? "cp.async.wait_all;" : "cp.async.commit_group;");
  text.emplace_back("cp.async.wait_group 0;");
  text.push_back(barrier);
  text.push_back(fmt::format("xor.b32 %t0, %tid_, {};", threads_ % 32 == 0 ? dice_.below(32) : 0));
  text.emplace_back("mad.lo.u32 %t0, %t0, 16, %t2;");
  if (context.whole && dice_.chance(60)) {
    text.push_back(fmt::format("ldmatrix.sync.aligned.m8n8.x4{}.shared.b16 {}, [%t0];",
                               dice_.chance(40) ? ".trans" : "", registers('r', 4)));
    text.push_back(fmt::format("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {}, {}, {}, {};",
                               registers('f', 4), registers('r', 4), registers('r', 2),
                               registers('f', 4)));
  } else {
    text.push_back(fmt::format("ld.shared.b32 %r{}, [%t0+{}];", dice_.below(kWords),
                               4 * dice_.below(static_cast<std::uint32_t>(bytes) / 4)));
  }
  text.push_back(barrier);
  return lines(std::move(text));
}

} // namespace kernevo::test
