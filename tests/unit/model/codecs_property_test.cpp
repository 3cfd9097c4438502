// Every record that crosses a process comes back as it went, and nothing else is taken for one.
#include "kernevo/model/json.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/model/launch_counts.h"
#include "kernevo/model/run_event.h"

#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <rapidcheck.h>

namespace kernevo {
namespace {

std::string words() {
  return *rc::gen::container<std::string>(rc::gen::inRange('\1', '\x7f'));
}

template <class T> T any() {
  return *rc::gen::arbitrary<T>();
}

int line() {
  return *rc::gen::inRange(0, std::numeric_limits<int>::max());
}

double finite() {
  return *rc::gen::suchThat(rc::gen::arbitrary<double>(),
                            [](double v) { return std::isfinite(v); });
}

double amount() {
  return std::abs(finite());
}

template <class T> std::optional<T> maybe(const std::function<T()>& make) {
  return any<bool>() ? std::optional<T>(make()) : std::nullopt;
}

template <class T> std::vector<T> some(const std::function<T()>& make) {
  std::vector<T> list(*rc::gen::inRange<std::size_t>(0, 4));
  for (T& one : list)
    one = make();
  return list;
}

template <class Enum> Enum one_of(Enum last) {
  return static_cast<Enum>(*rc::gen::inRange(0, static_cast<int>(last) + 1));
}

Place place() {
  return {words(), line(), line()};
}

Diagnostic diagnostic() {
  return {one_of(Diagnostic::Severity::error), place(), words()};
}

Finding finding() {
  Finding f;
  f.kind = one_of(FindingKind::crash);
  f.message = words();
  f.kernel = words();
  f.source_file = words();
  f.source_line = line();
  f.ptx_line = line();
  f.has_thread = any<bool>();
  if (f.has_thread) {
    f.block = {any<std::uint32_t>(), 0, any<std::uint32_t>()};
    f.thread = {1, any<std::uint32_t>(), any<std::uint32_t>()};
  }
  f.space = words();
  f.address = any<std::uint64_t>();
  f.size = any<std::uint32_t>();
  f.buffer = words();
  return f;
}

double any_number() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (*rc::gen::inRange(0, 5)) {
  case 0: return infinity;
  case 1: return -infinity;
  case 2: return std::numeric_limits<double>::quiet_NaN();
  default: return finite();
  }
}

CheckedCase checked_case() {
  const auto count = [] { return maybe<std::uint64_t>(any<std::uint64_t>); };
  return {words(),
          words(),
          count(),
          any<bool>(),
          any<std::uint64_t>(),
          count(),
          any<std::uint64_t>(),
          count(),
          any_number()};
}

Verdict verdict() {
  Verdict v;
  v.rung = one_of(Rung::real_shapes);
  v.fault = maybe<FaultKind>([] { return one_of(FaultKind::candidate_runtime_error); });
  if (v.fault)
    v.fault_class = one_of(FaultClass::ambiguous);
  v.correct = !v.fault;
  v.summary = words();
  v.diagnostics = some<Diagnostic>(diagnostic);
  v.finding = maybe<Finding>(finding);
  v.mismatch = maybe<Mismatch>([] {
    return Mismatch{words(), some<std::int64_t>(any<std::int64_t>), any_number(), any_number(),
                    any_number()};
  });
  v.failing_case = maybe<CheckedCase>(checked_case);
  v.cases = some<CheckedCase>(checked_case);
  v.printed = words();
  v.warnings = some<std::string>(words);
  v.hidden_warnings = some<std::string>(words);
  return v;
}

Build build() {
  Build b;
  b.ok = any<bool>();
  b.syntax_error = !b.ok && any<bool>();
  b.compiler = words();
  b.architecture = words();
  b.ptx = words();
  b.ptx_hash = words();
  b.assembler = words();
  const auto bytes = [] { return maybe<Bytes>([] { return Bytes{any<std::uint64_t>()}; }); };
  b.resources = some<KernelResources>([&] {
    return KernelResources{words(), words(), maybe<int>(line), bytes(),         bytes(),
                           bytes(), bytes(), bytes(),          maybe<int>(line)};
  });
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i)
    b.lowered_names[words()] = words();
  b.diagnostics = some<Diagnostic>(diagnostic);
  b.from_cache = any<bool>();
  return b;
}

LaunchPlan plan() {
  LaunchPlan p;
  p.scratch = some<ScratchBuffer>(
      [] { return ScratchBuffer{words(), one_of(DType::int64), any<std::int64_t>()}; });
  p.launches = some<Launch>([] {
    Launch launch;
    launch.kernel = words();
    launch.grid = {any<std::int64_t>(), any<std::int64_t>(), any<std::int64_t>()};
    launch.dynamic_shared = any<std::int64_t>();
    launch.cooperative = any<bool>();
    launch.arguments = {{words(), BufferArgument{any<std::size_t>()}},
                        {words(), any<std::int64_t>()},
                        {words(), finite()}};
    launch.place = place();
    return launch;
  });
  return p;
}

LaunchCounts counts() {
  LaunchCounts c;
  c.kernel = words();
  c.grid = {any<std::uint32_t>(), 1, 2};
  c.shared_bytes = any<std::uint64_t>();
  c.instructions = some<InstructionCounts>([] {
    InstructionCounts i;
    i.ptx_line = line();
    i.source_file = words();
    i.opcode = words();
    i.executions = any<std::uint32_t>();
    i.threads = i.executions * 32;
    i.diverged = i.executions;
    i.accesses = some<AccessCounts>([] {
      AccessCounts a;
      a.space = one_of(MemorySpace::constant);
      a.action = one_of(MemoryAction::atomic);
      a.requests = any<std::uint64_t>();
      a.sectors = any<std::uint64_t>();
      return a;
    });
    return i;
  });
  c.footprints = some<FootprintCounts>([] {
    FootprintCounts f;
    f.buffer = words();
    f.read_sectors = amount();
    f.read_overlap = {0.25, std::nullopt, 1};
    return f;
  });
  c.blocks = some<BlockCounts>([] {
    return BlockCounts{any<std::uint64_t>(), any<std::uint64_t>(), any<std::uint64_t>(),
                       static_cast<double>(any<std::uint32_t>()) / 8, any<std::uint64_t>()};
  });
  c.sampling_error = maybe<double>(amount);
  return c;
}

Candidate candidate() {
  Candidate c;
  c.step = any<std::uint64_t>();
  c.source = words();
  c.parents = some<Step>(any<Step>);
  c.proposer = words();
  c.title = words();
  c.genes = some<std::string>(words);
  c.cost = {any<std::uint64_t>(), maybe<double>(finite)};
  c.lessons = some<std::string>(words);
  c.language = one_of(KernelLanguage::python);
  return c;
}

Evaluation evaluation() {
  Evaluation e;
  e.step = any<std::uint64_t>();
  e.outcome = one_of(StepOutcome::infrastructure);
  e.fault = maybe<FaultKind>([] { return one_of(FaultKind::candidate_runtime_error); });
  e.summary = words();
  e.objective = maybe<Nanoseconds>([] { return Nanoseconds{finite()}; });
  e.shapes = some<ShapeTime>([] {
    return ShapeTime{words(), Nanoseconds{finite()}, Nanoseconds{finite()}, Nanoseconds{finite()}};
  });
  e.parameters = {{words(), any<std::int64_t>()}};
  e.facts = maybe<KernelFacts>(
      [] { return KernelFacts{line(), words(), line(), any<bool>(), line(), finite(), words()}; });
  return e;
}

Error error() {
  return {one_of(ErrorCode::unavailable), words(), maybe<Place>(place), words()};
}

// One codec, by its text alone.
struct Codec {
  std::string name;
  std::function<std::string()> make;
  std::function<Result<std::string>(std::string_view)> again;
};

template <class T>
Codec codec(std::string name, std::function<T()> make,
            std::function<Result<T>(std::string_view)> read) {
  return {std::move(name), [make] { return to_json(make()); },
          [read](std::string_view text) {
            return read(text).map([](const T& record) { return to_json(record); });
          }};
}

std::vector<Codec> codecs() {
  return {codec<Verdict>("verdict", verdict, verdict_from_json),
          codec<Build>("build", build, build_from_json),
          codec<LaunchPlan>("plan", plan, launch_plan_from_json),
          codec<Finding>("finding", finding, finding_from_json),
          codec<LaunchCounts>("counts", counts, launch_counts_from_json),
          codec<Candidate>("candidate", candidate, candidate_from_json),
          codec<Evaluation>("evaluation", evaluation, evaluation_from_json),
          codec<Error>("error", error, error_from_json)};
}

TEST(CodecProperties, EveryRecordComesBackAsItWent) {
  for (const Codec& c : codecs())
    EXPECT_TRUE(rc::check(c.name, [&] {
      const std::string text = c.make();
      const auto again = c.again(text);
      if (!again)
        RC_FAIL(again.error().message);
      RC_ASSERT(*again == text);
    }));
}

TEST(CodecProperties, WhatHasAnotherKeyTwoOfOneOrOneLessIsRefused) {
  // Keys that may be missing: of runs from before they were.
  const std::set<std::string> optional = {"dollars",      "lessons",  "language", "fault",
                                          "duplicate_of", "roofline", "facts",    "objective_ns"};
  for (const Codec& c : codecs())
    EXPECT_TRUE(rc::check(c.name, [&] {
      const Json whole = Json::parse(c.make());
      Json more = whole;
      more["no_such_key"] = 1;
      RC_ASSERT(!c.again(more.dump()));
      const std::string first = "{\"" + whole.begin().key() + "\":" + whole.begin().value().dump();
      RC_ASSERT(!c.again(first + "," + whole.dump().substr(1)));
      for (const auto& item : whole.items()) {
        if (optional.contains(item.key()))
          continue;
        Json less = whole;
        less.erase(item.key());
        RC_ASSERT(!c.again(less.dump()));
        Json other = whole;
        other[item.key()] = Json{{"what", 1e300}};
        if (!item.value().is_object())
          RC_ASSERT(!c.again(other.dump()));
      }
    }));
}

TEST(CodecProperties, BytesThatWentWrongAreReadOrRefused) {
  for (const Codec& c : codecs())
    EXPECT_TRUE(rc::check(c.name, [&] {
      std::string text = c.make();
      text[*rc::gen::inRange<std::size_t>(0, text.size())] = any<char>();
      const auto again = c.again(text);
      RC_ASSERT(again || !again.error().message.empty());
      RC_ASSERT(!c.again(text.substr(0, text.size() / 2)));
    }));
}

} // namespace
} // namespace kernevo
