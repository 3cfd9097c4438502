// The price worker, asked as the CUDA libraries ask it, and as nobody should.
#include "kernevo/base/detached_program.h"
#include "kernevo/hardware/gpu_table.h"
#include "kernevo/model/launch_price.h"
#include "kernevo/vgpu/execute/machine.h"
#include "places.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <sys/wait.h>

namespace kernevo {
namespace {

constexpr const char* kPtx = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry copy(.param .u64 data)
{
  .reg .u32 %r<5>;
  .reg .u64 %rd<4>;
  .reg .f32 %f<2>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  mul.wide.u32 %rd2, %r4, 8;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  st.global.f32 [%rd3+4], %f1;
  ret;
}
)";

LaunchCounts counts_of_copy(std::uint32_t blocks) {
  vgpu::MachineOptions options;
  options.profile_l1_bytes = 1U << 16U;
  vgpu::Machine machine(find_gpu("A100").value(), options);
  const auto program = vgpu::load_program(kPtx, "copy.ptx").value();
  const auto data = machine.allocate(std::uint64_t{blocks} * 256 * 8, "data").value();
  vgpu::LaunchConfig config;
  config.kernel = "copy";
  config.grid = {blocks, 1, 1};
  config.block = {256, 1, 1};
  config.parameters.resize(sizeof data);
  std::memcpy(config.parameters.data(), &data, sizeof data);
  return machine.launch(*program, config).counts.value();
}

class PriceWorker : public testing::Test {
protected:
  void SetUp() override {
    std::vector<std::string> environment = {"PATH=/usr/bin:/bin"};
    for (const char* name : {"KERNEVO_CUDA", "KERNEVO_SHARE", "KERNEVO_CACHE", "HOME"})
      if (const char* value = std::getenv(name))
        environment.push_back(std::string(name) + "=" + value);
    channel_ =
        start_detached(program_path(), {"kernevo", "__worker", "price"}, environment).value();
  }
  PriceAnswer ask_text(const std::string& text) {
    EXPECT_TRUE(send_message(channel_.get(), text));
    Message message;
    EXPECT_EQ(receive_message(channel_.get(), message,
                              std::chrono::steady_clock::now() + std::chrono::seconds(120)),
              MessageEnd::complete);
    auto answer = price_answer_from_json(message.text);
    EXPECT_TRUE(answer) << message.text;
    return answer.value_or(PriceAnswer{});
  }
  PriceAnswer open(const std::string& gpu) {
    PriceRequest request;
    request.gpu = gpu;
    return ask_text(to_json(request));
  }
  PriceAnswer add_module(std::uint64_t number, std::vector<std::string> texts) {
    PriceRequest request;
    request.kind = PriceRequest::Kind::module;
    request.module = number;
    request.texts = std::move(texts);
    return ask_text(to_json(request));
  }
  PriceAnswer price(std::uint64_t module, const std::string& kernel, const LaunchCounts& counts) {
    PriceRequest request;
    request.kind = PriceRequest::Kind::launch;
    request.module = module;
    request.kernel = kernel;
    request.counts = counts;
    return ask_text(to_json(request));
  }

  PriceAnswer kernel(std::uint64_t module, const std::string& name) {
    PriceRequest request;
    request.kind = PriceRequest::Kind::kernel;
    request.module = module;
    request.kernel = name;
    return ask_text(to_json(request));
  }

  FileDescriptor channel_;
};

TEST_F(PriceWorker, NamesTimeErrorLimiterAndBottleneck) {
  EXPECT_FALSE(open("H100").error);
  EXPECT_FALSE(add_module(1, {kPtx}).error);
  const PriceAnswer large = price(1, "copy", counts_of_copy(1 << 15U));
  ASSERT_TRUE(large.price) << large.error->message;
  EXPECT_TRUE(large.price->from_machine_code) << large.price->note;
  EXPECT_GT(large.price->time.value, 10e3);
  EXPECT_GT(large.price->error, 0.1);
  EXPECT_EQ(large.price->limiter, "dram");
  EXPECT_EQ(large.price->bottleneck, "dram_bound");
  EXPECT_NE(large.price->message, "");
  EXPECT_FALSE(large.price->bounds.empty());
  const PriceAnswer again = price(1, "copy", counts_of_copy(1 << 15U));
  EXPECT_EQ(to_json(*again.price), to_json(*large.price));
  EXPECT_LT(price(1, "copy", counts_of_copy(1)).price->time, large.price->time);
}

TEST_F(PriceWorker, SaysWhatTheAssemblerMakesOfAKernel) {
  EXPECT_FALSE(open("A100").error);
  EXPECT_FALSE(add_module(1, {kPtx}).error);
  EXPECT_FALSE(add_module(2, {kPtx, kPtx}).error);
  const PriceAnswer known = kernel(1, "copy");
  ASSERT_TRUE(known.kernel) << known.error->message;
  EXPECT_GT(known.kernel->registers, 0);
  EXPECT_LT(known.kernel->registers, 32);
  EXPECT_EQ(known.kernel->stack.value, 0U);
  EXPECT_EQ(kernel(1, "copy").kernel, known.kernel);
  for (const auto& [module, name] :
       {std::pair(1, "other"), std::pair(2, "copy"), std::pair(3, "copy")})
    EXPECT_TRUE(kernel(static_cast<std::uint64_t>(module), name).error) << module << name;
}

TEST_F(PriceWorker, SaysWhyThePtxAloneHadToDo) {
  EXPECT_FALSE(open("A100").error);
  EXPECT_FALSE(add_module(1, {kPtx, kPtx}).error);
  const PriceAnswer linked = price(1, "copy", counts_of_copy(16));
  ASSERT_TRUE(linked.price);
  EXPECT_FALSE(linked.price->from_machine_code);
  EXPECT_NE(linked.price->note.find("linked"), std::string::npos);
  EXPECT_FALSE(add_module(2, {"this is no PTX"}).error);
  const PriceAnswer refused = price(2, "copy", counts_of_copy(16));
  ASSERT_TRUE(refused.price);
  EXPECT_FALSE(refused.price->from_machine_code);
  EXPECT_NE(refused.price->note, "");
}

TEST_F(PriceWorker, RefusesWhatMakesNoSense) {
  EXPECT_TRUE(ask_text("").error);
  EXPECT_TRUE(ask_text("{\"kind\":\"price\"}").error);
  EXPECT_TRUE(ask_text(std::string(100'000, '[')).error);
  EXPECT_TRUE(add_module(1, {kPtx}).error) << "the GPU comes first";
  EXPECT_TRUE(open("no such GPU").error);
  EXPECT_FALSE(open("A100").error);
  EXPECT_TRUE(price(1, "copy", counts_of_copy(1)).error) << "the module comes first";
  EXPECT_FALSE(add_module(1, {kPtx}).error);
  const PriceAnswer nothing = price(1, "copy", LaunchCounts());
  EXPECT_NE(nothing.price.has_value(), nothing.error.has_value());
  LaunchCounts vast = counts_of_copy(1);
  vast.block = {4096, 4096, 4096};
  EXPECT_TRUE(price(1, "copy", vast).error) << "no GPU holds such a block";
  EXPECT_TRUE(price(1, "copy", counts_of_copy(1)).price) << "and it goes on";
}

TEST_F(PriceWorker, EndsWithItsChannelAndIsNoChildOfOurs) {
  EXPECT_FALSE(open("A100").error);
  EXPECT_EQ(waitpid(-1, nullptr, 0), -1);
  EXPECT_EQ(errno, ECHILD);
}

} // namespace
} // namespace kernevo
