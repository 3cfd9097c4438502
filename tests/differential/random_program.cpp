#include "generator.h"

#include <fmt/format.h>

namespace kernevo::test {

namespace {

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

RandomProgram Generator::make() {
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

void Generator::make_header() {
  std::string& text = program_.header;
  text = fmt::format(".version 8.0\n.target sm_{}\n.address_size 64\n\n", sm_);
  text += ".const .align 16 .b32 table[64] = {";
  for (int i = 0; i < 64; ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", random_constant(dice_, 32));
  text += "};\n";
  text += ".extern .func (.param .b32 result) vprintf (.param .b64 text, .param .b64 values);\n";
  text += ".global .align 1 .b8 line[8] = {37, 117, 32, 37, 120, 10, 0, 0};\n";
}

std::vector<std::string> Generator::declarations() {
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

void Generator::make_function(std::uint32_t index) {
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
  if (dice_.chance(25))
    function.tail = recursion(index);
  for (const char* line : {"xor.b32 %r0, %r0, %r3;", "mov.b32 %t0, %f1;", "xor.b32 %r0, %r0, %t0;",
                           "st.param.b32 [result], %r0;", "ret;", "}"})
    function.tail.emplace_back(line);
  program_.functions.push_back(std::move(function));
  ready_functions_ = index + 1;
}

void Generator::initialise(std::vector<std::string>& lines, std::uint32_t first_float) {
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

void Generator::make_kernel() {
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
           fmt::format("mad.wide.u32 %own, %gid, {}, %own;", kOwnPerThread), "mov.u32 %a0, %tid_;",
           "mad.lo.u32 %a1, %tid_, 12, %u0;", "sub.s32 %a2, 100, %tid_;"})
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

std::vector<std::string> Generator::results() {
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
    lines.push_back(fmt::format("st.global.v4.b32 {}, {{%r{}, %r{}, %r{}, %r{}}};", where, i, i + 1,
                                i + 2, i + 3));
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

std::vector<Piece> Generator::block(Context context, std::uint32_t count) {
  std::vector<Piece> pieces;
  for (std::uint32_t i = 0; i < count; ++i)
    pieces.push_back(piece(context));
  return pieces;
}

Piece Generator::piece(Context& context) {
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
    return block_piece(context);
  if (roll < 40)
    return memory_piece(context);
  if (roll < 42 && !context.function)
    return dice_.chance(60) ? atomic_piece() : ordered_atomic_piece();
  if (roll < 44 && ready_functions_ > 0)
    return dice_.chance(70) ? call_piece(context) : pointer_call_piece(context);
  if (roll < 45 && !context.function && (!context.in_loop || context.plain) && !exited_)
    return exit_piece(context);
  if (roll < 46 && context.function)
    return lines({fill_in(dice_, "setp.gt.s32 %pt, $r, 0x60000000", {}),
                  "@%pt st.param.b32 [result], %r2;", "@%pt ret;"});
  if (roll < 49 && !context.function)
    return regular_piece(context);
  if (roll < 50 && !context.function && dice_.chance(30))
    return print_piece();
  if (roll < 51 && context.depth < 3)
    return switch_piece(context);
  if (roll < 52)
    return schedule_piece();
  if (roll < 53 && !context.function && context.depth < 2 && dice_.chance(30))
    return lock_piece();
  if (roll < 54 && context.uniform && !exited_ && dice_.chance(40))
    return flag_piece();
  if (roll < 55 && !context.function && context.depth == 0 && !long_ && dice_.chance(60))
    return long_loop();
  if (roll < 58)
    return lines(random_sequence(dice_, words(context)));
  std::vector<std::string> run;
  for (std::uint32_t i = 0, n = 1 + dice_.below(3); i < n; ++i) {
    std::string line = random_instruction(dice_, sm_, words(context));
    if (dice_.chance(18))
      line = fmt::format("@{}%p{} {}", dice_.chance(40) ? "!" : "", dice_.below(kPredicates), line);
    run.push_back(std::move(line));
  }
  Piece made;
  for (std::string& line : run)
    made.first.push_back(lines({std::move(line)}));
  return made;
}

Piece Generator::lines(std::vector<std::string> text) {
  Piece made;
  made.head = std::move(text);
  return made;
}

std::vector<std::string> Generator::words(const Context& context) const {
  std::vector<std::string> more = context.counters;
  if (!context.function)
    more.insert(more.end(), {"%u0", "%u1", "%u2", "%a0", "%a1", "%a2", "%tid_", "%gid"});
  return more;
}

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
