// The compiler as the tiers use it: what it answers, what it keeps, what it refuses.
#include "kernevo/jit/compiler.h"
#include "kernevo/vgpu/execute/machine.h"
#include "kernevo/vgpu/tier/object_store.h"
#include "test_folder.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>

namespace kernevo::jit {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModule = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 data, .param .u32 count) {
  .reg .u64 %rd<4>;
  .reg .u32 %r<6>;
  .reg .f32 %f<3>;
  .reg .pred %p;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [count];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mad.lo.u32 %r4, %r3, 64, %r2;
  setp.ge.u32 %p, %r4, %r1;
  @%p bra END;
  mul.wide.u32 %rd2, %r4, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  add.f32 %f2, %f1, %f1;
  st.global.f32 [%rd3], %f2;
END:
  ret;
}
)";

class CompileTest : public testing::Test {
protected:
  void SetUp() override {
    auto made = create_compiler();
    ASSERT_TRUE(made) << made.error().message;
    compiler_ = std::move(*made);
    job_.program = *vgpu::load_program(kModule, "scale.ptx");
    job_.facts = vgpu::analysis::lane_facts({64, 1, 1});
    job_.optimise = false;
  }
  std::unique_ptr<vgpu::CompiledFunction> compile() {
    report_ = {};
    auto made = compiler_->compile(job_, &report_);
    if (!made)
      ADD_FAILURE() << made.error().message;
    return made ? std::move(*made) : nullptr;
  }

  std::unique_ptr<vgpu::Compiler> compiler_;
  vgpu::CompileJob job_;
  vgpu::CompileReport report_;
};

TEST_F(CompileTest, code_has_a_way_in_and_a_way_out) {
  const auto code = compile();
  ASSERT_TRUE(code);
  EXPECT_NE(code->function, nullptr);
  ASSERT_EQ(code->entry_at.size(), job_.program->codes[0].ops.size());
  EXPECT_NE(code->entry_at[0], vgpu::kNone);
  EXPECT_FALSE(code->exits.empty());
  EXPECT_FALSE(report_.from_cache);
  EXPECT_GT(report_.machine_code_bytes, 0U);
}

TEST_F(CompileTest, passes_come_in_order) {
  job_.optimise = true;
  compile();
  std::vector<std::string> names;
  for (const vgpu::PassTime& pass : report_.passes)
    names.push_back(pass.name);
  std::size_t last = 0;
  for (const char* name :
       {"flow", "liveness", "shapes", "plan", "emit", "runtime", "sroa", "codegen", "link"}) {
    const auto at = std::find(names.begin(), names.end(), name);
    ASSERT_NE(at, names.end()) << name;
    const auto index = static_cast<std::size_t>(at - names.begin());
    EXPECT_GE(index, last) << name;
    last = index;
  }
}

TEST_F(CompileTest, quick_code_is_calls_and_no_vectors) {
  report_.dump = {"emit"};
  ASSERT_TRUE(compiler_->compile(job_, &report_));
  std::vector<std::string> names;
  for (const vgpu::PassTime& pass : report_.passes)
    names.push_back(pass.name);
  EXPECT_EQ(names, (std::vector<std::string>{"flow", "liveness", "shapes", "plan", "emit",
                                             "codegen", "link"}));
  ASSERT_EQ(report_.dumps.size(), 1U);
  const std::string& text = report_.dumps.front().second;
  EXPECT_NE(text.find("call void @kv_add_rn_f32_x32"), std::string::npos);
  EXPECT_EQ(text.find("<32 x"), std::string::npos);
}

TEST_F(CompileTest, huge_kernels_get_quick_code) {
  std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry big() {\n"
                     ".reg .f32 %f<9>;\n.reg .u32 %r;\nmov.u32 %r, %laneid;\n"
                     "cvt.rn.f32.u32 %f1, %r;\n";
  for (int i = 0; i < 20'000; ++i)
    text += "fma.rn.f32 %f1, %f1, %f1, %f1;\n";
  job_.program = *vgpu::load_program(text + "ret;\n}\n", "big.ptx");
  for (const bool full : {true, false}) {
    job_.full = full;
    EXPECT_TRUE(compile());
  }
}

TEST_F(CompileTest, the_second_time_code_comes_from_the_store) {
  job_.store = std::make_shared<vgpu::MemoryStore>();
  const auto first = compile();
  EXPECT_FALSE(report_.from_cache);
  const auto second = compile();
  EXPECT_TRUE(report_.from_cache);
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->function, second->function);
  EXPECT_EQ(first->entries.size(), second->entries.size());
  EXPECT_EQ(first->scalars, second->scalars);
}

TEST_F(CompileTest, everything_that_matters_is_in_the_key) {
  auto store = std::make_shared<vgpu::MemoryStore>();
  job_.store = store;
  const auto is_new = [&] {
    compile();
    return !report_.from_cache && store->take_new().size() == 1;
  };
  EXPECT_TRUE(is_new());
  EXPECT_FALSE(is_new());
  job_.facts = vgpu::analysis::lane_facts({8, 8, 1});
  EXPECT_TRUE(is_new());
  job_.full = false;
  EXPECT_TRUE(is_new());
  job_.counting = true;
  EXPECT_TRUE(is_new());
  job_.optimise = true;
  EXPECT_TRUE(is_new());
  job_.demoted = {0};
  EXPECT_TRUE(is_new());
  std::string other = kModule;
  other.replace(other.find("64, %r2"), 2, "32");
  job_.program = *vgpu::load_program(other, "scale.ptx");
  EXPECT_TRUE(is_new());
  EXPECT_FALSE(is_new());
}

TEST_F(CompileTest, objects_survive_in_a_folder_and_damaged_ones_are_made_again) {
  const TestFolder made;
  const fs::path folder = made.path() / "objects";
  job_.store = std::make_shared<vgpu::FolderStore>(folder);
  compile();
  EXPECT_FALSE(report_.from_cache);
  job_.store = std::make_shared<vgpu::FolderStore>(folder); // another process, in effect
  compile();
  EXPECT_TRUE(report_.from_cache);
  const auto objects =
      vgpu::FolderStore(folder).of_module(job_.program->text_hash, std::uint64_t{1} << 30U);
  ASSERT_EQ(objects.size(), 1U);
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      fs::resize_file(entry.path(), fs::file_size(entry.path()) - 1);
  compile();
  EXPECT_FALSE(report_.from_cache);
  // Whole, but not machine code.
  job_.store->save(objects.begin()->first, "nonsense");
  compile();
  EXPECT_FALSE(report_.from_cache);
}

TEST_F(CompileTest, a_compilation_can_be_called_off) {
  const std::atomic<bool> cancelled = true;
  job_.cancelled = &cancelled;
  const auto made = compiler_->compile(job_);
  ASSERT_FALSE(made);
}

TEST_F(CompileTest, refuses_what_would_take_minutes) {
  std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry big() {\n"
                     ".reg .f32 %f<9>;\n.reg .u32 %r;\nmov.u32 %r, %laneid;\n"
                     "cvt.rn.f32.u32 %f1, %r;\n";
  for (int i = 0; i < 70'000; ++i)
    text += "fma.rn.f32 %f1, %f1, %f1, %f1;\n";
  job_.program = *vgpu::load_program(text + "ret;\n}\n", "big.ptx");
  job_.optimise = true;
  const auto made = compiler_->compile(job_);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::unsupported);
}

} // namespace
} // namespace kernevo::jit
