// Conditions, loops, calls, early ends.
#include "generator.h"

#include <fmt/format.h>

namespace kernevo::test {

Piece Generator::condition(const Context& context) {
  Piece made;
  made.control = true;
  const bool uniform = context.uniform && dice_.chance(30);
  const bool both = dice_.chance(55);
  const std::uint32_t id = name();
  const std::string test = fmt::format("%q{}", id);
  if (uniform)
    made.head.push_back(fmt::format("setp.{}.u32 {}, %u{}, {};", dice_.chance(50) ? "lt" : "ne",
                                    test, dice_.below(3), dice_.below(6)));
  else if (dice_.chance(30))
    made.head.push_back(fmt::format("setp.lt.u32 {}, {}, {};", test,
                                    context.function ? "%r0" : "%tid_", dice_.below(threads_ + 1)));
  else
    made.head.push_back(fmt::format("mov.pred {}, %p{};", test, dice_.below(kPredicates)));
  Context then = context;
  Context other = context;
  then.depth = other.depth = context.depth + 1;
  if (!uniform) {
    then.uniform = other.uniform = false;
    then.whole = other.whole = false;
    if (!context.mask.empty() && warps_ok_ && names_ < 60 && dice_.chance(45)) {
      const std::uint32_t second = name();
      then.mask = fmt::format("%m{}", id);
      other.mask = fmt::format("%m{}", second);
      made.head.push_back(
          fmt::format("vote.sync.ballot.b32 {}, {}, {};", then.mask, test, context.mask));
      made.head.push_back(
          fmt::format("vote.sync.ballot.b32 {}, !{}, {};", other.mask, test, context.mask));
      made.flat = {fmt::format("mov.b32 {}, {};", then.mask, context.mask)};
    } else {
      then.mask.clear();
      other.mask.clear();
    }
  }
  const std::string otherwise = label();
  const std::string end = label();
  made.head.push_back(fmt::format("@!{} bra {};", test, otherwise));
  made.first = block(then, 1 + dice_.below(5));
  if (both) {
    made.middle = {fmt::format("bra{} {};", dice_.chance(50) ? ".uni" : "", end), otherwise + ":"};
    made.second = block(other, 1 + dice_.below(4));
    made.tail = {end + ":"};
  } else {
    made.tail = {otherwise + ":"};
  }
  return made;
}

Piece Generator::loop(const Context& context) {
  Piece made;
  made.control = true;
  const bool uniform = dice_.chance(50);
  const std::uint32_t id = name();
  const std::string counter = fmt::format("%c{}", id);
  const std::string test = fmt::format("%q{}", id);
  const std::string again = label();
  const std::string end = label();
  Context body = context;
  body.depth = context.depth + 1;
  body.in_loop = true;
  body.counters.push_back(counter);
  if (uniform && (context.function || dice_.chance(50)))
    made.head.push_back(fmt::format("mov.u32 {}, {};", counter, 1 + dice_.below(5)));
  else if (uniform)
    made.head.push_back(fmt::format("and.b32 {}, %u{}, 3;", counter, dice_.below(3)));
  else
    made.head.push_back(fmt::format("and.b32 {}, %r{}, {};", counter, dice_.below(kWords),
                                    dice_.chance(50) ? 3 : 7));
  made.flat = made.head;
  const bool at_end = dice_.chance(50); // do .. while
  if (context.plain && dice_.chance(30)) {
    body.uniform = body.whole = false; // threads may end in it
    body.mask.clear();
  } else {
    body.plain = false;
  }
  if (!uniform) {
    body.uniform = body.whole = false;
    if (!body.mask.empty() && warps_ok_ && dice_.chance(45)) {
      body.mask = fmt::format("%m{}", id);
      made.head.push_back(fmt::format("mov.b32 {}, {};", body.mask, context.mask));
      made.flat = made.head;
    } else {
      body.mask.clear();
    }
  }
  made.head.push_back(again + ":");
  const bool masked = !uniform && !body.mask.empty();
  if (!at_end) {
    made.head.push_back(fmt::format("setp.eq.u32 {}, {}, 0;", test, counter));
    if (masked)
      made.head.push_back(
          fmt::format("vote.sync.ballot.b32 {}, !{}, {};", body.mask, test, body.mask));
    made.head.push_back(fmt::format("@{} bra {};", test, end));
  }
  const bool breaks = !uniform && body.mask.empty() && dice_.chance(40);
  const bool continues = !uniform && body.mask.empty() && dice_.chance(30);
  made.first = block(body, 1 + dice_.below(5));
  if (breaks) {
    Piece leave = lines({fmt::format("@%p{} bra {};", dice_.below(kPredicates), end)});
    made.first.insert(made.first.begin() +
                          dice_.below(static_cast<std::uint32_t>(made.first.size())),
                      std::move(leave));
    made.flat.clear();
    made.control = false; // `end` must stay
  }
  if (continues) {
    const std::string next = label();
    Piece skip = lines({fmt::format("@!%p{} bra {};", dice_.below(kPredicates), next)});
    made.first.insert(made.first.begin() +
                          dice_.below(static_cast<std::uint32_t>(made.first.size())),
                      std::move(skip));
    made.first.push_back(lines({next + ":"}));
    made.control = false;
    made.flat.clear();
  }
  if (at_end) {
    made.tail = {fmt::format("setp.gt.s32 {}, {}, 0;", test, counter),
                 fmt::format("sub.s32 {}, {}, 1;", counter, counter)};
    if (masked)
      made.tail.push_back(
          fmt::format("vote.sync.ballot.b32 {}, {}, {};", body.mask, test, body.mask));
    made.tail.push_back(fmt::format("@{} bra {};", test, again));
  } else {
    made.tail = {fmt::format("sub.u32 {}, {}, 1;", counter, counter),
                 fmt::format("bra{} {};", dice_.chance(50) ? ".uni" : "", again)};
  }
  made.tail.push_back(end + ":");
  return made;
}

Piece Generator::exit_piece(Context& context) {
  exited_ = true;
  barriers_ok_ = false;
  const bool leave = dice_.chance(50); // ends here, or goes to where the results are stored
  const std::string test = fmt::format("%q{}", name());
  std::vector<std::string> text = {
      dice_.chance(50) ? fmt::format("setp.ge.u32 {}, %tid_, {};", test, dice_.below(threads_ + 1))
                       : fmt::format("mov.pred {}, %p{};", test, dice_.below(kPredicates))};
  if (context.depth == 0 && dice_.chance(60)) {
    context.whole = false;
    text.push_back(fmt::format("vote.sync.ballot.b32 %wm, !{}, %wm;", test));
  } else {
    warps_ok_ = false;
  }
  text.push_back(
      fmt::format("@{} {};", test, leave ? (dice_.chance(50) ? "exit" : "ret") : "bra END"));
  return lines(std::move(text));
}

Piece Generator::call_piece(const Context& context) {
  const std::uint32_t function = dice_.below(ready_functions_);
  const bool uniform = !context.mask.empty() && context.whole && dice_.chance(50);
  return lines({"{", ".param .b32 pa;", ".param .b32 pb;", ".param .f32 pc;", ".param .b32 pr;",
                "st.param.b32 [pa], " + fill_in(dice_, "$r", words(context)),
                "st.param.b32 [pb], " + fill_in(dice_, "$r", words(context)),
                "st.param.f32 [pc], " + fill_in(dice_, "$f", words(context)),
                "st.param.b32 [pr], " + fill_in(dice_, "$r", {}),
                fmt::format("{}call{} (pr), f{}, (pa, pb, pc);", uniform ? "" : guard(),
                            uniform ? ".uni" : "", function),
                fmt::format("ld.param.b32 %r{}, [pr];", dice_.below(kWords)), "}"});
}

Piece Generator::print_piece() {
  const std::string end = label();
  const std::string test = fmt::format("%q{}", name());
  return lines({fmt::format("setp.ne.u32 {}, %tid_, {};", test, dice_.below(threads_)),
                fmt::format("@{} bra {};", test, end), "{", ".local .align 8 .b8 values[8];",
                ".param .b64 pa;", ".param .b64 pb;", ".param .b32 pr;",
                "st.local.b32 [values], %gid;", "st.local.b32 [values+4], %r0;",
                "mov.u64 %td2, line;", "cvta.global.u64 %td2, %td2;", "st.param.b64 [pa], %td2;",
                "mov.u64 %td2, values;", "cvta.local.u64 %td2, %td2;", "st.param.b64 [pb], %td2;",
                "call.uni (pr), vprintf, (pa, pb);", "}", end + ":"});
}

// Long enough for turns to end in it: little code, run often.
Piece Generator::long_loop() {
  long_ = true;
  Piece made;
  const std::uint32_t id = name();
  const std::string again = label();
  const bool big = program_.threads() <= 128;
  made.head = {fmt::format("and.b32 %c{}, %r{}, {};", id, dice_.below(kWords), big ? 16383 : 1023)};
  if (dice_.chance(50))
    made.head = {fmt::format("mov.u32 %c{}, {};", id, (big ? 9000 : 300) + dice_.below(9000))};
  made.head.push_back(again + ":");
  Context body;
  body.depth = 9;
  body.counters = {fmt::format("%c{}", id)};
  for (std::uint32_t i = 0, n = 1 + dice_.below(3); i < n; ++i)
    made.first.push_back(dice_.chance(20) ? memory_piece(body)
                                          : lines({random_instruction(dice_, sm_, words(body))}));
  if (dice_.chance(25))
    made.first.push_back(schedule_piece());
  made.tail = {fmt::format("setp.gt.s32 %q{}, %c{}, 0;", id, id),
               fmt::format("sub.s32 %c{}, %c{}, 1;", id, id),
               fmt::format("@%q{} bra {};", id, again)};
  return made;
}

// Through a table, to one of two arms or around both.
Piece Generator::switch_piece(const Context& context) {
  Piece made;
  const std::string table = label();
  const std::string one = label();
  const std::string two = label();
  const std::string end = label();
  made.head = {fmt::format("{}: .branchtargets {}, {}, {}, {};", table, one, two, end, one),
               fmt::format("and.b32 %t0, %{}{}, 3;",
                           !context.function && dice_.chance(30) ? 'u' : 'r', dice_.below(3)),
               fmt::format("brx.idx %t0, {};", table), one + ":"};
  Context arm = context;
  arm.depth = context.depth + 1;
  arm.mask.clear();
  arm.uniform = arm.whole = false;
  made.first = block(arm, 1 + dice_.below(4));
  made.middle = {dice_.chance(50) ? fmt::format("bra {};", end) : "", two + ":"};
  made.second = block(arm, 1 + dice_.below(3));
  made.tail = {end + ":"};
  return made;
}

// Lanes call what their own pointer names.
Piece Generator::pointer_call_piece(const Context& context) {
  const std::string prototype = label();
  return lines(
      {"{", ".param .b32 pa;", ".param .b32 pb;", ".param .f32 pc;", ".param .b32 pr;",
       fmt::format("{}: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _, .param "
                   ".f32 _);",
                   prototype),
       fmt::format("mov.u64 %td2, f{};", dice_.below(ready_functions_)),
       fmt::format("mov.u64 %td3, f{};", dice_.below(ready_functions_)),
       fmt::format("selp.b64 %td2, %td2, %td3, %p{};", dice_.below(kPredicates)),
       "st.param.b32 [pa], " + fill_in(dice_, "$r", words(context)),
       "st.param.b32 [pb], " + fill_in(dice_, "$r", words(context)),
       "st.param.f32 [pc], " + fill_in(dice_, "$f", words(context)),
       fmt::format("call (pr), %td2, (pa, pb, pc), {};", prototype),
       fmt::format("ld.param.b32 %r{}, [pr];", dice_.below(kWords)), "}"});
}

// The second argument says how deep, at most three times more.
std::vector<std::string> Generator::recursion(std::uint32_t function) {
  return {"and.b32 %t1, %tid_, 3;",
          "setp.gt.u32 %pt, %t1, 0;",
          "sub.u32 %t1, %t1, 1;",
          "{",
          ".param .b32 pa;",
          ".param .b32 pb;",
          ".param .f32 pc;",
          ".param .b32 pr;",
          "st.param.b32 [pa], %r2;",
          "st.param.b32 [pb], %t1;",
          "st.param.f32 [pc], %f1;",
          "st.param.b32 [pr], %r3;",
          fmt::format("@%pt call (pr), f{}, (pa, pb, pc);", function),
          "ld.param.b32 %r3, [pr];",
          "}"};
}

} // namespace kernevo::test
