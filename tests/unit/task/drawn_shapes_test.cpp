#include "kernevo/task/drawn_shapes.h"

#include "kernevo/task/load_task.h"
#include "kernevo/task/operation.h"
#include "test_folder.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace kernevo {
namespace {

using testing::IsEmpty;

constexpr std::uint64_t kSeeds = 200;

Task task_of(const std::string& text) {
  const auto loaded = parse_task(text + "target_gpu: A100\n", "t.yaml");
  EXPECT_TRUE(loaded) << format_error(loaded.error());
  return loaded->task;
}

// What a buggy kernel might get wrong, as a predicate over the sizes it meets.
using Flaw = std::function<bool(const Dims&)>;
using Flaws = std::vector<std::pair<std::string, Flaw>>;

bool meets(const std::vector<ShapeCase>& shapes, const Flaw& flaw) {
  return std::any_of(shapes.begin(), shapes.end(),
                     [&](const ShapeCase& shape) { return flaw(shape.dims); });
}

void expect_met_by_every_seed(const Task& task, const Flaws& flaws) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const std::vector<ShapeCase> shapes = draw_shapes(task, seed);
    for (const auto& [name, flaw] : flaws)
      EXPECT_TRUE(meets(shapes, flaw)) << name << ", seed " << seed;
  }
}

Flaws flaws_of(const std::string& size) {
  const auto flaw = [&](const char* name, bool (*wrong)(std::int64_t)) {
    return std::pair(fmt::format("{} of {}", name, size),
                     Flaw([=](const Dims& dims) { return wrong(dims.at(size)); }));
  };
  return {flaw("one", [](std::int64_t n) { return n == 1; }),
          flaw("below a tile", [](std::int64_t n) { return n > 1 && n < 16; }),
          flaw("odd and above a tile", [](std::int64_t n) { return n > 32 && n % 2 == 1; }),
          flaw("no multiple of 4", [](std::int64_t n) { return n > 32 && n % 4 == 2; }),
          flaw("no multiple of 8", [](std::int64_t n) { return n > 32 && n % 8 == 4; }),
          flaw("thousands", [](std::int64_t n) { return n > 1000; })};
}

TEST(DrawnShapes, MeetEveryClassOfALength) {
  expect_met_by_every_seed(task_of("op_name: relu\ndtype: float32\nshapes: [[65536]]\n"),
                           flaws_of("N"));
}

TEST(DrawnShapes, MeetEveryClassOfAMatrix) {
  Flaws flaws = flaws_of("M");
  for (auto& flaw : flaws_of("N"))
    flaws.push_back(std::move(flaw));
  const auto add = [&](const char* name, bool (*wrong)(std::int64_t, std::int64_t)) {
    flaws.emplace_back(name, [=](const Dims& dims) { return wrong(dims.at("M"), dims.at("N")); });
  };
  add("both one", [](auto m, auto n) { return m == 1 && n == 1; });
  add("one row", [](auto m, auto n) { return m == 1 && n > 32; });
  add("one column", [](auto m, auto n) { return n == 1 && m > 32; });
  add("ragged rows, tiled columns", [](auto m, auto n) { return m % 2 == 1 && n % 128 == 0; });
  add("tiled rows, ragged columns", [](auto m, auto n) { return m % 128 == 0 && n % 2 == 1; });
  add("wide and thin", [](auto m, auto n) { return m <= 3 && n > 1000; });
  add("high and thin", [](auto m, auto n) { return m > 1000 && n <= 3; });
  add("not square", [](auto m, auto n) { return m > 32 && n > 32 && m != n; });
  expect_met_by_every_seed(task_of("op_name: softmax\ndtype: float32\nshapes: [[4096, 4096]]\n"),
                           flaws);
}

TEST(DrawnShapes, MeetEveryClassOfAProduct) {
  Flaws flaws;
  for (const char* size : {"M", "N", "K"})
    for (auto& flaw : flaws_of(size))
      flaws.push_back(std::move(flaw));
  const auto add = [&](const char* name, bool (*wrong)(std::int64_t, std::int64_t, std::int64_t)) {
    flaws.emplace_back(
        name, [=](const Dims& dims) { return wrong(dims.at("M"), dims.at("N"), dims.at("K")); });
  };
  add("ragged depth",
      [](auto m, auto n, auto k) { return m % 128 == 0 && n % 128 == 0 && k % 2 == 1 && k > 1; });
  add("ragged columns",
      [](auto m, auto n, auto k) { return m % 128 == 0 && n % 2 == 1 && n > 1 && k % 128 == 0; });
  add("depth of one", [](auto m, auto n, auto k) { return m > 32 && n > 32 && k == 1; });
  add("deep and thin", [](auto m, auto n, auto k) { return m <= 3 && n <= 3 && k > 1000; });
  expect_met_by_every_seed(
      task_of("op_name: matmul\ndtype: float16\nshapes: [[4096, 4096, 4096]]\n"), flaws);
}

// A kernel that is right on the sizes it was judged on before and wrong on others.
TEST(DrawnShapes, KnowingThoseOfOneCheckIsWorthNothing) {
  for (const char* text :
       {"op_name: relu\ndtype: float32\nshapes: [[65536]]\n",
        "op_name: softmax\ndtype: float32\nshapes: [[4096, 4096]]\n",
        "op_name: attention\ndtype: float16\nshapes: [[2, 8, 1024, 64]]\n",
        "op_name: conv2d\ndtype: float32\nshapes: [[8, 64, 56, 56, 128, 3, 3]]\n"}) {
    const Task task = task_of(text);
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const std::vector<ShapeCase> known = draw_shapes(task, seed);
      const std::vector<ShapeCase> fresh = draw_shapes(task, seed + kSeeds);
      const auto unknown = std::count_if(fresh.begin(), fresh.end(), [&](const ShapeCase& shape) {
        return std::find(known.begin(), known.end(), shape) == known.end();
      });
      EXPECT_GE(unknown, 3) << text << seed;
    }
  }
}

TEST(DrawnShapes, FollowFromTheSeed) {
  const Task task = task_of("op_name: matmul\ndtype: float32\nshapes: [[512, 512, 512]]\n");
  EXPECT_EQ(draw_shapes(task, 7), draw_shapes(task, 7));
  EXPECT_NE(draw_shapes(task, 7), draw_shapes(task, 8));
}

TEST(DrawnShapes, OfEveryStarterAreValidAndCheap) {
  for (const OperationInfo& op : operations()) {
    const auto starter = make_starter(op.name, op.dtypes.front(), "A100");
    ASSERT_TRUE(starter) << format_error(starter.error());
    const TestFolder folder;
    folder.write(starter->kernel_file, starter->kernel_source);
    const auto loaded = parse_task(starter->task_yaml, folder.path("task.yaml"));
    ASSERT_TRUE(loaded) << format_error(loaded.error());
    const auto work = Expression::parse(find_table_row(op.name)->work);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      std::set<std::string> ids;
      double total = 0;
      for (const ShapeCase& shape : draw_shapes(loaded->task, seed)) {
        EXPECT_TRUE(ids.insert(shape.id).second) << shape.id;
        const auto problem = make_problem(loaded->task, shape);
        ASSERT_TRUE(problem) << op.name << " " << shape.id;
        for (const BufferSpec& buffer : problem->buffers)
          EXPECT_LE(buffer.elements(), 20'000) << op.name << " " << shape.id;
        total += static_cast<double>(*work->evaluate(shape.dims));
      }
      EXPECT_GE(ids.size(), 5U) << op.name;
      EXPECT_LE(total, 15e6) << op.name << " " << seed;
    }
  }
}

TEST(DrawnShapes, KeepFilterHeadAndGroups) {
  const Task conv = task_of("op_name: conv2d\ndtype: float32\nstride: 2\npadding: 2\ngroups: 32\n"
                            "shapes: [[8, 64, 56, 56, 128, 5, 3]]\n");
  const Task attention =
      task_of("op_name: attention\ndtype: float16\ncausal: 1\nshapes: [[2, 8, 1024, 128]]\n");
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const ShapeCase& shape : draw_shapes(conv, seed)) {
      EXPECT_EQ(shape.dims.at("R"), 5);
      EXPECT_EQ(shape.dims.at("S"), 3);
      EXPECT_EQ(shape.dims.at("stride"), 2);
      EXPECT_EQ(shape.dims.at("C") % 32, 0);
      EXPECT_EQ(shape.dims.at("K") % 32, 0);
    }
    for (const ShapeCase& shape : draw_shapes(attention, seed)) {
      EXPECT_EQ(shape.dims.at("D"), 128);
      EXPECT_EQ(shape.dims.at("causal"), 1);
    }
  }
}

TEST(DrawnShapes, TakeAttributesOfEveryRealShape) {
  const Task task = task_of("op_name: attention\ndtype: float16\n"
                            "shapes: [[1, 1, 128, 64], [1, 1, 128, 32]]\n");
  std::set<std::int64_t> heads;
  for (const ShapeCase& shape : draw_shapes(task, 1))
    heads.insert(shape.dims.at("D"));
  EXPECT_EQ(heads, (std::set<std::int64_t>{32, 64}));
}

// --- tasks that list their shapes

constexpr const char* kOwn = "op_name: own\ndtype: float32\nreference_kernel: |\n"
                             "  __global__ void own(const float* x, float* y, int N) {}\n"
                             "arguments:\n"
                             "  - {name: x, direction: in, dtype: float32, shape: [N]}\n"
                             "  - {name: y, direction: out, dtype: float32, shape: [N]}\n";

Task own_task(const std::string& shapes, const std::string& blocks = "1") {
  return task_of(fmt::format("{}launch: own<<<{}, 64>>>(x, y, N)\n{}", kOwn, blocks, shapes));
}

void expect_drawn(const Task& task, const std::function<bool(const Dims&)>& holds) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const std::vector<ShapeCase> shapes = draw_shapes(task, seed);
    EXPECT_EQ(shapes.size(), 2U) << seed;
    for (const ShapeCase& shape : shapes)
      EXPECT_TRUE(holds(shape.dims)) << shape.id;
  }
}

TEST(DrawnShapes, OfListedSizesHaveTheirRangeAndDivisors) {
  expect_drawn(own_task("shapes: [{N: 1048576}]\ncheck_shapes: [{N: 48}, {N: 4096}]\n"),
               [](const Dims& dims) {
                 const std::int64_t n = dims.at("N");
                 return n % 16 == 0 && n > 48 && n <= 65536 && n != 4096;
               });
  expect_drawn(own_task("shapes: [{N: 4099}]\ncheck_shapes: [{N: 1}, {N: 1003}]\n"),
               [](const Dims& dims) { return dims.at("N") % 2 == 1; });
}

TEST(DrawnShapes, OfPowersOfTwoArePowersOfTwo) {
  expect_drawn(own_task("shapes: [{N: 65536}]\ncheck_shapes: [{N: 64}, {N: 1024}]\n"),
               [](const Dims& dims) {
                 return std::has_single_bit(static_cast<std::uint64_t>(dims.at("N")));
               });
}

TEST(DrawnShapes, KeepTheRatioOfTiedSizes) {
  expect_drawn(own_task("shapes: [{N: 8192, B: 64}]\n"
                        "check_shapes: [{N: 384, B: 3}, {N: 128, B: 1}]\n",
                        "B"),
               [](const Dims& dims) { return dims.at("N") == 128 * dims.at("B"); });
}

TEST(DrawnShapes, AreNoneWhereNobodyKnowsHowSizesAreTied) {
  const char* tied = "shapes: [{N: 8192, B: 63}]\n"
                     "check_shapes: [{N: 384, B: 5}, {N: 128, B: 1}]\n";
  EXPECT_THAT(draw_shapes(own_task(tied, "B"), 3), IsEmpty());
  for (const char* shapes : {"shapes: [{N: 8192}]\n", "shapes: [{N: 64}]\ncheck_shapes: []\n",
                             "shapes: [{N: 8192}]\ncheck_shapes: [{id: same, N: 8192}]\n"})
    EXPECT_THAT(draw_shapes(own_task(shapes), 3), IsEmpty()) << shapes;
}

TEST(DrawnShapes, OfAListedProductKeepWhatItsShapesShare) {
  const Task task = task_of("op_name: matmul\ndtype: float16\nshapes: [[4096, 4096, 1024]]\n"
                            "check_shapes: [[48, 48, 16], [80, 80, 32]]\n");
  expect_drawn(task, [](const Dims& dims) {
    return dims.at("M") == dims.at("N") && dims.at("M") % 16 == 0 && dims.at("K") % 16 == 0 &&
           dims.at("K") <= dims.at("M") && dims.at("M") >= 48;
  });
}

} // namespace
} // namespace kernevo
