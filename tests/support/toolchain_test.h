// Tests that compile kernels with the CUDA toolchain, and those that run them in worker processes,
// which are the program itself.
#pragma once

#include "kernevo/base/worker_process.h"
#include "kernevo/toolchain/toolchain.h"
#include "places.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <initializer_list>
#include <optional>

namespace kernevo {

// The toolchain if it has these parts; else the running test is skipped and must return.
std::optional<Toolchain>
needed_toolchain(std::initializer_list<std::filesystem::path Toolchain::*> parts = {});

// A test of kernels in workers. A SetUp of one's own calls this one first, and returns if that
// skipped.
template <class Base = testing::Test> class KernelTestOf : public Base {
protected:
  static void SetUpTestSuite() { set_worker_program(program_path()); }
  void SetUp() override { needed_toolchain(); }
};
using KernelTest = KernelTestOf<>;

} // namespace kernevo
