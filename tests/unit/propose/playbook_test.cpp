#include "kernevo/hardware/gpu_table.h"
#include "kernevo/propose/playbook.h"

#include "kernevo/base/hash.h"
#include "kernevo/task/load_task.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo::propose {
namespace {

using testing::Contains;
using testing::Not;

constexpr const char* kScale = "// @launch scale<<<ceil_div(N, 256), 256>>>(x, y, N)\n"
                               "__global__ void scale(const float* x, float* y, int N) {\n"
                               "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                               "  if (i >= N)\n    return;\n  y[i] = x[i];\n}\n";

class PlaybookOfCopy : public testing::Test {
protected:
  void SetUp() override {
    const auto task =
        parse_task("op_name: copy\ndtype: float32\ntarget_gpu: A100\nshapes: [[4096]]\n", "t.yaml");
    ASSERT_TRUE(task) << format_error(task.error());
    auto playbook = Playbook::create(task->task, *find_gpu("A100"));
    ASSERT_TRUE(playbook) << format_error(playbook.error());
    playbook_ = std::move(*playbook);
    parent_.source = kScale;
    parent_.candidate.source = sha256_hex(parent_.source);
  }

  ProposalRequest request(const std::string& direction) const {
    ProposalRequest request;
    request.directive.mode = SearchMode::exploit;
    request.directive.direction = direction;
    request.parent = parent_;
    request.seen = [this](const std::string& hash) { return seen_.contains(hash); };
    return request;
  }

  std::unique_ptr<Playbook> playbook_;
  Parent parent_;
  std::set<std::string> seen_;
};

TEST_F(PlaybookOfCopy, HasNewStructuresAndChangesOfTheParent) {
  const auto moves = playbook_->moves(parent_);
  ASSERT_TRUE(moves) << format_error(moves.error());
  EXPECT_TRUE((*moves)->front().recipe);
  EXPECT_FALSE((*moves)->back().recipe);
  for (const Move& move : **moves) {
    EXPECT_FALSE(move.answers.empty()) << move.name;
    EXPECT_EQ(move.hash, sha256_hex(move.source));
    EXPECT_EQ(move.genes.back(), move.name);
  }
}

// Until nothing is left, and never the same kernel twice; then the direction is no longer offered.
TEST_F(PlaybookOfCopy, ProposesEachKernelOnce) {
  const std::string direction = "more_in_flight";
  std::set<std::string> sources;
  while (true) {
    const auto proposal = playbook_->propose(request(direction));
    ASSERT_TRUE(proposal) << format_error(proposal.error());
    if (!*proposal)
      break;
    EXPECT_TRUE(sources.insert((*proposal)->source).second);
    seen_.insert(sha256_hex((*proposal)->source));
    ASSERT_LT(sources.size(), 100U);
  }
  EXPECT_GE(sources.size(), 2U);
  const auto offers = playbook_->offers(parent_, request(direction).seen, {});
  ASSERT_TRUE(offers);
  for (const Offer& offer : *offers)
    EXPECT_NE(offer.direction, direction);
}

TEST_F(PlaybookOfCopy, ProposesTheSameForTheSameRequest) {
  const auto first = playbook_->propose(request("more_in_flight"));
  const auto second = playbook_->propose(request("more_in_flight"));
  ASSERT_TRUE(first && *first && second && *second);
  EXPECT_EQ((*first)->source, (*second)->source);
}

TEST_F(PlaybookOfCopy, LeavesOutWhatIsToBeAvoided) {
  ProposalRequest all = request("more_in_flight");
  const auto moves = playbook_->moves(parent_);
  ASSERT_TRUE(moves);
  for (const Move& move : **moves)
    all.avoid.insert(move.name);
  const auto proposal = playbook_->propose(all);
  ASSERT_TRUE(proposal);
  EXPECT_FALSE(*proposal);
  const auto offers = playbook_->offers(parent_, all.seen, all.avoid);
  ASSERT_TRUE(offers);
  EXPECT_TRUE(offers->empty());
}

TEST_F(PlaybookOfCopy, JoinsWhatTwoParentsHave) {
  Parent mate = parent_;
  mate.candidate.step = 3;
  mate.candidate.genes = {"restrict"};
  ProposalRequest join = request("recombine");
  join.directive.mode = SearchMode::recombine;
  join.mate = mate;
  const auto proposal = playbook_->propose(join);
  ASSERT_TRUE(proposal) << format_error(proposal.error());
  ASSERT_TRUE(*proposal);
  EXPECT_THAT((*proposal)->genes, Contains("restrict"));
  EXPECT_THAT((*proposal)->source, testing::HasSubstr("__restrict__"));
  const auto can = playbook_->can_recombine(parent_, mate, join.seen);
  ASSERT_TRUE(can);
  EXPECT_TRUE(*can);
  // The same genes: nothing to join.
  const auto same = playbook_->can_recombine(mate, mate, join.seen);
  ASSERT_TRUE(same);
  EXPECT_FALSE(*same);
}

// What is rewritten begins with the parent's best parameters, not with the file's own.
TEST_F(PlaybookOfCopy, ChangesStartFromTheBestParameters) {
  Parent tuned = parent_;
  tuned.source = "// @tune WIDTH 1 2 4\n// @launch scale<<<ceil_div(N, 256), 256>>>(x, y, N)\n"
                 "__global__ void scale(const float* x, float* y, int N) {\n"
                 "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                 "  for (int k = 0; k < WIDTH; k++)\n    if (i < N) y[i] = x[i];\n}\n";
  tuned.candidate.source = sha256_hex(tuned.source);
  tuned.parameters = {{"WIDTH", 4}};
  const auto moves = playbook_->moves(tuned);
  ASSERT_TRUE(moves) << format_error(moves.error());
  const auto change = std::find_if((*moves)->begin(), (*moves)->end(),
                                   [](const Move& move) { return !move.recipe; });
  ASSERT_NE(change, (*moves)->end());
  EXPECT_THAT(change->source, testing::HasSubstr("@tune WIDTH 4"));
}

} // namespace
} // namespace kernevo::propose
