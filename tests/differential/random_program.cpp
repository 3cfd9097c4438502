#include "random_program.h"

#include "random_instruction.h"

#include <fmt/format.h>
#include <utility>

namespace kernevo::test {
namespace {

// Where code stands: what is known about the threads that run it.
struct Context {
  std::string mask;     // the lanes of the warp that are here, all at once; empty: not known
  bool whole = false;   // they are all 32
  bool uniform = false; // all threads of the block come here together
  bool function = false;
  bool in_loop = false; // of any kind
  int depth = 0;
  std::vector<std::string> counters; // of the loops around
};

struct Type {
  const char* name;
  int bytes;
  const char* files; // register files it may be loaded into
};
constexpr std::array kTypes = {
    Type{"u8", 1, "hrd"},  Type{"s8", 1, "hrd"}, Type{"b8", 1, "hrd"}, Type{"u16", 2, "hrd"},
    Type{"s16", 2, "hrd"}, Type{"b16", 2, "h"},  Type{"u32", 4, "rd"}, Type{"s32", 4, "rd"},
    Type{"b32", 4, "rf"},  Type{"f32", 4, "f"},  Type{"u64", 8, "d"},  Type{"s64", 8, "d"},
    Type{"b64", 8, "d"},   Type{"f64", 8, "e"},  Type{"f32", 4, "f"},  Type{"u32", 4, "r"}};

constexpr std::array<std::pair<char, std::uint32_t>, 6> kFiles = {
    std::pair{'h', kHalves}, {'r', kWords},   {'d', kDoubleWords},
    {'f', kFloats},          {'e', kDoubles}, {'p', kPredicates}};

std::uint32_t size_of_file(char file) {
  for (const auto& [name, count] : kFiles)
    if (name == file)
      return count;
  return 0;
}

class Generator {
public:
  explicit Generator(std::uint64_t seed) : dice_(seed) { program_.seed = seed; }

  RandomProgram make() {
    static const std::vector<std::array<std::uint32_t, 3>> blocks = {
        {32, 1, 1}, {48, 1, 1}, {64, 1, 1},  {16, 16, 1}, {8, 4, 2},
        {33, 1, 1}, {7, 1, 1},  {128, 1, 1}, {32, 2, 1},  {20, 3, 2}};
    static const std::vector<std::array<std::uint32_t, 3>> grids = {
        {1, 1, 1}, {2, 1, 1}, {3, 1, 1}, {2, 2, 1}, {1, 1, 2}};
    program_.block = dice_.pick(blocks);
    program_.grid = dice_.pick(grids);
    threads_ = program_.block[0] * program_.block[1] * program_.block[2];
    sm_ = dice_.chance(30) ? 90 : 80;
    program_.gpu = sm_ == 90 ? "H100" : "A100";
    fault_ = dice_.chance(10);
    functions_ = dice_.chance(35) ? 1 + dice_.below(2) : 0;
    make_header();
    for (std::uint32_t i = 0; i < functions_; ++i)
      make_function(i);
    make_kernel();
    return std::move(program_);
  }

private:
  // --- the module ---------------------------------------------------------------------------

  void make_header() {
    std::string& text = program_.header;
    text = fmt::format(".version 8.0\n.target sm_{}\n.address_size 64\n\n", sm_);
    text += ".const .align 16 .b32 table[64] = {";
    for (int i = 0; i < 64; ++i)
      text += fmt::format("{}{}", i == 0 ? "" : ", ", random_constant(dice_, 32));
    text += "};\n";
    text += ".extern .func (.param .b32 result) vprintf (.param .b64 text, .param .b64 values);\n";
    text += ".global .align 1 .b8 line[8] = {37, 117, 32, 37, 120, 10, 0, 0};\n";
  }

  static std::vector<std::string> declarations() {
    std::vector<std::string> lines;
    for (const auto& [file, count] : kFiles)
      lines.push_back(fmt::format(".reg .{} %{}<{}>;",
                                  file == 'h'   ? "b16"
                                  : file == 'r' ? "b32"
                                  : file == 'd' ? "b64"
                                  : file == 'f' ? "f32"
                                  : file == 'e' ? "f64"
                                                : "pred",
                                  file, count));
    for (const char* line :
         {".reg .b32 %t<4>;", ".reg .b64 %td<4>;", ".reg .f64 %et;", ".reg .pred %pt;",
          ".reg .pred %q<64>;", ".reg .b32 %c<64>;", ".reg .b32 %m<64>;", ".reg .b32 %u<3>;",
          ".reg .b32 %a<3>;", ".reg .b32 %tid_, %gid, %wm, %junk;",
          ".reg .b64 %in, %out, %own, %soa, %atomics, %junk64;", ".local .align 16 .b8 mine[64];"})
      lines.emplace_back(line);
    return lines;
  }

  void make_function(std::uint32_t index) {
    Piece function;
    function.head = {fmt::format(".func (.param .b32 result) f{}(.param .b32 a, .param .b32 b, "
                                 ".param .f32 c)",
                                 index),
                     "{"};
    for (std::string& line : declarations())
      function.head.push_back(std::move(line));
    for (const char* line : {"ld.param.b32 %r0, [a];", "ld.param.b32 %r1, [b];",
                             "ld.param.f32 %f0, [c];", "mov.u32 %tid_, %r1;"})
      function.head.emplace_back(line);
    for (std::uint32_t i = 2; i < kWords; ++i)
      function.head.push_back(
          fmt::format("xor.b32 %r{}, %r{}, {};", i, i - 2, random_constant(dice_, 32)));
    initialise(function.head, 1);
    Context context;
    context.function = true;
    context.depth = 1;
    function.first = block(context, 3 + dice_.below(8));
    function.tail = {"xor.b32 %r0, %r0, %r3;",
                     "mov.b32 %t0, %f1;",
                     "xor.b32 %r0, %r0, %t0;",
                     "st.param.b32 [result], %r0;",
                     "ret;",
                     "}"};
    program_.functions.push_back(std::move(function));
    ready_functions_ = index + 1;
  }

  // Everything but %r and the first floats, from what those hold.
  void initialise(std::vector<std::string>& lines, std::uint32_t first_float) {
    for (std::uint32_t i = 0; i < kHalves; ++i)
      lines.push_back(fmt::format("cvt.u16.u32 %h{}, %r{};", i, i % kWords));
    for (std::uint32_t i = 0; i < kDoubleWords; ++i)
      lines.push_back(fmt::format("mov.b64 %d{}, {{%r{}, %r{}}};", i, i, i + 1));
    for (std::uint32_t i = first_float; i < kFloats; ++i)
      lines.push_back(fmt::format("mov.b32 %f{}, %r{};", i, (i + 2) % kWords));
    for (std::uint32_t i = 0; i < kDoubles; ++i)
      lines.push_back(fmt::format("cvt.rn.f64.s32 %e{}, %r{};", i, i));
    for (std::uint32_t i = 0; i < kPredicates; ++i)
      lines.push_back(fmt::format("setp.lt.s32 %p{}, %r{}, {};", i, i, i));
    for (int i = 0; i < 64; i += 16)
      lines.push_back(fmt::format("st.local.v2.b64 [mine+{}], {{%d{}, %d0}};", i, i / 16));
  }

  void make_kernel() {
    Piece& kernel = program_.kernel;
    kernel.head = {".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 own, .param "
                   ".u64 soa, .param .u64 atomics, .param .u32 word, .param .f32 single, .param "
                   ".f64 twice, .param .u16 half)",
                   "{"};
    for (std::string& line : declarations())
      kernel.head.push_back(std::move(line));
    const std::uint32_t bx = program_.block[0];
    const std::uint32_t by = program_.block[1];
    for (const std::string& line : std::vector<std::string>{
             fmt::format(".shared .align 16 .b8 slots[{}];", threads_ * 16),
             ".shared .align 8 .b8 sums[64];", "mov.u32 %tid_, %tid.x;", "mov.u32 %t0, %tid.y;",
             fmt::format("mad.lo.u32 %tid_, %t0, {}, %tid_;", bx), "mov.u32 %t0, %tid.z;",
             fmt::format("mad.lo.u32 %tid_, %t0, {}, %tid_;", bx * by), "mov.u32 %t0, %ctaid.z;",
             "mov.u32 %t1, %nctaid.y;", "mov.u32 %t2, %ctaid.y;", "mad.lo.u32 %t0, %t0, %t1, %t2;",
             "mov.u32 %t1, %nctaid.x;", "mov.u32 %t2, %ctaid.x;", "mad.lo.u32 %u0, %t0, %t1, %t2;",
             fmt::format("mad.lo.u32 %gid, %u0, {}, %tid_;", threads_),
             // lanes of this warp that exist
             "and.b32 %t0, %tid_, 0xFFFFFFE0;", fmt::format("sub.u32 %t0, {}, %t0;", threads_),
             "min.u32 %t0, %t0, 32;", "sub.u32 %t0, 32, %t0;", "shr.u32 %wm, 0xFFFFFFFF, %t0;",
             "ld.param.u64 %in, [in];", "ld.param.u64 %out, [out];", "ld.param.u64 %own, [own];",
             "ld.param.u64 %soa, [soa];", "ld.param.u64 %atomics, [atomics];",
             "ld.param.u32 %u1, [word];", "mov.u32 %u2, 3;", "cvta.to.global.u64 %in, %in;",
             "cvta.to.global.u64 %out, %out;", "cvta.to.global.u64 %own, %own;",
             fmt::format("mad.wide.u32 %own, %gid, {}, %own;", kOwnPerThread),
             "mov.u32 %a0, %tid_;", "mad.lo.u32 %a1, %tid_, 12, %u0;", "sub.s32 %a2, 100, %tid_;"})
      kernel.head.push_back(line);
    for (std::uint32_t i = 0; i < kWords; i += 4) {
      kernel.head.push_back(fmt::format("mad.lo.u32 %t0, %gid, {}, {};", 1 + 2 * i, 37 * i));
      kernel.head.emplace_back("and.b32 %t0, %t0, 1023;");
      kernel.head.emplace_back("mad.wide.u32 %td0, %t0, 16, %in;");
      kernel.head.push_back(fmt::format("ld.global.v4.b32 {{%r{}, %r{}, %r{}, %r{}}}, [%td0];", i,
                                        i + 1, i + 2, i + 3));
    }
    initialise(kernel.head, 0);
    kernel.head.push_back("ld.param.f32 %f0, [single];");
    kernel.head.push_back("ld.param.f64 %e0, [twice];");
    kernel.head.push_back("ld.param.u16 %h0, [half];");
    Context context;
    context.mask = "%wm";
    context.whole = threads_ % 32 == 0;
    context.uniform = true;
    kernel.first = block(context, dice_.chance(20) ? 8 + dice_.below(20) : 3 + dice_.below(8));
    kernel.tail = results();
  }

  // Every register of the thread, to its own place.
  std::vector<std::string> results() {
    std::vector<std::string> lines = {"END:"};
    const bool together = dice_.chance(50); // the same register of neighbours side by side
    int at = 0;
    const auto place = [&](int bytes) {
      at = (at + bytes - 1) / bytes * bytes;
      const int offset = at;
      at += bytes;
      if (!together)
        return fmt::format("[%td1+{}]", offset);
      lines.push_back(fmt::format("mad.wide.u32 %td1, %gid, {}, %out;", bytes));
      return fmt::format("[%td1+{}]", offset * static_cast<int>(program_.threads()));
    };
    lines.push_back(fmt::format("mad.wide.u32 %td1, %gid, {}, %out;", kOutputPerThread));
    for (std::uint32_t i = 0; i < kWords; i += 4) {
      const std::string where = place(16);
      lines.push_back(fmt::format("st.global.v4.b32 {}, {{%r{}, %r{}, %r{}, %r{}}};", where, i,
                                  i + 1, i + 2, i + 3));
    }
    for (std::uint32_t i = 0; i < kDoubleWords; i += 2) {
      const std::string where = place(16);
      lines.push_back(fmt::format("st.global.v2.b64 {}, {{%d{}, %d{}}};", where, i, i + 1));
    }
    for (std::uint32_t i = 0; i < kDoubles; ++i) {
      lines.push_back(fmt::format("testp.notanumber.f64 %pt, %e{};", i));
      lines.push_back(fmt::format("selp.f64 %e{}, 0d7FF8000000000000, %e{}, %pt;", i, i));
    }
    for (std::uint32_t i = 0; i < kDoubles; i += 2) {
      const std::string where = place(16);
      lines.push_back(fmt::format("st.global.v2.f64 {}, {{%e{}, %e{}}};", where, i, i + 1));
    }
    const std::string singles = place(16);
    lines.push_back(fmt::format("st.global.v4.f32 {}, {{%f0, %f1, %f2, %f3}};", singles));
    const std::string halves = place(8);
    lines.push_back(fmt::format("st.global.v4.b16 {}, {{%h0, %h1, %h2, %h3}};", halves));
    const std::string rest = place(4);
    lines.push_back(fmt::format("st.global.b16 {}, %h4;", rest));
    lines.emplace_back("mov.u32 %t0, 0;");
    for (std::uint32_t i = 0; i < kPredicates; ++i)
      lines.push_back(fmt::format("@%p{} or.b32 %t0, %t0, {};", i, 1U << i));
    const std::string where = place(4);
    lines.push_back(fmt::format("st.global.b32 {}, %t0;", where));
    lines.emplace_back("ret;");
    lines.emplace_back("}");
    return lines;
  }

  // --- pieces -------------------------------------------------------------------------------

  std::vector<Piece> block(Context context, std::uint32_t count) {
    std::vector<Piece> pieces;
    for (std::uint32_t i = 0; i < count; ++i)
      pieces.push_back(piece(context));
    return pieces;
  }

  // May narrow what the context knows.
  Piece piece(Context& context) {
    const std::uint32_t roll = dice_.below(100);
    if (fault_ && !planted_ && !context.function && dice_.chance(12))
      return planted_fault();
    if (roll < 11 && context.depth < 3)
      return condition(context);
    if (roll < 18 && context.depth < 3 && names_ < 50)
      return loop(context);
    if (roll < 24 && !context.mask.empty() && warps_ok_)
      return warp_piece(context);
    if (roll < 28 && context.uniform && barriers_ok_)
      return block_piece();
    if (roll < 40)
      return memory_piece(context);
    if (roll < 42 && !context.function)
      return atomic_piece();
    if (roll < 44 && ready_functions_ > 0)
      return call_piece(context);
    if (roll < 45 && !context.function && !context.in_loop && !exited_)
      return exit_piece(context);
    if (roll < 46 && context.function)
      return lines({fill_in(dice_, "setp.gt.s32 %pt, $r, 0x60000000", {}),
                    "@%pt st.param.b32 [result], %r2;", "@%pt ret;"});
    if (roll < 49 && !context.function)
      return regular_piece(context);
    if (roll < 50 && !context.function && dice_.chance(30))
      return print_piece();
    if (roll < 56)
      return lines(random_sequence(dice_, words(context)));
    std::vector<std::string> run;
    for (std::uint32_t i = 0, n = 1 + dice_.below(3); i < n; ++i) {
      std::string line = random_instruction(dice_, sm_, words(context));
      if (dice_.chance(18))
        line =
            fmt::format("@{}%p{} {}", dice_.chance(40) ? "!" : "", dice_.below(kPredicates), line);
      run.push_back(std::move(line));
    }
    Piece made;
    for (std::string& line : run)
      made.first.push_back(lines({std::move(line)}));
    return made;
  }

  static Piece lines(std::vector<std::string> text) {
    Piece made;
    made.head = std::move(text);
    return made;
  }

  std::vector<std::string> words(const Context& context) const {
    std::vector<std::string> more = context.counters;
    if (!context.function)
      more.insert(more.end(), {"%u0", "%u1", "%u2", "%a0", "%a1", "%a2", "%tid_", "%gid"});
    return more;
  }

  std::uint32_t name() { return names_++ % 64; }
  std::string label() { return fmt::format("L{}", labels_++); }

  // Registers the same in all threads, or in step with the thread's number.
  Piece regular_piece(const Context& context) {
    if (context.uniform && dice_.chance(50))
      return lines({fmt::format("{}.u32 %u{}, %u{}, {};", dice_.chance(50) ? "add" : "mul.lo",
                                1 + dice_.below(2), dice_.below(3), 1 + dice_.below(9))});
    switch (dice_.below(4)) {
    case 0:
      return lines({fmt::format("add.s32 %a{}, %a{}, %u{};", dice_.below(3), dice_.below(3),
                                dice_.below(3))});
    case 1:
      return lines({fmt::format("mad.lo.s32 %a{}, %tid_, {}, %u{};", dice_.below(3),
                                dice_.below(40), dice_.below(3))});
    case 2:
      return lines(
          {fmt::format("shl.b32 %a{}, %a{}, {};", dice_.below(3), dice_.below(3), dice_.below(5))});
    default:
      return lines({fmt::format("sub.s32 %a{}, %a{}, %a{};", dice_.below(3), dice_.below(3),
                                dice_.below(3))});
    }
  }

  Piece condition(const Context& context) {
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
                                      context.function ? "%r0" : "%tid_",
                                      dice_.below(threads_ + 1)));
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
      made.middle = {fmt::format("bra{} {};", dice_.chance(50) ? ".uni" : "", end),
                     otherwise + ":"};
      made.second = block(other, 1 + dice_.below(4));
      made.tail = {end + ":"};
    } else {
      made.tail = {otherwise + ":"};
    }
    return made;
  }

  Piece loop(const Context& context) {
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
    if (!uniform) {
      body.uniform = body.whole = false;
      if (!context.mask.empty() && warps_ok_ && dice_.chance(45)) {
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
    made.first = block(body, 1 + dice_.below(5));
    if (breaks) {
      Piece leave = lines({fmt::format("@%p{} bra {};", dice_.below(kPredicates), end)});
      made.first.insert(made.first.begin() +
                            dice_.below(static_cast<std::uint32_t>(made.first.size())),
                        std::move(leave));
      made.flat.clear();
      made.control = false; // `end` must stay
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

  Piece exit_piece(Context& context) {
    exited_ = true;
    barriers_ok_ = false;
    const bool leave = dice_.chance(50); // ends here, or goes to where the results are stored
    const std::string test = fmt::format("%q{}", name());
    std::vector<std::string> text = {
        dice_.chance(50)
            ? fmt::format("setp.ge.u32 {}, %tid_, {};", test, dice_.below(threads_ + 1))
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

  Piece call_piece(const Context& context) {
    const std::uint32_t function = dice_.below(ready_functions_);
    const bool uniform = !context.mask.empty() && context.whole && dice_.chance(50);
    return lines({"{", ".param .b32 pa;", ".param .b32 pb;", ".param .f32 pc;", ".param .b32 pr;",
                  "st.param.b32 [pa], " + fill_in(dice_, "$r", words(context)),
                  "st.param.b32 [pb], " + fill_in(dice_, "$r", words(context)),
                  "st.param.f32 [pc], " + fill_in(dice_, "$f", words(context)),
                  fmt::format("call{} (pr), f{}, (pa, pb, pc);", uniform ? ".uni" : "", function),
                  fmt::format("ld.param.b32 %r{}, [pr];", dice_.below(kWords)), "}"});
  }

  Piece print_piece() {
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

  // --- memory -------------------------------------------------------------------------------

  // Sets %td0 to an address in the input and returns the operand.
  std::string input_address(std::vector<std::string>& text, const Context& context, int bytes) {
    const int room = 16384 / bytes;
    switch (dice_.below(4)) {
    case 0:
    case 1:
      text.push_back(
          fmt::format("mad.lo.u32 %t0, %tid_, {}, {};", dice_.below(4), dice_.below(90)));
      if (!context.counters.empty() && dice_.chance(60))
        text.push_back(
            fmt::format("mad.lo.u32 %t0, {}, {}, %t0;", context.counters.back(), dice_.below(3)));
      break;
    case 2:
      text.push_back(fmt::format("and.b32 %t0, %r{}, {};", dice_.below(kWords), room - 1));
      break;
    default: text.push_back(fmt::format("and.b32 %t0, %u{}, {};", dice_.below(3), 63));
    }
    if (dice_.chance(40)) {
      text.push_back(fmt::format("mad.wide.u32 %td0, %t0, {}, %in;", bytes));
    } else if (dice_.chance(50)) {
      text.push_back(fmt::format("mul.wide.s32 %td0, %t0, {};", bytes));
      text.push_back("add.s64 %td0, %in, %td0;");
    } else {
      text.push_back("cvt.u64.u32 %td0, %t0;");
      text.push_back(fmt::format("mad.lo.s64 %td0, %td0, {}, %in;", bytes));
    }
    const std::uint32_t offset = dice_.chance(50)
                                     ? 0
                                     : dice_.below(128 / static_cast<std::uint32_t>(bytes)) *
                                           static_cast<std::uint32_t>(bytes);
    return fmt::format("[%td0+{}]", offset);
  }

  std::string registers(char file, int count) {
    const std::uint32_t files = size_of_file(file);
    const std::uint32_t start = dice_.below(files);
    std::string text;
    for (int i = 0; i < count; ++i)
      text += fmt::format("{}%{}{}", i == 0 ? "" : ", ", file,
                          (start + static_cast<std::uint32_t>(i)) % files);
    return count == 1 ? text : "{" + text + "}";
  }

  std::string guard() {
    return dice_.chance(20)
               ? fmt::format("@{}%p{} ", dice_.chance(40) ? "!" : "", dice_.below(kPredicates))
               : "";
  }

  std::string load(const Type& type, int count, const std::string& space,
                   const std::string& address) {
    const std::string files = type.files;
    const char file = files[dice_.below(static_cast<std::uint32_t>(files.size()))];
    const std::string to = registers(file, count);
    return fmt::format("{}ld{}{}.{} {}, {};", guard(), space,
                       count == 1 ? "" : fmt::format(".v{}", count), type.name, to, address);
  }

  // The f64 stored is canonical in its NaNs.
  void store(std::vector<std::string>& text, const Type& type, int count, const std::string& space,
             const std::string& address) {
    const std::string files = type.files;
    const char file = files[dice_.below(static_cast<std::uint32_t>(files.size()))];
    std::string from = registers(file, file == 'e' ? 1 : count);
    if (file == 'e') {
      text.push_back(fmt::format("testp.notanumber.f64 %pt, {};", from));
      text.push_back(fmt::format("selp.f64 %et, 0d7FF8000000000000, {}, %pt;", from));
      from = count == 1 ? "%et" : "{%et, %et}";
    }
    text.push_back(fmt::format("{}st{}{}.{} {}, {};", guard(), space,
                               count == 1 ? "" : fmt::format(".v{}", count), type.name, address,
                               from));
  }

  Piece memory_piece(const Context& context) {
    std::vector<std::string> text;
    const Type& type = kTypes[dice_.below(kTypes.size())];
    int count = dice_.chance(70) ? 1 : dice_.chance(50) ? 2 : 4;
    if (type.bytes * count > 16)
      count = 2;
    const int bytes = type.bytes * count;
    switch (dice_.below(context.function ? 2 : 7)) {
    case 0: { // local
      std::string address =
          fmt::format("[mine+{}]", dice_.below(64 / static_cast<std::uint32_t>(bytes)) *
                                       static_cast<std::uint32_t>(bytes));
      bool generic = false;
      if (dice_.chance(40)) {
        generic = dice_.chance(30);
        text.push_back(fmt::format("and.b32 %t0, %r{}, {};", dice_.below(kWords), 64 / bytes - 1));
        text.push_back("mov.u64 %td0, mine;");
        if (generic)
          text.push_back("cvta.local.u64 %td0, %td0;");
        text.push_back(fmt::format("mad.wide.u32 %td0, %t0, {}, %td0;", bytes));
        address = "[%td0]";
      }
      const std::string space = generic ? "" : ".local";
      if (dice_.chance(50))
        store(text, type, count, space, address);
      else
        text.push_back(load(type, count, space, address));
      break;
    }
    case 1: { // constant
      std::string address =
          fmt::format("[table+{}]", dice_.below(256 / static_cast<std::uint32_t>(bytes)) *
                                        static_cast<std::uint32_t>(bytes));
      if (dice_.chance(60)) {
        text.push_back(fmt::format("and.b32 %t0, %r{}, {};", dice_.below(kWords), 256 / bytes - 1));
        text.push_back("mov.u64 %td0, table;");
        text.push_back(fmt::format("mad.wide.u32 %td0, %t0, {}, %td0;", bytes));
        address = "[%td0]";
      }
      text.push_back(load(type, count, ".const", address));
      break;
    }
    case 2:
    case 3:
    case 4: { // input
      const std::string address = input_address(text, context, bytes);
      static const std::vector<std::string> spaces = {".global", ".global", ".global.nc", "",
                                                      ".volatile.global"};
      text.push_back(load(type, count, dice_.pick(spaces), address));
      break;
    }
    case 5: { // the thread's own bytes
      std::string address =
          fmt::format("[%own+{}]", dice_.below(64 / static_cast<std::uint32_t>(bytes)) *
                                       static_cast<std::uint32_t>(bytes));
      if (dice_.chance(30)) {
        text.push_back(fmt::format("and.b32 %t0, %r{}, {};", dice_.below(kWords), 64 / bytes - 1));
        text.push_back(fmt::format("mad.wide.u32 %td0, %t0, {}, %own;", bytes));
        address = "[%td0]";
      }
      const std::string space = dice_.chance(80) ? ".global" : "";
      if (dice_.chance(60))
        store(text, type, count, space, address);
      else
        text.push_back(load(type, count, space, address));
      break;
    }
    default: { // side by side with the neighbours'
      const std::uint32_t region = bytes == 1   ? 0U
                                   : bytes == 2 ? 1U
                                   : bytes == 4 ? 2U
                                   : bytes == 8 ? 3U
                                                : 4U;
      text.push_back(fmt::format("mad.wide.u32 %td0, %gid, {}, %soa;", bytes));
      const std::string address = fmt::format("[%td0+{}]", region * 16 * program_.threads());
      if (dice_.chance(60))
        store(text, type, count, ".global", address);
      else
        text.push_back(load(type, count, ".global", address));
    }
    }
    return lines(std::move(text));
  }

  // Every place has one operation, so that the order of them does not show.
  Piece atomic_piece() {
    static const std::vector<std::string> words = {"add.u32", "min.s32", "max.u32", "and.b32",
                                                   "or.b32",  "xor.b32", "max.s32", "add.s32"};
    static const std::vector<std::string> doubles = {"add.u64", "min.s64", "max.u64", "and.b64",
                                                     "or.b64",  "xor.b64", "max.s64", "min.u64"};
    const std::uint32_t which = dice_.below(8);
    const bool wide = dice_.chance(30);
    const int bytes = wide ? 8 : 4;
    std::vector<std::string> text = {
        fmt::format("and.b32 %t0, {}, 3;",
                    dice_.chance(50) ? "%tid_" : fmt::format("%r{}", dice_.below(kWords))),
        fmt::format("mad.lo.u32 %t0, %t0, 8, {};", which),
        fmt::format("mad.wide.u32 %td0, %t0, {}, %atomics;", bytes)};
    const std::string address = fmt::format("[%td0+{}]", wide ? 256 : 0);
    const std::string& operation = (wide ? doubles : words)[which];
    const std::string value = wide ? fmt::format("%d{}", dice_.below(kDoubleWords))
                                   : fmt::format("%r{}", dice_.below(kWords));
    const std::string space = dice_.chance(80) ? ".global" : "";
    if (dice_.chance(50))
      text.push_back(fmt::format("{}red{}.{} {}, {};", guard(), space, operation, address, value));
    else
      text.push_back(fmt::format("{}atom{}.{} {}, {}, {};", guard(), space, operation,
                                 wide ? "%junk64" : "%junk", address, value));
    return lines(std::move(text));
  }

  // --- threads together ---------------------------------------------------------------------

  Piece warp_piece(const Context& context) {
    const std::string& mask = context.mask;
    const auto made = [&](std::string text) {
      return lines({with_mask(std::move(text), mask, context)});
    };
    switch (dice_.below(9)) {
    case 0:
    case 1:
    case 2: {
      static const std::vector<std::string> clamps = {"31",     "31",     "0x1C1F",
                                                      "0x101F", "0x1803", "0"};
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

  std::string with_mask(std::string text, const std::string& mask, const Context& context) {
    return fill_in(dice_, std::move(text) + mask, words(context));
  }

  Piece block_piece() {
    static const std::vector<std::string> barriers = {
        "bar.sync 0;", "bar.sync 0;", "barrier.sync 0;", "barrier.sync.aligned 1;", "bar.sync 2;"};
    const std::string barrier = dice_.pick(barriers);
    std::vector<std::string> text;
    switch (dice_.below(6)) {
    case 0: return lines({fill_in(dice_, fmt::format("barrier.red.popc.u32 $R, 0, $n"), {})});
    case 1: return lines({fill_in(dice_, "barrier.red.[and|or].pred $P, 0, $n", {})});
    case 2: { // sums of the block
      const std::uint32_t which = dice_.below(4);
      static const std::vector<std::string> operations = {"add.u32", "xor.b32", "max.s32",
                                                          "min.u32"};
      const std::string end = label();
      const std::string test = fmt::format("%q{}", name());
      text = {barrier,
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
              fmt::format("{}red.shared.{} [%t0], %r{};", guard(), operations[which],
                          dice_.below(kWords)),
              barrier,
              fmt::format("ld.shared.b32 %r{}, [%t0];", dice_.below(kWords)),
              barrier};
      return lines(std::move(text));
    }
    default: { // a value of another thread
      const Type& type = kTypes[dice_.below(kTypes.size())];
      int count = dice_.chance(70) ? 1 : dice_.chance(50) ? 2 : 4;
      if (type.bytes * count > 16)
        count = 2;
      const std::uint32_t bytes = static_cast<std::uint32_t>(type.bytes * count);
      const std::uint32_t offset = dice_.below(16 / bytes) * bytes;
      text = {"mov.u32 %t2, slots;", "mad.lo.u32 %t1, %tid_, 16, %t2;"};
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
    }
  }

  // --- faults -------------------------------------------------------------------------------

  // One thread does what must not be done.
  Piece planted_fault() {
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

  Dice dice_;
  RandomProgram program_;
  std::uint32_t threads_ = 0; // of a block
  int sm_ = 80;
  bool fault_ = false;
  bool planted_ = false;
  std::uint32_t functions_ = 0;
  std::uint32_t ready_functions_ = 0;
  bool exited_ = false;
  bool barriers_ok_ = true;
  bool warps_ok_ = true;
  std::uint32_t names_ = 0;
  std::uint32_t labels_ = 0;
};

void write(const Piece& piece, std::string& out) {
  const auto put = [&](const std::vector<std::string>& lines) {
    for (const std::string& line : lines)
      out += line + "\n";
  };
  put(piece.head);
  for (const Piece& inner : piece.first)
    write(inner, out);
  put(piece.middle);
  for (const Piece& inner : piece.second)
    write(inner, out);
  put(piece.tail);
}

} // namespace

std::uint32_t RandomProgram::threads() const {
  return grid[0] * grid[1] * grid[2] * block[0] * block[1] * block[2];
}

std::string RandomProgram::text() const {
  std::string out = header;
  for (const Piece& function : functions)
    write(function, out);
  write(kernel, out);
  return out;
}

RandomProgram random_program(std::uint64_t seed) {
  return Generator(seed).make();
}

} // namespace kernevo::test
