// A folder with a tiny task, for tests that plan and begin runs.
#pragma once

#include "kernevo/run/plan.h"
#include "test_folder.h"

#include <gtest/gtest.h>
#include <string>

namespace kernevo::run {

class RunFixture : public testing::Test {
protected:
  void SetUp() override;

  // A task of one's own keys beside the operation's.
  std::string task(const std::string& more = "") const;
  RunPlan plan(const std::string& more = "") const;
  bool anything_left() const; // of a run

  const TestFolder folder_;
};

// Adds with `extra` before the store.
std::string adding_kernel(const std::string& extra = "");

} // namespace kernevo::run
