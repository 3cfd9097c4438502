// The same made-up history told to every kind of store: they all tell the same.
#include "conformance.h"

#include "kernevo/base/random.h"
#include "test_folder.h"

namespace kernevo::store {
namespace {

constexpr Step kSteps = 12; // few, so that they meet
constexpr std::uint64_t kActs = 120;

// Whether the act was taken.
bool act(Journal& journal, const CounterRandom& random, std::uint64_t index) {
  const CounterRandom dice(random.bits(index));
  const Step step = dice.bits(0) % kSteps;
  switch (dice.bits(1) % 6) {
  case 0:
  case 1: {
    Directive d = directive(step);
    d.direction = fmt::format("direction {}", dice.bits(2) % 3);
    return journal.append(d, {fmt::format("blob {}", index)}).has_value();
  }
  case 2: {
    Candidate c = candidate(step);
    c.source = sha256_hex(source_of(dice.bits(2) % 4));
    return journal.append(c, {source_of(dice.bits(2) % 4)}).has_value();
  }
  case 3: {
    Evaluation e = evaluation(step);
    e.identity = fmt::format("identity {}", dice.bits(2) % 4);
    if (dice.bits(3) % 2 == 0)
      e.objective.reset();
    return journal.append(e, {}, 0.25).has_value();
  }
  case 4:
    return journal.remember(fmt::format("key {}", dice.bits(2) % 8), fmt::format("{}", index))
        .has_value();
  default:
    return journal
        .put_snapshot({static_cast<std::int64_t>(dice.bits(2) % 60), fmt::format("fold {}", index)})
        .has_value();
  }
}

std::string told(Journal& journal) {
  std::string text;
  for (const StoredEvent& stored : events_of(journal))
    text += fmt::format("{} {} {}\n", stored.number, stored.seconds.value_or(-1),
                        to_json(stored.event));
  const auto rows = journal.steps(0, 100);
  EXPECT_TRUE(rows);
  for (const StepRow& row : *rows)
    text += fmt::format("{} {} {} {} {} {} {} {} {} {} {}\n", row.step, row.mode, row.proposer,
                        row.direction, row.parent ? static_cast<int>(*row.parent) : -1, row.source,
                        row.title, row.identity, row.outcome, row.objective_ns.value_or(-1),
                        row.summary);
  for (Step i = 0; i < 4; ++i)
    for (const Step before : {Step{0}, Step{5}, kSteps}) {
      const auto source = journal.find_source(sha256_hex(source_of(i)), before);
      const auto identity = journal.find_identity(fmt::format("identity {}", i), before);
      EXPECT_TRUE(source && identity);
      text += fmt::format("{} {}\n", source->value_or(kSteps), identity->value_or(kSteps));
    }
  const auto keys = journal.remembered();
  EXPECT_TRUE(keys);
  for (const std::string& key : *keys)
    text += fmt::format("{}: {}\n", key, **journal.recall(key));
  const auto snapshot = journal.snapshot();
  EXPECT_TRUE(snapshot);
  text += *snapshot ? fmt::format("{} {}\n", (*snapshot)->number, (*snapshot)->body) : "none\n";
  auto audit = journal.audit_blobs();
  EXPECT_TRUE(audit);
  std::sort(audit->orphans.begin(), audit->orphans.end());
  text += fmt::format("{} {}\n", fmt::join(audit->orphans, " "), fmt::join(audit->missing, " "));
  return text;
}

TEST(Kinds, TellTheSameOfTheSameHistory) {
  for (std::uint64_t round = 0; round < 8; ++round) {
    SCOPED_TRACE(round);
    const CounterRandom random(round);
    std::string first;
    ASSERT_GE(all_kinds().size(), 2U);
    for (const KindEntry& entry : all_kinds()) {
      const TestFolder folder;
      const auto kind = entry.make(folder.path("store"));
      auto journal = kind->create("run");
      ASSERT_TRUE(journal);
      std::string text;
      for (std::uint64_t i = 0; i < kActs; ++i) {
        text += act(**journal, random, i) ? "1" : "0";
        if (random.bits(kActs + i) % 40 == 0) {
          journal->reset();
          journal = kind->open("run", Journal::Access::write);
          ASSERT_TRUE(journal);
        }
      }
      text += "\n" + told(**journal);
      if (first.empty())
        first = text;
      EXPECT_EQ(text, first) << entry.name;
      EXPECT_NE(text.find('0'), std::string::npos) << "something is refused, too";
    }
  }
}

} // namespace
} // namespace kernevo::store
