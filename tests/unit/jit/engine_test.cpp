// The engine on hand-written modules: from LLVM IR to a call, and every way that can fail.
#include "kernevo/base/sandbox.h"
#include "kernevo/jit/codegen.h"
#include "kernevo/jit/host.h"
#include "kernevo/jit/loader.h"
#include "kernevo/jit/optimise.h"
#include "kernevo/jit/runtime_library.h"

#include <array>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/SourceMgr.h>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace kernevo::jit {
namespace {

using testing::HasSubstr;

Result<std::string> object_of(const std::string& ir, vgpu::CompileReport* report = nullptr,
                              bool thorough = true) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  auto module = llvm::parseAssemblyString(ir, problem, context);
  if (!module)
    return fail(ErrorCode::input, problem.getMessage().str());
  PassLog log(report);
  const Host host = find_host();
  KERNEVO_TRY(machine, make_target_machine(host, thorough));
  set_host(*module, host, *machine);
  KERNEVO_CHECK(link_runtime(*module, host.runtime_level));
  set_host(*module, host, *machine);
  if (thorough)
    optimise(*module, *machine, log);
  return make_object(*module, *machine, log);
}

using Kernel = std::uint32_t (*)(void*, std::uint32_t);

Kernel function_of(const LoadedCode& code) {
  return reinterpret_cast<Kernel>(code.address);
}

constexpr const char* kIncrement =
    "define i32 @kernel(ptr %c, i32 %e) {\n  %r = add i32 %e, 1\n  ret i32 %r\n}\n";

constexpr const char* kLanes = R"(
define i32 @kernel(ptr %c, i32 %e) {
  %slot = alloca <32 x float>
  %a = load <32 x float>, ptr %c, align 4
  store <32 x float> %a, ptr %slot
  %b = load <32 x float>, ptr %slot
  %s = fadd <32 x float> %b, %a
  store <32 x float> %s, ptr %c, align 4
  ret i32 7
})";

class EngineTest : public testing::Test {
protected:
  void SetUp() override {
    auto loader = Loader::create();
    ASSERT_TRUE(loader) << loader.error().message;
    loader_ = std::move(*loader);
  }
  std::uint32_t call(const std::string& ir, void* context, std::uint32_t entry) {
    const auto object = object_of(ir);
    if (!object) {
      ADD_FAILURE() << object.error().message;
      return 0;
    }
    const auto code = loader_->load(*object, "kernel");
    if (!code) {
      ADD_FAILURE() << code.error().message;
      return 0;
    }
    return function_of(*code)(context, entry);
  }
  std::unique_ptr<Loader> loader_;
};

TEST_F(EngineTest, runs_a_function) {
  EXPECT_EQ(call(kIncrement, nullptr, 41), 42U);
}

TEST_F(EngineTest, runs_code_on_all_lanes) {
  std::array<float, 32> lanes{};
  for (int i = 0; i < 32; ++i)
    lanes.at(static_cast<std::size_t>(i)) = static_cast<float>(i);
  EXPECT_EQ(call(kLanes, lanes.data(), 0), 7U);
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(lanes.at(static_cast<std::size_t>(i)), static_cast<float>(2 * i));
}

TEST_F(EngineTest, both_levels_give_the_same) {
  for (const bool thorough : {false, true}) {
    const auto object = object_of(kIncrement, nullptr, thorough);
    ASSERT_TRUE(object);
    const auto code = loader_->load(*object, "kernel");
    ASSERT_TRUE(code);
    EXPECT_EQ(function_of(*code)(nullptr, 1), 2U);
  }
}

TEST_F(EngineTest, calls_the_c_library) {
  std::array<float, 2> values = {2.5F, 0};
  call(R"(
declare float @ldexpf(float, i32)
define i32 @kernel(ptr %c, i32 %e) {
  %a = load float, ptr %c
  %b = call float @ldexpf(float %a, i32 %e)
  %p = getelementptr float, ptr %c, i32 1
  store float %b, ptr %p
  ret i32 0
})",
       values.data(), 3);
  EXPECT_EQ(values[1], 20.0F);
}

TEST_F(EngineTest, every_pass_has_a_name_a_time_and_a_dump) {
  vgpu::CompileReport report;
  report.dump = {"all"};
  ASSERT_TRUE(object_of(kLanes, &report));
  std::vector<std::string> names;
  for (const vgpu::PassTime& pass : report.passes) {
    names.push_back(pass.name);
    EXPECT_GE(pass.seconds, 0);
  }
  EXPECT_THAT(names, testing::IsSupersetOf({"sroa", "early-cse", "dce", "codegen"}));
  std::map<std::string, std::string> dumps(report.dumps.begin(), report.dumps.end());
  EXPECT_THAT(dumps["inline"], HasSubstr("alloca"));
  EXPECT_THAT(dumps["sroa"], testing::Not(HasSubstr("alloca")));
  EXPECT_THAT(dumps["codegen"], HasSubstr("kernel:")); // assembly
}

TEST_F(EngineTest, only_wanted_dumps_are_made) {
  vgpu::CompileReport report;
  report.dump = {"sroa"};
  ASSERT_TRUE(object_of(kLanes, &report));
  ASSERT_EQ(report.dumps.size(), 1U);
  EXPECT_EQ(report.dumps[0].first, "sroa");
}

TEST_F(EngineTest, refuses_a_frame_that_would_overrun_the_stack) {
  const auto object = object_of(R"(
declare ptr @memset(ptr, i32, i64)
define i32 @kernel(ptr %c, i32 %e) {
  %big = alloca [300000 x i8]
  %r = call ptr @memset(ptr %big, i32 %e, i64 300000)
  %p = getelementptr i8, ptr %big, i32 %e
  %v = load volatile i32, ptr %p
  ret i32 %v
})");
  ASSERT_FALSE(object);
  EXPECT_EQ(object.error().code, ErrorCode::unsupported);
  EXPECT_THAT(object.error().message, HasSubstr("bytes of stack"));
}

TEST_F(EngineTest, names_a_runtime_function_that_does_not_exist) {
  const auto object = object_of(
      "declare void @kv_no_such_thing()\n"
      "define i32 @kernel(ptr %c, i32 %e) {\n  call void @kv_no_such_thing()\n  ret i32 0\n}\n");
  ASSERT_FALSE(object);
  EXPECT_THAT(object.error().message,
              testing::AnyOf(HasSubstr("kv_no_such_thing"), HasSubstr("no runtime library")));
}

TEST_F(EngineTest, an_unknown_symbol_is_an_error) {
  const auto object = object_of(
      "declare void @nobody_has_this()\n"
      "define i32 @kernel(ptr %c, i32 %e) {\n  call void @nobody_has_this()\n  ret i32 0\n}\n");
  ASSERT_TRUE(object);
  const auto code = loader_->load(*object, "kernel");
  ASSERT_FALSE(code);
  EXPECT_THAT(code.error().message, HasSubstr("nobody_has_this"));
}

TEST_F(EngineTest, damaged_objects_are_errors) {
  const auto object = object_of(kIncrement);
  ASSERT_TRUE(object);
  for (const std::string& bad : {std::string(), std::string("not an object"),
                                 object->substr(0, object->size() / 3), std::string(4096, '\0')})
    EXPECT_FALSE(loader_->load(bad, "kernel"));
  EXPECT_FALSE(loader_->load(*object, "other"));
  EXPECT_TRUE(loader_->load(*object, "kernel"));
}

bool is_mapped(void* address) {
  const auto page = reinterpret_cast<std::uintptr_t>(address) & ~std::uintptr_t{4095};
  return msync(reinterpret_cast<void*>(page), 4096, MS_ASYNC) ==
         0; // NOLINT(performance-no-int-to-ptr)
}

TEST_F(EngineTest, code_lives_as_long_as_its_owner) {
  const auto object = object_of(kIncrement);
  ASSERT_TRUE(object);
  auto code = loader_->load(*object, "kernel");
  ASSERT_TRUE(code);
  loader_.reset();
  EXPECT_EQ(function_of(*code)(nullptr, 1), 2U);
  void* address = code->address;
  ASSERT_TRUE(is_mapped(address));
  code->owner.reset();
  EXPECT_FALSE(is_mapped(address));
}

TEST_F(EngineTest, no_page_is_writable_and_executable) {
  const auto object = object_of(kLanes);
  ASSERT_TRUE(object);
  const auto code = loader_->load(*object, "kernel");
  ASSERT_TRUE(code);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    EXPECT_THAT(line, testing::Not(HasSubstr(" rwx")));
}

TEST_F(EngineTest, many_threads_may_load) {
  const auto object = object_of(kIncrement);
  ASSERT_TRUE(object);
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (std::uint32_t n = 0; n < 25; ++n)
        if (const auto code = loader_->load(*object, "kernel"))
          right += function_of(*code)(nullptr, n) == n + 1 ? 1 : 0;
    });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(right, 100);
}

TEST_F(EngineTest, compiles_and_runs_without_files) {
  const pid_t child = fork();
  if (child == 0) {
    if (!confine_this_process(Confinement::execute, {}))
      _exit(10);
    const auto object = object_of(kIncrement);
    if (!object)
      _exit(11);
    const auto code = loader_->load(*object, "kernel");
    if (!code)
      _exit(12);
    _exit(function_of(*code)(nullptr, 4) == 5 ? 0 : 13);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

} // namespace
} // namespace kernevo::jit
