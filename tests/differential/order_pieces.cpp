// What shows the order in which threads run: old values of atomics, locks, flags, the lanes that
// run together, the clock. Nobody promises an order, but both tiers have the same.
#include "generator.h"

#include <fmt/format.h>

namespace kernevo::test {
namespace {

// In the buffer of atomics, after those whose order does not show.
constexpr int kLocks = 128; // pairs of a lock and what it guards
constexpr int kFlags = 160;
constexpr int kOrdered = 192;

} // namespace

Piece Generator::ordered_atomic_piece() {
  static const std::vector<std::string> operations = {
      "atom.global.add.f32 $F, ADDRESS, $v",
      "atom.global.add.f32 $F, ADDRESS, $v",
      "atom.global.[exch.b32|add.u32|max.s32] $R, ADDRESS, $y",
      "atom.global.[inc|dec].u32 $R, ADDRESS, $y",
      "atom.global.cas.b32 $R, ADDRESS, $y, $y",
      "atom[|.acq_rel.gpu].global.[and|or|xor].b32 $R, ADDRESS, $y",
      "red.global.add.f32 ADDRESS, $v"};
  std::string operation = guard() + fill_in(dice_, dice_.pick(operations), {});
  operation.replace(operation.find("ADDRESS"), 7, "[%td0]");
  return lines({fmt::format("and.b32 %t0, {}, {};",
                            dice_.chance(50) ? "%tid_" : fmt::format("%r{}", dice_.below(kWords)),
                            dice_.chance(50) ? 0 : 15),
                "mad.wide.u32 %td0, %t0, 4, %atomics;",
                fmt::format("add.s64 %td0, %td0, {};", kOrdered), operation});
}

// Some threads, one at a time. Those who wait spin in a loop of their own, or come around again.
Piece Generator::lock_piece() {
  const std::uint32_t at = kLocks + 8 * dice_.below(4);
  const std::string lock = fmt::format("[%atomics+{}]", at);
  const std::string value = fmt::format("[%atomics+{}]", at + 4);
  const std::string out = fmt::format("%q{}", name());
  const std::string busy = fmt::format("%q{}", name());
  const std::string again = label();
  const std::string skip = label();
  const std::string end = label();
  const std::vector<std::string> guarded = {
      fmt::format("ld.volatile.global.u32 %t1, {};", value),
      fmt::format("add.u32 %t1, %t1, %r{};", dice_.below(kWords)),
      fmt::format("st.volatile.global.u32 {}, %t1;", value), "membar.gl;",
      fmt::format("atom.global.exch.b32 %junk, {}, 0;", lock)};
  std::vector<std::string> text = {
      fmt::format("and.b32 %t0, %tid_, {};", dice_.chance(50) ? 7 : 15),
      fmt::format("setp.ne.u32 {}, %t0, {};", out, dice_.below(4)),
      fmt::format("@{} bra {};", out, end),
      again + ":",
      fmt::format("atom.global.cas.b32 %t0, {}, 0, 1;", lock),
      fmt::format("setp.ne.u32 {}, %t0, 0;", busy)};
  if (dice_.chance(50)) {
    text.push_back(fmt::format("@{} bra {};", busy, again));
    text.insert(text.end(), guarded.begin(), guarded.end());
  } else {
    text.push_back(fmt::format("@{} bra {};", busy, skip));
    text.insert(text.end(), guarded.begin(), guarded.end());
    text.push_back(skip + ":");
    if (dice_.chance(30))
      text.emplace_back("nanosleep.u32 20;");
    text.push_back(fmt::format("@{} bra {};", busy, again));
  }
  text.push_back(end + ":");
  return lines(std::move(text));
}

// All threads of the block come here, and wait for one of them.
Piece Generator::flag_piece() {
  const std::string flag = fmt::format("[%atomics+{}]", kFlags + 4 * dice_.below(8));
  const std::string test = fmt::format("%q{}", name());
  const std::string wait = label();
  std::vector<std::string> text = {
      fmt::format("setp.ne.u32 {}, %tid_, {};", test,
                  dice_.chance(50) ? threads_ - 1 : dice_.below(threads_)),
      fmt::format("@{} bra {};", test, wait),
      "membar.gl;",
      fmt::format("st.{}.global.u32 {}, 1;", dice_.chance(50) ? "volatile" : "relaxed.gpu", flag),
      wait + ":",
      fmt::format("ld.{}.global.u32 %t0, {};", dice_.chance(50) ? "volatile" : "acquire.gpu", flag),
      fmt::format("setp.eq.u32 {}, %t0, 0;", test)};
  if (dice_.chance(30))
    text.push_back(fmt::format("@{} nanosleep.u32 100;", test));
  text.push_back(fmt::format("@{} bra {};", test, wait));
  return lines(std::move(text));
}

// Which lanes run together, and how much the block has run.
Piece Generator::schedule_piece() {
  switch (dice_.below(4)) {
  case 0: return lines({fill_in(dice_, "mov.u32 $R, %clock", {})});
  case 1: return lines({fill_in(dice_, "mov.u64 $D, %clock64", {})});
  default: return lines({guard() + fill_in(dice_, "activemask.b32 $R", {})});
  }
}

} // namespace kernevo::test
