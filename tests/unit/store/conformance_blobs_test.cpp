#include "conformance.h"

namespace kernevo::store {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_P(Conformance, BlobsAreKeptOnceAndCheckedWhenRead) {
  auto journal = create();
  write_steps(*journal, 0, 2);
  EXPECT_EQ(*journal->blob(candidate(1).source), source_of(1));
  const std::string bytes("\0\xff\n\0x", 5);
  Candidate binary = candidate(2);
  binary.source = sha256_hex(bytes);
  ASSERT_TRUE(journal->append(binary, {bytes, bytes}));
  EXPECT_EQ(*journal->blob(binary.source), bytes);
  const auto missing = journal->blob(sha256_hex("no such"));
  ASSERT_FALSE(missing);
  EXPECT_THAT(format_error(missing.error()), HasSubstr("missing"));
  const auto audit = journal->audit_blobs();
  ASSERT_TRUE(audit);
  EXPECT_THAT(audit->orphans, IsEmpty());
  EXPECT_THAT(audit->missing, IsEmpty());
}

TEST_P(Conformance, OneBlobMayBelongToManyEvents) {
  auto journal = create();
  write_steps(*journal, 0, 2);
  for (Step step = 2; step < 5; ++step) {
    Candidate same = candidate(step);
    same.source = candidate(1).source;
    ASSERT_TRUE(journal->append(same, {source_of(1)}));
  }
  journal.reset();
  EXPECT_EQ(*reader()->blob(candidate(1).source), source_of(1));
}

TEST_P(Conformance, ALargeBlobComesBackWhole) {
  std::string large(24'000'000, '\0');
  for (std::size_t i = 0; i < large.size(); ++i)
    large[i] = static_cast<char>(i * 2654435761U >> 24);
  Candidate from_afar = candidate(0);
  from_afar.source = sha256_hex(large);
  ASSERT_TRUE(create()->append(from_afar, {large}));
  const auto blob = reader()->blob(from_afar.source);
  ASSERT_TRUE(blob);
  EXPECT_TRUE(*blob == large);
}

TEST_P(Conformance, AMissingBlobIsNamedWithItsRun) {
  auto journal = create();
  const std::string hash = sha256_hex("no such");
  const auto missing = journal->blob(hash);
  ASSERT_FALSE(missing);
  EXPECT_THAT(format_error(missing.error()), HasSubstr(hash.substr(0, 12) + " is missing"));
  EXPECT_THAT(format_error(missing.error()), HasSubstr(kRun));
  for (const std::string& strange :
       {std::string(), std::string("' OR 1=1 --"), std::string("a\nb"), std::string("\0", 1),
        std::string("../../etc/passwd"), std::string(1'000'000, 'f')}) {
    const auto none = journal->blob(strange);
    ASSERT_FALSE(none) << strange;
    EXPECT_TRUE(is_one_line(none.error()));
    EXPECT_LT(format_error(none.error()).size(), 400U);
  }
}

TEST_P(Conformance, TheAuditNamesOrphansAndWhatIsMissing) {
  auto journal = create();
  ASSERT_TRUE(journal->append(started(), {"nobody refers to this"}));
  const auto audit = journal->audit_blobs();
  ASSERT_TRUE(audit);
  EXPECT_THAT(audit->orphans, ElementsAre(sha256_hex("nobody refers to this")));
  EXPECT_THAT(audit->missing, ElementsAre(started().task));
}

} // namespace kernevo::store
