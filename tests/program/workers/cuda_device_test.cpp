// What a device behind a CUDA driver does beyond what every device must do. `make test-gpu` runs
// this on a real GPU.
#include "cuda_under_test.h"
#include "kernevo/base/temporary_folder.h"
#include "kernevo/device/gpu_lease.h"
#include "kernevo/timing/shots.h"
#include "test_needs.h"
#include "toolchain_test.h"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace kernevo {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kElements = 1000; // no multiple of anything

// C = A + B, and what else `more` does; `S` is scratch of as many elements.
std::string add_kernel(const std::string& more) {
  return "extern \"C\" __global__ void add(float* A, const float* B, float* C, float* S, int N) {\n"
         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  if (i < N) { S[i] = B[i]; C[i] = A[i] + S[i]; }\n  " +
         more + "\n}\n";
}

TensorBinding tensor(const char* name, std::size_t region, bool read_only, bool initialized) {
  return {name, region, read_only, initialized, std::nullopt};
}

class CudaDevice : public testing::Test {
protected:
  void SetUp() override {
    if (!needed_toolchain())
      return;
    auto opened = open_cuda_under_test();
    if (!opened) {
      skip_or_fail(format_error(opened.error()));
      return;
    }
    device_ = std::move(*opened);
    auto arena = Arena::create(std::vector<std::uint64_t>(3, kElements * sizeof(float)));
    ASSERT_TRUE(arena) << format_error(arena.error());
    arena_.emplace(std::move(*arena));
    for (std::int64_t i = 0; i < kElements; ++i) {
      put(0, i, static_cast<float>(i));
      put(1, i, 0.5F);
    }
    poison_output();
  }

  static void skip_or_fail(const std::string& why) {
    if (wants_real_gpu())
      GTEST_SKIP() << why;
    skip_for_want_of(why);
  }

  void put(std::size_t tensor, std::int64_t i, float value) {
    std::memcpy(arena_->region(tensor).data() + i * static_cast<std::int64_t>(sizeof value), &value,
                sizeof value);
  }
  float at(std::size_t tensor, std::int64_t i) const {
    float value = 0;
    std::memcpy(&value, arena_->region(tensor).data() + i * static_cast<std::int64_t>(sizeof value),
                sizeof value);
    return value;
  }
  void poison_output() { std::memset(arena_->region(2).data(), 0xFF, arena_->region(2).size()); }

  static RunRequest request() {
    RunRequest request;
    request.tensors = {tensor("A", 0, true, true), tensor("B", 1, true, true),
                       tensor("C", 2, false, false)};
    request.plan.scratch = {{"S", DType::float32, kElements}};
    Launch launch;
    launch.kernel = "add";
    launch.grid = {4, 1, 1};
    launch.block = {256, 1, 1};
    launch.arguments = {{"A", BufferArgument{0}},
                        {"B", BufferArgument{1}},
                        {"C", BufferArgument{2}},
                        {"S", BufferArgument{3}},
                        {"N", std::int64_t{kElements}}};
    request.plan.launches = {launch};
    request.seconds = 20;
    return request;
  }

  std::unique_ptr<LoadedModule> load(const std::string& source) {
    CompileRequest compile;
    compile.source = source;
    compile.file = "kernel.cu";
    compile.architecture = device_->architecture().value();
    const auto build = device_->build(compile);
    EXPECT_TRUE(build) << format_error(build.error());
    if (!build)
      return nullptr;
    EXPECT_TRUE(build->ok);
    auto loaded = device_->load(build->ptx, "kernel.cu", {});
    EXPECT_TRUE(loaded) << format_error(loaded.error());
    if (!loaded)
      return nullptr;
    EXPECT_FALSE(loaded->refusal);
    return std::move(loaded->module);
  }

  RunOutcome run(LoadedModule& module, const RunRequest& what = request()) {
    auto outcome = module.run(what, *arena_);
    EXPECT_TRUE(outcome) << format_error(outcome.error());
    return outcome ? std::move(*outcome) : RunOutcome{};
  }

  std::optional<Finding> fault_of(const std::string& more, const RunRequest& what = request()) {
    auto module = load(add_kernel(more));
    return module == nullptr ? std::nullopt : run(*module, what).fault;
  }

  std::shared_ptr<Device> device_;
  std::optional<Arena> arena_;
};

TEST_F(CudaDevice, RunsWholeAndCopiesBack) {
  auto module = load(add_kernel(""));
  ASSERT_NE(module, nullptr);
  const RunOutcome outcome = run(*module);
  EXPECT_FALSE(outcome.fault);
  EXPECT_EQ(outcome.blocks_run, 4U);
  for (const std::int64_t i : {std::int64_t{0}, std::int64_t{256}, kElements - 1})
    EXPECT_EQ(at(2, i), static_cast<float>(i) + 0.5F) << i;
}

TEST_F(CudaDevice, SaysWhoDrivesIt) {
  const DeviceIdentity& identity = device_->identity();
  EXPECT_NE(identity.model, "");
  EXPECT_NE(identity.driver, "");
  EXPECT_EQ(identity.stand_in.empty(), wants_real_gpu());
  EXPECT_EQ(identity.method == TimingMethod::measured, wants_real_gpu());
  EXPECT_THAT(device_->fingerprint().value(), HasSubstr(identity.model));
}

// One element before or past a tensor is inside what the driver gave; only the guard zones see it.
TEST_F(CudaDevice, WritesOutsideATensorAreFound) {
  const auto past = fault_of("if (i == 0) C[N] = 1;");
  ASSERT_TRUE(past);
  EXPECT_EQ(past->kind, FindingKind::out_of_bounds);
  EXPECT_THAT(past->message, HasSubstr("outside 'C', 0 bytes past its end"));
  const auto before = fault_of("if (i == 0) S[-1] = 1;");
  ASSERT_TRUE(before);
  EXPECT_THAT(before->message, HasSubstr("outside 'S'"));
  EXPECT_THAT(before->message, HasSubstr("before its start"));
}

TEST_F(CudaDevice, WritesIntoInputsAreFound) {
  const auto found = fault_of("if (i == 7) A[7] = -1;");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, FindingKind::read_only_write);
  EXPECT_THAT(found->message, HasSubstr("'A', at byte "));
}

TEST_F(CudaDevice, ScratchIsPoisonedInEveryRun) {
  auto module =
      load("extern \"C\" __global__ void add(float* A, const float* B, float* C, float* S,"
           " int N) { int i = blockIdx.x * blockDim.x + threadIdx.x;"
           " if (i < N) { C[i] = S[i] == S[i] ? 1 : 2; S[i] = 0; } }");
  ASSERT_NE(module, nullptr);
  for (int repeat = 0; repeat < 2; ++repeat) {
    EXPECT_FALSE(run(*module).fault);
    EXPECT_EQ(at(2, 5), 2) << "scratch held a number in run " << repeat;
  }
}

TEST_F(CudaDevice, AFaultTakesItsProcessAndNothingElse) {
  auto module = load(add_kernel("if (i == 0 && A[0] == 42) *(volatile float*)8 = 1;"));
  ASSERT_NE(module, nullptr);
  put(0, 0, 42);
  const RunOutcome bad = run(*module);
  ASSERT_TRUE(bad.fault);
  EXPECT_EQ(bad.fault->kernel, "add");
  put(0, 0, 1);
  const RunOutcome good = run(*module);
  EXPECT_FALSE(good.fault) << good.fault->message;
  EXPECT_EQ(at(2, 0), 1.5F);
}

TEST_F(CudaDevice, ALaunchBeyondTheGpuIsRefusedWithItsShape) {
  RunRequest wide = request();
  wide.plan.launches[0].block = {2048, 1, 1};
  const auto found = fault_of("", wide);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, FindingKind::launch_limit);
  EXPECT_THAT(found->message, HasSubstr("2048"));
  RunRequest other = request();
  other.plan.launches[0].kernel = "sub";
  const auto unknown = fault_of("", other);
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->kind, FindingKind::unknown_kernel);
  RunRequest few = request();
  few.plan.launches[0].arguments.pop_back();
  const auto bad = fault_of("", few);
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->kind, FindingKind::bad_argument);
}

TEST_F(CudaDevice, MuchSharedMemoryIsAskedForByName) {
  auto module =
      load("extern __shared__ float t[];"
           "extern \"C\" __global__ void add(float* A, const float* B, float* C, float* S,"
           " int N) { int i = blockIdx.x * blockDim.x + threadIdx.x;"
           " t[12300 + threadIdx.x] = i < N ? A[i] : 0; __syncthreads();"
           " if (i < N) C[i] = t[12300 + threadIdx.x]; }");
  ASSERT_NE(module, nullptr);
  RunRequest much = request();
  much.plan.launches[0].dynamic_shared = 52 << 10;
  const RunOutcome outcome = run(*module, much);
  EXPECT_FALSE(outcome.fault) << outcome.fault->message;
  EXPECT_EQ(at(2, 999), 999);
}

TEST_F(CudaDevice, CooperativeLaunchesMeet) {
  auto module =
      load("extern \"C\" __global__ void add(float* A, const float* B, float* C, float* S,"
           " int N) { int i = blockIdx.x * blockDim.x + threadIdx.x;"
           " volatile int* met = (volatile int*)S;"
           " if (i == 0) met[0] = 0; if (threadIdx.x == 0 && blockIdx.x > 0) {"
           "   while (met[0] != 0) {} }"
           " __syncthreads(); if (i < N) C[i] = A[i]; }");
  ASSERT_NE(module, nullptr);
  RunRequest together = request();
  together.plan.launches[0].cooperative = true;
  const RunOutcome outcome = run(*module, together);
  EXPECT_FALSE(outcome.fault) << outcome.fault->message;
  EXPECT_EQ(at(2, 999), 999);
}

TEST_F(CudaDevice, InstrumentsAreRefused) {
  auto module = load(add_kernel(""));
  ASSERT_NE(module, nullptr);
  RunRequest watched = request();
  watched.instruments.sanitize = true;
  const auto outcome = module->run(watched, *arena_);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::unsupported);
}

TEST_F(CudaDevice, CodeForAnotherArchitectureIsRefusedInOneLine) {
  const std::string ptx = ".version 8.0\n.target sm_121a\n.address_size 64\n";
  const auto loaded = device_->load(ptx, "other.ptx", {});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::unsupported);
  EXPECT_THAT(format_error(loaded.error()), HasSubstr("compiled for sm_121a, and cuda:0 is sm_"));
  EXPECT_NE(loaded.error().fix, "");
}

TEST_F(CudaDevice, AGpuThatIsNotThereIsSaidWithThoseThatAre) {
  const auto opened = open_cuda_under_test(77);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::input);
  EXPECT_THAT(format_error(opened.error()), HasSubstr("counted from 0"));
  EXPECT_THAT(format_error(opened.error()), HasSubstr(device_->identity().model));
}

class CudaShotsTest : public CudaDevice {
protected:
  std::span<const std::byte> bytes_of(const float& value) const {
    return std::as_bytes(std::span(&value, 1));
  }
  float read(DeviceShots& shots, Side side, std::size_t tensor, std::size_t element) {
    float value = 0;
    const auto done = shots.read(side, tensor, element * sizeof value,
                                 std::as_writable_bytes(std::span(&value, 1)));
    EXPECT_TRUE(done) << format_error(done.error());
    return value;
  }
};

TEST_F(CudaShotsTest, TimesBothSidesAndLetsTheJudgeLook) {
  auto first = load(add_kernel(""));
  auto second = load(add_kernel("if (i < N) C[i] *= 2;"));
  ASSERT_TRUE(first && second);
  const RunRequest plan = request();
  const Timed incumbent{first.get(), &plan, &*arena_};
  const Timed candidate{second.get(), &plan, &*arena_};
  auto shots = device_->shots(incumbent, &candidate, CacheState::cold);
  ASSERT_TRUE(shots) << format_error(shots.error());
  const float fresh = 100;
  // More shots than there are sets of buffers.
  for (int turn = 0; turn < 5; ++turn)
    for (const Side side : {Side::incumbent, Side::candidate}) {
      const auto shot = take_shot(**shots, side);
      ASSERT_TRUE(shot) << format_error(shot.error());
      const float factor = side == Side::candidate ? 2 : 1;
      EXPECT_EQ(read(**shots, side, 2, 3), factor * 3.5F);
      EXPECT_EQ(read(**shots, side, 2, 4), factor * (turn < 2 ? 4.5F : 100.5F));
      if (turn == 1) {
        const auto written = (*shots)->write(side, 0, 4 * sizeof(float), bytes_of(fresh));
        ASSERT_TRUE(written) << format_error(written.error());
      }
    }
  const auto audited = (*shots)->audit();
  ASSERT_TRUE(audited) << format_error(audited.error());
  EXPECT_FALSE(*audited) << (*audited)->finding.message;
  // The arena is the judge's.
  EXPECT_EQ(at(0, 4), 4);
}

// What a shot leaves must not be what the next one finds, nor the run that made the caches hot.
TEST_F(CudaShotsTest, OutputsArePoisonedAndTensorsOfBothKindsPutBack) {
  auto module =
      load("extern \"C\" __global__ void add(float* A, const float* B, float* C, float* S,"
           " int N) { int i = blockIdx.x * blockDim.x + threadIdx.x;"
           " if (i < N) { A[i] += 1; C[i] = C[i] == C[i] ? 1 : 2; } }");
  ASSERT_NE(module, nullptr);
  RunRequest plan = request();
  plan.tensors[0].read_only = false;
  const Timed side{module.get(), &plan, &*arena_};
  for (const CacheState cache : {CacheState::cold, CacheState::hot}) {
    auto shots = device_->shots(side, nullptr, cache);
    ASSERT_TRUE(shots) << format_error(shots.error());
    for (int turn = 0; turn < 5; ++turn) {
      ASSERT_TRUE((*shots)->shoot(Side::incumbent));
      EXPECT_EQ(read(**shots, Side::incumbent, 0, 10), 11) << turn;
      EXPECT_EQ(read(**shots, Side::incumbent, 2, 10), 2) << turn;
    }
  }
}

TEST_F(CudaShotsTest, AFaultSaysWhoseItWas) {
  auto good = load(add_kernel(""));
  auto bad = load(add_kernel("if (i == 0) C[N + 2] = 1;"));
  ASSERT_TRUE(good && bad);
  const RunRequest plan = request();
  const Timed incumbent{good.get(), &plan, &*arena_};
  const Timed candidate{bad.get(), &plan, &*arena_};
  auto shots = device_->shots(incumbent, &candidate, CacheState::cold);
  ASSERT_TRUE(shots) << format_error(shots.error());
  ASSERT_TRUE((*shots)->shoot(Side::incumbent));
  EXPECT_FALSE((*shots)->shoot(Side::candidate));
  const auto fault = (*shots)->fault();
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->side, Side::candidate);
  EXPECT_THAT(fault->finding.message, HasSubstr("8 bytes past its end"));
}

TEST_F(CudaShotsTest, AChangedInputIsFoundWhenTheShotsAreAudited) {
  auto module = load(add_kernel("if (i == 0) A[9] = -5;"));
  ASSERT_NE(module, nullptr);
  const RunRequest plan = request();
  const Timed side{module.get(), &plan, &*arena_};
  auto shots = device_->shots(side, nullptr, CacheState::cold);
  ASSERT_TRUE(shots) << format_error(shots.error());
  ASSERT_TRUE((*shots)->shoot(Side::incumbent));
  const auto audited = (*shots)->audit();
  ASSERT_TRUE(audited && *audited);
  EXPECT_EQ((*audited)->finding.kind, FindingKind::read_only_write);
}

TEST_F(CudaShotsTest, NobodyElseRunsOnTheGpuMeanwhile) {
  auto module = load(add_kernel(""));
  ASSERT_NE(module, nullptr);
  const RunRequest plan = request();
  const Timed side{module.get(), &plan, &*arena_};
  auto shots = device_->shots(side, nullptr, CacheState::cold);
  ASSERT_TRUE(shots) << format_error(shots.error());
  // The same thread may; another waits.
  EXPECT_FALSE(run(*module).fault);
  std::atomic<bool> ran = false;
  std::thread other([&] {
    EXPECT_FALSE(run(*module).fault);
    ran = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_FALSE(ran);
  shots->reset();
  other.join();
  EXPECT_TRUE(ran);
}

} // namespace
} // namespace kernevo
