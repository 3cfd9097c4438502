// What any kernel must move, found out by changing inputs of a function of this program.
#include "kernevo/evaluate/needed_bytes.h"

#include "kernevo/task/load_task.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>

namespace kernevo {
namespace {

struct Tensors {
  const SubjectRun& run;
  const Arena& arena;
  template <class T = float> std::span<T> get(std::size_t index) const {
    const auto region = arena.region(run.tensors[index].region);
    return {reinterpret_cast<T*>(region.data()), region.size() / sizeof(T)};
  }
};
using Function = std::function<bool(const Tensors&)>; // false: faults

class BoundFunction final : public BoundSubject {
public:
  BoundFunction(const Function& function, int& runs) : function_(function), runs_(runs) {}
  std::uint64_t blocks() const override { return 1; }
  std::optional<std::array<std::int64_t, 3>> separable_grid() const override {
    return std::nullopt;
  }
  Result<RunOutcome> run(const SubjectRun& run, const Arena& arena) override {
    ++runs_;
    if (function_({run, arena}))
      return RunOutcome{};
    Finding finding;
    finding.kind = FindingKind::out_of_bounds;
    return RunOutcome::stopped_by(finding);
  }

private:
  const Function& function_;
  int& runs_;
};

class FunctionSubject final : public Subject {
public:
  explicit FunctionSubject(Function function) : function_(std::move(function)) {}
  KernelLanguage language() const override { return KernelLanguage::python; }
  bool instrumented() const override { return true; }
  Result<std::unique_ptr<BoundSubject>> bind(const Problem&) override {
    return std::make_unique<BoundFunction>(function_, runs);
  }
  int runs = 0;

private:
  Function function_;
};

constexpr std::uint64_t kPlenty = 96;
constexpr int kMostRuns = 96;

NeededBytes needed(const std::string& arguments, Function function, std::uint64_t runs = kPlenty) {
  const auto loaded =
      parse_task("op_name: mine\ndtype: float32\ntarget_gpu: A100\narguments:\n" + arguments +
                     "shapes: [{N: 65536}]\nlaunch: f<<<1, 1>>>(N)\n"
                     "reference_kernel: '__global__ void f(int N) {}'\n",
                 "task.yaml");
  EXPECT_TRUE(loaded) << format_error(loaded.error());
  const auto problem = make_problem(loaded->task, loaded->task.shapes[0]);
  FunctionSubject subject(std::move(function));
  const auto found =
      find_needed_bytes(subject, make_inputs(*problem, InputSet::nominal, 5), {.runs = runs});
  EXPECT_TRUE(found) << format_error(found.error());
  EXPECT_LE(subject.runs, 3 * kMostRuns);
  return found && *found ? **found : NeededBytes{-1, -1, 0, 0};
}

std::string argument(const std::string& name, const std::string& direction,
                     const std::string& rest) {
  return fmt::format("  - {{name: {}, direction: {}, {}}}\n", name, direction, rest);
}

const std::string kFloats = "dtype: float32, shape: [N]";
const std::string kIn = argument("x", "in", kFloats);
const std::string kInOut = kIn + argument("y", "out", kFloats);
constexpr double kTensor = 65536 * 4;

TEST(NeededBytes, AreAllOfAnElementwiseTask) {
  const NeededBytes n = needed(kInOut, [](const Tensors& t) {
    std::ranges::transform(t.get(0), t.get(1).begin(), [](float x) { return 3 * x; });
    return true;
  });
  EXPECT_EQ(n.bytes, 2 * kTensor);
  EXPECT_EQ(n.changed, n.tried);
  EXPECT_GT(n.least, 1.95 * kTensor);
  EXPECT_LT(n.least, 2 * kTensor);
}

// Where the reference takes too long for more, what it must write is a bound all the same.
TEST(NeededBytes, ToWriteAreThoseOfWholeOutputs) {
  const auto loaded = parse_task("op_name: mine\ndtype: float32\ntarget_gpu: A100\narguments:\n" +
                                     kInOut + argument("z", "inout", kFloats) +
                                     "shapes: [{N: 65536}]\nlaunch: f<<<1, 1>>>(N)\n"
                                     "reference_kernel: '__global__ void f(int N) {}'\n",
                                 "task.yaml");
  ASSERT_TRUE(loaded) << format_error(loaded.error());
  EXPECT_EQ(bytes_to_write(*make_problem(loaded->task, loaded->task.shapes[0])), kTensor)
      << "what is updated in place may stay as it was";
}

TEST(NeededBytes, OfAConstantInputAreAll) {
  const std::string constant =
      argument("x", "in", kFloats + ", init: 'constant(2)'") +
      argument("w", "in", "dtype: int32, shape: [N], init: 'constant(3)'") +
      argument("y", "out", kFloats);
  const NeededBytes n = needed(constant, [](const Tensors& t) {
    for (std::size_t i = 0; i < t.get(2).size(); ++i)
      t.get(2)[i] = t.get(0)[i] * static_cast<float>(t.get<int>(1)[i]);
    return true;
  });
  EXPECT_EQ(n.bytes, 3 * kTensor);
}

TEST(NeededBytes, DoNotHoldWhatIsReadAndThrownAway) {
  const NeededBytes n = needed(kInOut, [](const Tensors& t) {
    for (std::size_t i = 0; i < t.get(1).size(); ++i) {
      const float twice = t.get(0)[i] + t.get(0)[i];
      t.get(1)[i] = i < 32768 ? twice : 1.0F;
    }
    return true;
  });
  EXPECT_NEAR(n.bytes, 1.5 * kTensor, 0.15 * kTensor);
  EXPECT_LE(n.least, 1.5 * kTensor);
}

TEST(NeededBytes, DoNotHoldRowsThatAMaskLeavesOut) {
  const std::string masked =
      kIn + argument("keep", "in", "dtype: int32, shape: [N / 64], init: 'integers(0, 1)'") +
      argument("y", "out", kFloats);
  const NeededBytes n = needed(masked, [](const Tensors& t) {
    for (std::size_t i = 0; i < t.get(2).size(); ++i)
      t.get(2)[i] = t.get<int>(1)[i / 64] != 0 ? t.get(0)[i] : 0;
    return true;
  });
  EXPECT_NEAR(n.bytes, 1.5 * kTensor, 0.17 * kTensor);
  EXPECT_LE(n.least, 1.5 * kTensor);
}

TEST(NeededBytes, DoNotHoldWhatLiesBehindTheFirstOneFound) {
  const std::string first = kIn + argument("y", "out", "dtype: int32, shape: [N / 256]");
  const NeededBytes n = needed(first, [](const Tensors& t) {
    for (std::size_t row = 0; row < t.get(1).size(); ++row) {
      int found = -1;
      for (int i = 0; i < 256; ++i)
        if (t.get(0)[row * 256 + static_cast<std::size_t>(i)] > 0 && found < 0)
          found = i;
      t.get<int>(1)[row] = found;
    }
    return true;
  });
  EXPECT_LT(n.bytes, 0.15 * kTensor);
}

TEST(NeededBytes, OfAGatherAreTheRowsThatAreNamed) {
  const std::string gather =
      argument("table", "in", kFloats) +
      argument("index", "in", "dtype: int32, shape: [N / 64], init: 'integers(0, 1023)'") +
      argument("y", "out", kFloats);
  const NeededBytes n = needed(gather, [](const Tensors& t) {
    for (std::size_t i = 0; i < t.get(2).size(); ++i) {
      const int row = t.get<int>(1)[i / 64];
      if (row < 0 || row > 1023)
        return false;
      t.get(2)[i] = t.get(0)[static_cast<std::size_t>(row) * 64 + i % 64];
    }
    return true;
  });
  EXPECT_NEAR(n.bytes, (1 + 0.63) * kTensor, 0.16 * kTensor); // 1 - 1/e of the rows
  EXPECT_LE(n.least, (1 + 0.66) * kTensor);
}

TEST(NeededBytes, OfAReductionToOneValueAreAll) {
  const std::string one = kIn + argument("y", "out", "dtype: float32, shape: [1]");
  const NeededBytes sum = needed(one, [](const Tensors& t) {
    t.get(1)[0] = std::accumulate(t.get(0).begin(), t.get(0).end(), 0.0F);
    return true;
  });
  EXPECT_EQ(sum.bytes, kTensor + 4);
  EXPECT_GT(sum.least, 0.9 * kTensor);
  const NeededBytes greatest = needed(one, [](const Tensors& t) {
    t.get(1)[0] = *std::ranges::max_element(t.get(0));
    return true;
  });
  EXPECT_EQ(greatest.bytes, kTensor + 4);
  const NeededBytes least = needed(one, [](const Tensors& t) {
    t.get(1)[0] = *std::ranges::min_element(t.get(0));
    return true;
  });
  EXPECT_EQ(least.bytes, kTensor + 4);
}

TEST(NeededBytes, OfRowsThatManySectorsShareAreAll) {
  const std::string rows = kIn + argument("y", "out", "dtype: float32, shape: [16]");
  const NeededBytes n = needed(rows, [](const Tensors& t) {
    for (std::size_t row = 0; row < 16; ++row)
      t.get(1)[row] = *std::ranges::max_element(t.get(0).subspan(row * 4096, 4096));
    return true;
  });
  EXPECT_EQ(n.changed, n.tried);
  EXPECT_GE(n.tried, 60U);
}

TEST(NeededBytes, InPlaceAreWhatBecomesAnother) {
  const std::string place = argument("y", "inout", kFloats);
  const NeededBytes touched = needed(place, [](const Tensors& t) {
    for (std::size_t i = 0; i < 16384; ++i)
      t.get(0)[i] += 1;
    return true;
  });
  EXPECT_NEAR(touched.bytes, 0.5 * kTensor, 0.12 * kTensor); // a quarter read, a quarter written
  EXPECT_LE(touched.least, 0.5 * kTensor);
}

TEST(NeededBytes, KeepToIndicesThatAre) {
  // What leaves the range of the values faults: it is tried without.
  const std::string lookup =
      argument("x", "in", kFloats + ", init: 'uniform(0, 1)'") + argument("y", "out", kFloats);
  const NeededBytes n = needed(lookup, [](const Tensors& t) {
    for (std::size_t i = 0; i < t.get(1).size(); ++i) {
      if (t.get(0)[i] < 0 || t.get(0)[i] >= 1)
        return false;
      t.get(1)[i] = static_cast<float>(static_cast<int>(t.get(0)[i] * 1000));
    }
    return true;
  });
  EXPECT_EQ(n.bytes, 2 * kTensor);
  // Integers that cannot be changed at all are not counted.
  const std::string fixed = argument("n", "in", "dtype: int32, shape: [N], init: 'constant(7)'") +
                            argument("y", "out", kFloats);
  const NeededBytes none = needed(fixed, [](const Tensors& t) {
    for (std::size_t i = 0; i < t.get(1).size(); ++i) {
      if (t.get<int>(0)[i] != 7)
        return false;
      t.get(1)[i] = 1;
    }
    return true;
  });
  EXPECT_EQ(none.bytes, kTensor);
}

TEST(NeededBytes, AreThoseOfOutputsWhereRunsAreTooDear) {
  const NeededBytes n = needed(
      kInOut,
      [](const Tensors& t) {
        std::ranges::copy(t.get(0), t.get(1).begin());
        return true;
      },
      1);
  EXPECT_EQ(n.bytes, kTensor);
  EXPECT_EQ(n.least, kTensor);
  EXPECT_EQ(n.tried, 0U);
}

TEST(NeededBytes, AreNotKnownOfWhatFaultsOrIsNoFunction) {
  EXPECT_LT(needed(kInOut, [](const Tensors&) { return false; }).bytes, 0);
  int calls = 0;
  const NeededBytes n = needed(kInOut, [&](const Tensors& t) {
    ++calls;
    std::ranges::fill(t.get(1), static_cast<float>(calls));
    return true;
  });
  EXPECT_EQ(n.bytes, kTensor);
}

TEST(LeastShare, IsTheBoundOfClopperAndPearson) {
  EXPECT_EQ(least_share(0, 10), 0);
  EXPECT_NEAR(least_share(128, 128), 0.96466, 1e-5); // 0.01 ^ (1 / 128)
  EXPECT_NEAR(least_share(1, 1), 0.01, 1e-9);
  EXPECT_NEAR(least_share(50, 100), 0.3802, 2e-3);
}

} // namespace
} // namespace kernevo
