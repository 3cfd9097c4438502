// Who may open a run, and what a reader may do.
#include "conformance.h"

namespace kernevo::store {

using testing::HasSubstr;

TEST_P(Conformance, ALocationHoldsOneRun) {
  create();
  const auto second = kind_->create(kRun);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::usage);
  EXPECT_THAT(format_error(second.error()), HasSubstr("holds a run already"));
  EXPECT_THAT(format_error(second.error()), HasSubstr(kRun));
  for (const auto access : {Journal::Access::read, Journal::Access::write}) {
    const auto none = kind_->open("other", access);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, ErrorCode::usage);
    EXPECT_THAT(format_error(none.error()), HasSubstr("holds no run"));
    EXPECT_THAT(format_error(none.error()), HasSubstr("other"));
  }
}

TEST_P(Conformance, ASecondWriterIsRefused) {
  auto writer = create();
  write_steps(*writer, 0, 1);
  const auto second = kind_->open(kRun, Journal::Access::write);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::usage);
  EXPECT_THAT(format_error(second.error()), HasSubstr("another kernevo is writing this run"));
  EXPECT_THAT(format_error(second.error()), HasSubstr(kRun));
  EXPECT_TRUE(is_one_line(second.error()));
  EXPECT_FALSE(kind_->repair(kRun)) << "nor is it repaired meanwhile";
  EXPECT_TRUE(kind_->open(kRun, Journal::Access::read)) << "readers are welcome";
  EXPECT_FALSE(kind_->open(kRun, Journal::Access::write)) << "and take no lock away";
  EXPECT_TRUE(writer->append(directive(1))) << "the first goes on";
  EXPECT_TRUE(kind_->create("another")) << "another run is another's";
  writer.reset();
  EXPECT_TRUE(kind_->open(kRun, Journal::Access::write));
}

TEST_P(Conformance, AReaderChangesNothing) {
  write_steps(*create(), 0, 1);
  auto journal = reader();
  for (const auto& refused :
       {journal->append(directive(1), {"blob"}), journal->remember("key", "body"),
        journal->put_snapshot({1, "one"})}) {
    ASSERT_FALSE(refused);
    EXPECT_TRUE(is_one_line(refused.error()));
    EXPECT_THAT(format_error(refused.error()), HasSubstr(kRun));
  }
  EXPECT_EQ(journal->events(), 4);
  EXPECT_EQ(events_of(*journal).size(), 4U);
  EXPECT_FALSE(*journal->recall("key"));
  EXPECT_FALSE(*journal->snapshot());
  EXPECT_FALSE(journal->blob(sha256_hex("blob")));
}

TEST_P(Conformance, AReaderSeesARunThatIsBeingWritten) {
  auto writer = create();
  write_steps(*writer, 0, 2);
  auto journal = reader();
  EXPECT_EQ(events_of(*journal).size(), 7U);
  write_steps(*writer, 2, 3);
  EXPECT_EQ(events_of(*journal).size(), 10U);
  EXPECT_EQ(*journal->blob(candidate(2).source), source_of(2));
  EXPECT_EQ(**journal->recall("instance/2"), "body 2");
}

} // namespace kernevo::store
