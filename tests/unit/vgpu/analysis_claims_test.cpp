// Runs random kernels on the interpreter and holds what the analysis says against the registers.
#include "analysis_harness.h"

#include <algorithm>
#include <fmt/format.h>
#include <random>

namespace kernevo::vgpu {
namespace {

using analysis::Shape;
using testing::Bench;
using testing::Parameters;

// Values that are widened must not wrap in the narrow type: that claim is checked by its user. So
// every instruction says how many bits its result may have, and those that widen a value that may
// be too large are dropped again.
struct Line {
  std::string text;
  std::string written;
  std::vector<std::string> read;
  int grows = 0;  // bits, on top of the widest source
  int most = 99;  // bits at most
  int widens = 0; // the source's type has so many bits that mean a number
};

class Generator {
public:
  explicit Generator(std::uint32_t seed)
      : random_(seed), words_(pick(8, 40)), longs_(pick(4, 16)), halves_(pick(2, 5)) {}

  std::string run() {
    define_all();
    sequence(0);
    drop_what_wraps();
    return assemble();
  }

  struct Point {
    std::string reg;
    std::uint32_t slot;
  };
  std::vector<Point> points; // registers noted on the way, with the lanes that were there
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    auto add = [&](const char* prefix, int count) {
      for (int i = 0; i < count; ++i)
        all.push_back(fmt::format("%{}{}", prefix, i));
    };
    add("r", words_);
    add("rd", longs_);
    add("h", halves_);
    add("p", kPredicates);
    return all;
  }

private:
  static constexpr int kPredicates = 5;

  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool chance(int percent) { return pick(0, 99) < percent; }
  std::string word() { return fmt::format("%r{}", pick(0, readable_ - 1)); }
  // Two thirds are written once, or no straight value would be left at the end.
  std::string written_word() {
    return fmt::format("%r{}", writable_ >= 0 ? writable_ : pick(words_ * 2 / 3, words_ - 1));
  }
  std::string wide() { return fmt::format("%rd{}", pick(0, longs_ - 1)); }
  std::string half() { return fmt::format("%h{}", pick(0, halves_ - 1)); }
  std::string predicate() { return fmt::format("%p{}", pick(0, kPredicates - 1)); }
  template <class... T> std::string one_of(T... choices) {
    const std::vector<std::string> all{choices...};
    return all[static_cast<std::size_t>(pick(0, static_cast<int>(all.size()) - 1))];
  }

  void line(std::string text) { lines_.push_back({std::move(text), "", {}, 0, 99, 0}); }
  void line(Line made) {
    if (depth_ > 0 && chance(8))
      made.text = fmt::format("@{}{} {}", chance(50) ? "!" : "", predicate(), made.text);
    lines_.push_back(std::move(made));
  }

  std::string small() { return std::to_string(pick(0, 40)); }
  std::string mask() {
    return one_of("1", "3", "7", "15", "31", "63", "255", "-2", "-8", "-16", "-32", "16", "24",
                  "0xff00", "0");
  }

  // Gives every register a value before any branch.
  void define_all() {
    for (int i = 0; i < words_; ++i) {
      writable_ = i;
      readable_ = std::max(i, 1);
      const std::string name = fmt::format("%r{}", i);
      if (i == 0 || chance(25))
        line({fmt::format("mov.u32 {}, {};", name, one_of("%tid.x", "%tid.y", "%laneid")),
              name,
              {},
              11,
              99,
              0});
      while (lines_.empty() || lines_.back().written != name)
        instruction();
    }
    readable_ = words_;
    writable_ = -1;
    for (int i = 0; i < longs_; ++i) {
      const std::string name = fmt::format("%rd{}", i);
      const std::string from = word();
      line({fmt::format("mul.wide.u32 {}, {}, {};", name, from, pick(1, 9)),
            name,
            {from},
            4,
            99,
            31});
    }
    for (int i = 0; i < kPredicates; ++i)
      line(fmt::format("setp.lt.s32 %p{}, {}, {};", i, word(), small()));
  }

  void instruction() {
    const std::string d = written_word();
    const std::string a = word();
    const std::string b = word();
    switch (pick(0, 31)) {
    case 0:
    case 1:
    case 2:
      return line({fmt::format("mov.u32 {}, {};", d,
                               one_of("%tid.x", "%tid.x", "%tid.y", "%tid.z", "%laneid", "%ctaid.x",
                                      "%warpid", "%ntid.x", "%lanemask_lt")),
                   d,
                   {},
                   0,
                   33,
                   0});
    case 3:
    case 4: return line({fmt::format("mov.u32 {}, {};", d, small()), d, {}, 6, 99, 0});
    case 5: return line({fmt::format("mov.u32 {}, {};", d, a), d, {a}, 0, 99, 0});
    case 6:
    case 7: return line({fmt::format("add.u32 {}, {}, {};", d, a, b), d, {a, b}, 1, 99, 0});
    case 8: return line({fmt::format("add.u32 {}, {}, {};", d, a, small()), d, {a}, 7, 99, 0});
    case 9: return line({fmt::format("sub.u32 {}, {}, {};", d, a, b), d, {a, b}, 99, 99, 0});
    case 10: {
      const int factor = pick(-3, 9);
      return line({fmt::format("mul.lo.s32 {}, {}, {};", d, a, factor),
                   d,
                   {a},
                   factor < 0 ? 99 : 4,
                   99,
                   0});
    }
    case 11:
      return line(
          {fmt::format("mad.lo.u32 {}, {}, {}, {};", d, a, pick(0, 20), b), d, {a, b}, 6, 99, 0});
    case 12: return line({fmt::format("mul.lo.u32 {}, {}, {};", d, a, b), d, {a, b}, 99, 99, 0});
    case 13: {
      const int by = chance(10) ? pick(28, 34) : pick(0, 6);
      return line({fmt::format("shl.b32 {}, {}, {};", d, a, by), d, {a}, by, 99, 0});
    }
    case 14:
      return line({fmt::format("shr.u32 {}, {}, {};", d, a, chance(10) ? 33 : pick(0, 8)),
                   d,
                   {a},
                   0,
                   32,
                   0});
    case 15:
      return line({fmt::format("shr.s32 {}, {}, {};", d, a, chance(30) ? 31 : pick(0, 8)),
                   d,
                   {a},
                   0,
                   99,
                   0});
    case 16:
    case 17:
      return line({fmt::format("{}.b32 {}, {}, {};", one_of("and", "or", "xor"), d, a, mask()),
                   d,
                   {a},
                   99,
                   99,
                   0});
    case 18:
      return line({fmt::format("{}.b32 {}, {}, {};", one_of("and", "or", "xor"), d, a, b),
                   d,
                   {a, b},
                   0,
                   99,
                   0});
    case 19:
      return line({fmt::format("bfe.{} {}, {}, {}, {};", one_of("u32", "s32"), d, a, pick(0, 34),
                               pick(0, 34)),
                   d,
                   {a},
                   99,
                   99,
                   0});
    case 20:
      return line({fmt::format("{}.{} {}, {}, {};", one_of("rem", "div"), one_of("u32", "s32"), d,
                               a, one_of("1", "2", "8", "16", "32", "64", "3", "12")),
                   d,
                   {a},
                   0,
                   99,
                   0});
    case 21:
      return line(
          {fmt::format("selp.b32 {}, {}, {}, {};", d, a, b, predicate()), d, {a, b}, 0, 99, 0});
    case 22:
    case 23:
      return line({fmt::format("setp.{}.s32 {}, {}, {};", one_of("lt", "ge", "eq", "ne"),
                               predicate(), a, chance(50) ? small() : b),
                   "",
                   {},
                   0,
                   99,
                   0});
    case 24: return line({fmt::format("min.u32 {}, {}, {};", d, a, small()), d, {}, 6, 99, 0});
    case 25: return narrow_or_widen(d, a);
    case 26: return wide_arithmetic(a);
    case 27: return warp_instruction(d, a);
    case 28: return load(d, a);
    case 29: {
      const std::string p = predicate();
      return line({fmt::format("{}.pred {}, {}, {};", one_of("and", "or", "xor"), p, predicate(),
                               predicate()),
                   "",
                   {},
                   0,
                   99,
                   0});
    }
    case 30: return line({fmt::format("popc.b32 {}, {};", d, a), d, {}, 6, 99, 0});
    default: return note();
    }
  }

  void narrow_or_widen(const std::string& d, const std::string& a) {
    const std::string h = half();
    const std::string q = wide();
    switch (pick(0, 6)) {
    case 0: return line({fmt::format("cvt.u16.u32 {}, {};", h, a), h, {a}, 0, 99, 0});
    case 1:
      return line(
          {fmt::format("cvt.{} {}, {};", one_of("u32.u16", "s32.s16"), d, h), d, {h}, 0, 99, 15});
    case 2:
      return line(
          {fmt::format("cvt.{} {}, {};",
                       one_of("u32.u8", "s32.s8", "u8.u32", "s8.u32", "s16.u8", "u16.s8"), d, a),
           d,
           {a},
           99,
           99,
           0});
    case 3:
      return line(
          {fmt::format("cvt.{} {}, {};", one_of("u64.u32", "s64.s32"), q, a), q, {a}, 0, 99, 31});
    case 4: return line({fmt::format("cvt.u32.u64 {}, {};", d, q), d, {q}, 0, 99, 0});
    default:
      return line({fmt::format("mul.wide.{} {}, {}, {};", one_of("u32", "s32"), q, a, pick(0, 9)),
                   q,
                   {a},
                   4,
                   99,
                   31});
    }
  }

  void wide_arithmetic(const std::string& a) {
    const std::string q = wide();
    const std::string x = wide();
    const std::string y = wide();
    switch (pick(0, 5)) {
    case 0: return line({fmt::format("add.u64 {}, {}, {};", q, x, y), q, {x, y}, 1, 99, 0});
    case 1: return line({fmt::format("shl.b64 {}, {}, {};", q, x, pick(0, 5)), q, {x}, 5, 99, 0});
    case 2: return line({fmt::format("and.b64 {}, {}, {};", q, x, mask()), q, {x}, 99, 99, 0});
    case 3: return line({fmt::format("shr.s64 {}, {}, {};", q, x, pick(0, 7)), q, {x}, 0, 99, 0});
    case 4: return line({fmt::format("neg.s64 {}, {};", q, x), q, {x}, 99, 99, 0});
    default:
      return line(
          {fmt::format("mad.wide.u32 {}, {}, {}, {};", q, a, pick(0, 9), x), q, {a, x}, 5, 99, 31});
    }
  }

  void warp_instruction(const std::string& d, const std::string& a) {
    line("activemask.b32 %m;");
    switch (pick(0, 3)) {
    case 0: return line(fmt::format("shfl.sync.bfly.b32 {}, {}, 1, 31, %m;", d, a), d);
    case 1: return line(fmt::format("vote.sync.ballot.b32 {}, {}, %m;", d, predicate()), d);
    case 2:
      return line(fmt::format("vote.sync.any.pred {}, {}, %m;", predicate(), predicate()), "");
    default: return line(fmt::format("redux.sync.max.u32 {}, {}, %m;", d, a), d);
    }
  }

  // Without a guard: the mask names lanes that would not come.
  void line(std::string text, std::string written) {
    lines_.push_back({std::move(text), std::move(written), {}, 99, 99, 0});
  }

  void load(const std::string& d, const std::string& a) {
    line(fmt::format("and.b32 %t, {}, 63;", a));
    line("mul.wide.u32 %td, %t, 4;");
    line("add.u64 %td, %td, %in;");
    line({fmt::format("ld.global.u32 {}, [%td];", d), d, {}, 99, 99, 0});
  }

  // Lanes that note the same mask here were here together, if it is no loop.
  void note() {
    if (loops_ > 0 || points.size() >= 24)
      return;
    const auto slot = static_cast<std::uint32_t>(points.size());
    const std::string reg = chance(70) ? word() : wide();
    points.push_back({reg, slot});
    line("activemask.b32 %m;");
    line(fmt::format("cvt.u64.u32 %td, %m;"));
    line(fmt::format("st.global.u64 [%mine+{}], %td;", 16 * slot));
    if (reg.starts_with("%rd"))
      line(fmt::format("st.global.u64 [%mine+{}], {};", 16 * slot + 8, reg));
    else
      line(fmt::format("cvt.u64.u32 %td, {};\n  st.global.u64 [%mine+{}], %td;", reg,
                       16 * slot + 8));
  }

  void sequence(int depth) {
    const int label = labels_++;
    ends_.push_back(fmt::format("E{}", label));
    ++depth_;
    std::vector<std::pair<int, std::string>> skips; // labels still to be set
    for (int i = pick(3, 9); i > 0; --i) {
      for (auto& [left, name] : skips)
        if (--left == 0)
          line(name + ":");
      const int kind = pick(0, 19);
      if (kind < 2 && depth < 4) {
        branch(depth);
      } else if (kind < 4 && depth < 3) {
        loop(depth);
      } else if (kind == 4 && depth > 0) {
        // Out of this sequence or one around it: break, continue, goto.
        const auto to = static_cast<std::size_t>(pick(0, static_cast<int>(ends_.size()) - 1));
        line(fmt::format("@{}{} bra {};", chance(50) ? "!" : "", predicate(), ends_[to]));
      } else if (kind == 5) {
        const std::string name = fmt::format("S{}", labels_++);
        line(fmt::format("@{} bra {};", predicate(), name));
        skips.emplace_back(pick(1, 4), name);
      } else if (kind == 6 && chance(25)) {
        line(fmt::format("@{} exit;", predicate()));
      } else {
        for (int n = pick(1, 4); n > 0; --n)
          instruction();
      }
    }
    for (const auto& [left, name] : skips)
      if (left > 0)
        line(name + ":");
    line(fmt::format("E{}:", label));
    ends_.pop_back();
    --depth_;
  }

  void branch(int depth) {
    const int label = labels_++;
    line(fmt::format("@{} bra T{};", predicate(), label));
    sequence(depth + 1);
    if (chance(60)) {
      line(fmt::format("bra.uni J{};\nT{}:", label, label));
      sequence(depth + 1);
      line(fmt::format("J{}:", label));
    } else {
      line(fmt::format("T{}:", label));
    }
  }

  void loop(int depth) {
    const int label = labels_++;
    ++loops_;
    line(fmt::format("mov.u32 %c{0}, 0;\n  and.b32 %l{0}, {1}, 3;", label,
                     chance(50) ? word() : std::string("%n")));
    line(fmt::format("L{}:", label));
    sequence(depth + 1);
    line(fmt::format("add.u32 %c{0}, %c{0}, 1;\n  setp.le.u32 %q{0}, %c{0}, %l{0};", label));
    if (chance(40)) {
      const std::string d = word();
      line({fmt::format("add.u32 {}, %c{}, {};", d, label, small()), d, {}, 7, 99, 0});
    }
    line(fmt::format("@%q{0} bra L{0};", label));
    --loops_;
  }

  void drop_what_wraps() {
    for (bool dropped = true; dropped;) {
      dropped = false;
      std::map<std::string, int> bits;
      for (bool changed = true; changed;) {
        changed = false;
        for (const Line& made : lines_) {
          if (made.written.empty())
            continue;
          int result = 0;
          if (made.most == 33)
            result = made.text.find("lanemask") == std::string::npos ? 11 : 32;
          for (const std::string& reg : made.read)
            result = std::max(result, bits[reg]);
          result = std::min(result + made.grows, 99);
          int& known = bits[made.written];
          changed = changed || result > known;
          known = std::max(known, result);
        }
      }
      for (Line& made : lines_)
        if (made.widens != 0 && bits[made.read[0]] > made.widens) {
          made = {"", "", {}, 0, 99, 0};
          dropped = true;
        }
    }
  }

  std::string assemble() const {
    std::string text = testing::header() + R"(
.visible .entry k(.param .u64 out, .param .u64 input, .param .u64 notes, .param .u32 n)
{
  .reg .pred %p<8>, %q<2000>;
  .reg .b16 %h<8>;
  .reg .b32 %r<60>, %c<2000>, %l<2000>, %n, %m, %t, %g, %s, %w;
  .reg .b64 %rd<40>, %in, %td, %mine, %to, %total;
  ld.param.u32 %n, [n];
  ld.param.u64 %in, [input];
  ld.param.u64 %mine, [notes];
  mov.u32 %g, %tid.z;
  mov.u32 %s, %ntid.y;
  mov.u32 %w, %tid.y;
  mad.lo.u32 %g, %g, %s, %w;
  mov.u32 %s, %ntid.x;
  mov.u32 %w, %tid.x;
  mad.lo.u32 %g, %g, %s, %w;
  mov.u32 %s, %ctaid.x;
  mad.lo.u32 %g, %s, 1024, %g;
  mul.wide.u32 %to, %g, 384;
  add.u64 %mine, %mine, %to;
)";
    for (const Line& made : lines_)
      if (!made.text.empty())
        text += "  " + made.text + "\n";
    // Everything at the end, and that the thread got there.
    const auto all = names();
    text += fmt::format("  ld.param.u64 %total, [out];\n  mul.wide.u32 %to, %g, {};\n"
                        "  add.u64 %to, %to, %total;\n  mov.u64 %td, 1;\n"
                        "  st.global.u64 [%to], %td;\n",
                        8 * (all.size() + 1));
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string& reg = all[i];
      if (reg.starts_with("%rd"))
        text += fmt::format("  mov.u64 %td, {};\n", reg);
      else if (reg.starts_with("%p"))
        text += fmt::format("  selp.u64 %td, 1, 0, {};\n", reg);
      else
        text += fmt::format("  cvt.u64.{} %td, {};\n", reg.starts_with("%h") ? "u16" : "u32", reg);
      text += fmt::format("  st.global.u64 [%to+{}], %td;\n", 8 * (i + 1));
    }
    return text + "}\n";
  }

  std::mt19937 random_;
  int words_;
  int longs_;
  int halves_;
  std::vector<Line> lines_;
  std::vector<std::string> ends_;
  int readable_ = 1;  // words with a value
  int writable_ = -1; // the only one to be written, or any
  int labels_ = 0;
  int depth_ = 0;
  int loops_ = 0;
};

struct LaneValue {
  std::uint32_t lane;
  std::uint64_t value;
};

// What the shape says about lanes that ran together; "" if it is true.
std::string refute(const Shape& shape, int bits, const std::vector<LaneValue>& lanes) {
  if (shape.is_varying() || lanes.empty())
    return "";
  const std::uint64_t mask = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  if (!shape.is_straight())
    return "nothing is said to write it";
  std::map<std::uint32_t, std::uint64_t> bases;
  for (const LaneValue& lane : lanes) {
    const auto position = static_cast<std::uint64_t>(lane.lane % shape.group);
    const std::uint64_t base =
        (lane.value - static_cast<std::uint64_t>(shape.stride) * position) & mask;
    const auto [at, fresh] = bases.emplace(lane.lane / shape.group, base);
    if (at->second != base)
      return fmt::format("lane {} has {:#x}, base {:#x} is not {:#x}", lane.lane, lane.value, base,
                         at->second);
    const bool aligned = shape.alignment == 0 ? base == 0 : base % shape.alignment == 0;
    if (!aligned)
      return fmt::format("base {:#x} is not aligned to {}", base, shape.alignment);
  }
  return "";
}

struct Tally {
  int straight = 0;
  int uniform = 0;
  int grouped = 0;
  int varying = 0;
};

void check_program(std::uint32_t seed, std::array<std::uint32_t, 3> block, Tally& tally) {
  Generator generator(seed);
  const std::string text = generator.run();
  const testing::Analyzed analyzed(text, block);
  ASSERT_NE(analyzed.code, nullptr) << text;
  Bench bench(text);
  const auto names = generator.names();
  const std::size_t row = names.size() + 1;
  constexpr std::size_t kThreads = 2048;
  constexpr std::size_t kNotes = 48;
  std::vector<std::uint32_t> input(64);
  std::mt19937 random(seed);
  for (std::uint32_t& value : input)
    value = random();
  const auto out = bench.buffer("out", std::vector<std::uint64_t>(kThreads * row, 0));
  const auto in = bench.buffer("in", input);
  const auto notes = bench.buffer("notes", std::vector<std::uint64_t>(kThreads * kNotes, 0));
  Parameters parameters;
  parameters.add(out).add(in).add(notes).add(seed % 7);
  const LaunchResult result = bench.launch("k", {2, 1, 1}, block, parameters);
  ASSERT_RUNS(result) << text;
  const auto values = bench.content<std::uint64_t>(out);
  const auto noted = bench.content<std::uint64_t>(notes);

  const std::uint32_t threads = block[0] * block[1] * block[2];
  auto shape_of_name = [&](const std::string& name) -> const Shape* {
    const auto& registers = analyzed.code->function->registers;
    for (std::size_t i = 0; i < registers.size(); ++i)
      if (registers[i].name == name)
        return &analyzed.shapes.registers[i];
    return nullptr;
  };
  for (std::uint32_t first = 0; first < 2048; first += 32) {
    if (first % 1024 >= threads)
      continue;
    std::vector<std::uint32_t> there;
    for (std::uint32_t t = first; t < first + 32 && t % 1024 < threads; ++t)
      there.push_back(t);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Shape* shape = shape_of_name(names[i]);
      if (shape == nullptr)
        continue;
      std::vector<LaneValue> lanes;
      for (const std::uint32_t t : there)
        if (values[t * row] == 1)
          lanes.push_back({t % 32, values[t * row + 1 + i]});
      const int bits = names[i].starts_with("%rd") ? 64 : names[i].starts_with("%h") ? 16 : 32;
      ASSERT_EQ(refute(*shape, bits, lanes), "")
          << "seed " << seed << ", " << names[i] << " at the end\n"
          << text;
      if (first == 0) {
        tally.varying += shape->is_varying() ? 1 : 0;
        tally.uniform += shape->is_uniform() ? 1 : 0;
        tally.grouped += shape->is_straight() && shape->group < 32 ? 1 : 0;
        tally.straight += shape->is_straight() && shape->stride != 0 ? 1 : 0;
      }
    }
    for (const auto& point : generator.points) {
      std::map<std::uint64_t, std::vector<LaneValue>> together;
      for (const std::uint32_t t : there)
        if (const std::uint64_t mask = noted[t * kNotes + 2 * point.slot]; mask != 0)
          together[mask].push_back({t % 32, noted[t * kNotes + 2 * point.slot + 1]});
      const Shape* shape = shape_of_name(point.reg);
      ASSERT_NE(shape, nullptr);
      for (const auto& [mask, lanes] : together)
        ASSERT_EQ(refute(*shape, point.reg.starts_with("%rd") ? 64 : 32, lanes), "")
            << "seed " << seed << ", " << point.reg << " at point " << point.slot << "\n"
            << text;
    }
  }
}

TEST(AnalysisClaims, HoldForRandomKernels) {
  const std::vector<std::array<std::uint32_t, 3>> blocks = {
      {64, 1, 1}, {16, 8, 1}, {8, 4, 3}, {32, 2, 2}, {1, 48, 1}, {20, 1, 1},
      {16, 1, 4}, {5, 7, 2},  {4, 4, 4}, {48, 2, 1}, {1, 8, 8},
  };
  Tally tally;
  for (std::uint32_t seed = 1; seed <= 400 && !HasFatalFailure(); ++seed)
    check_program(seed, blocks[seed % blocks.size()], tally);
  // The kernels must not be so wild that nothing is claimed.
  EXPECT_GT(tally.uniform, 1000);
  EXPECT_GT(tally.straight, 300);
  EXPECT_GT(tally.grouped, 100);
  EXPECT_GT(tally.varying, 1000);
}

} // namespace
} // namespace kernevo::vgpu
