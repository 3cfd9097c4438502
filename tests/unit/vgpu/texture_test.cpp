// What a host program can do wrong with textures, and samplers that stand apart from them.
#include "kernevo/hardware/gpu_table.h"
#include "kernevo/vgpu/execute/machine.h"

#include <cstring>
#include <gtest/gtest.h>
#include <vector>

namespace kernevo::vgpu {
namespace {

constexpr const char* kModule = R"(.version 7.8
.target sm_80, texmode_independent
.address_size 64
.global .samplerref smooth = { filter_mode = linear, addr_mode_0 = clamp_to_border };
.visible .entry read(.param .u64 t, .param .u64 d)
{
  .reg .b64 %rd<4>;
  .reg .f32 %f<8>;
  ld.param.u64 %rd1, [t];
  ld.param.u64 %rd2, [d];
  mov.f32 %f1, 0f3F800000;
  tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, {%f1}];
  st.global.f32 [%rd2], %f2;
  ret;
}
.visible .entry apart(.param .u64 t, .param .u64 s, .param .u64 d)
{
  .reg .b64 %rd<4>;
  .reg .f32 %f<8>;
  ld.param.u64 %rd1, [t];
  ld.param.u64 %rd2, [s];
  ld.param.u64 %rd3, [d];
  mov.f32 %f1, 0f3F800000;
  tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, %rd2, {%f1}];
  st.global.f32 [%rd3], %f2;
  mov.f32 %f1, 0f00000000;
  tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, smooth, {%f1}];
  st.global.f32 [%rd3 + 4], %f2;
  ret;
}
)";

class Texture : public testing::Test {
protected:
  Texture() : machine_(*find_gpu("A100"), {}) {
    memory_ = *machine_.allocate(2 * sizeof(float), "texels");
    output_ = *machine_.allocate(2 * sizeof(float), "output");
    const float texels[] = {2, 6};
    std::memcpy(machine_.bytes(memory_).data(), texels, sizeof texels);
    auto loaded = load_program(kModule, "texture.ptx");
    EXPECT_TRUE(loaded) << format_error(loaded.error());
    program_ = *loaded;
  }

  TextureDescription plain() const {
    TextureDescription description;
    description.image.memory = memory_;
    description.image.width = 2;
    return description;
  }

  LaunchResult launch(const std::string& kernel, const std::vector<std::uint64_t>& arguments) {
    LaunchConfig config;
    config.kernel = kernel;
    config.parameters.resize(8 * arguments.size());
    std::memcpy(config.parameters.data(), arguments.data(), config.parameters.size());
    return machine_.launch(*program_, config);
  }

  float output(std::size_t index) {
    float value = 0;
    std::memcpy(&value, machine_.bytes(output_).data() + index * sizeof value, sizeof value);
    return value;
  }

  std::string refusal(const TextureDescription& description) {
    const auto made = machine_.create_texture(description);
    return made ? "" : made.error().message;
  }

  Machine machine_;
  DevicePointer memory_ = 0;
  DevicePointer output_ = 0;
  std::shared_ptr<const Program> program_;
};

TEST_F(Texture, Reads) {
  const auto handle = machine_.create_texture(plain());
  ASSERT_TRUE(handle);
  const LaunchResult result = launch("read", {*handle, output_});
  ASSERT_FALSE(result.fault) << result.fault->message;
  EXPECT_EQ(output(0), 6);
}

TEST_F(Texture, SamplersApart) {
  const auto handle = machine_.create_texture(plain());
  SamplerDescription smooth;
  smooth.filter = FilterMode::linear;
  const auto sampler = machine_.create_sampler(smooth);
  ASSERT_TRUE(handle && sampler);
  const LaunchResult result = launch("apart", {*handle, *sampler, output_});
  ASSERT_FALSE(result.fault) << result.fault->message;
  EXPECT_EQ(output(0), 4); // halfway
  EXPECT_EQ(output(1), 1); // half of it is the border
  EXPECT_TRUE(launch("apart", {*handle, *handle, output_}).fault);
}

TEST_F(Texture, GoneHandlesAreFindings) {
  const auto handle = machine_.create_texture(plain());
  ASSERT_TRUE(handle);
  EXPECT_TRUE(machine_.destroy_texture(*handle));
  EXPECT_FALSE(machine_.destroy_texture(*handle));
  const LaunchResult destroyed = launch("read", {*handle, output_});
  ASSERT_TRUE(destroyed.fault);
  EXPECT_EQ(destroyed.fault->kind, FindingKind::bad_texture);

  const auto second = machine_.create_texture(plain());
  ASSERT_TRUE(second);
  EXPECT_NE(*second, *handle);
  machine_.free(memory_);
  const LaunchResult freed = launch("read", {*second, output_});
  ASSERT_TRUE(freed.fault);
  EXPECT_EQ(freed.fault->kind, FindingKind::bad_texture);
}

TEST_F(Texture, BadDescriptionsAreRefused) {
  TextureDescription description = plain();
  description.image.width = 3;
  EXPECT_NE(refusal(description).find("not allocated"), std::string::npos);
  description = plain();
  description.image.format.channels = 3;
  EXPECT_NE(refusal(description).find("1, 2 or 4 channels"), std::string::npos);
  description = plain();
  description.image.format.bits = 8;
  EXPECT_NE(refusal(description).find("floating channel"), std::string::npos);
  description = plain();
  description.image.format.kind = ChannelKind::unsigned_integer;
  description.sampler.filter = FilterMode::linear;
  EXPECT_NE(refusal(description).find("only floats can be filtered"), std::string::npos);
  description = plain();
  description.image.memory += 2;
  EXPECT_NE(refusal(description).find("aligned"), std::string::npos);
  description = plain();
  description.image.levels = 0;
  EXPECT_NE(refusal(description).find("levels"), std::string::npos);
  description = plain();
  description.image.width = 0xFFFFFFFF;
  description.image.height = 0xFFFFFFFF;
  description.image.depth = 0xFFFFFFFF;
  EXPECT_NE(refusal(description).find("not possible"), std::string::npos);
  description = plain();
  description.image.layout = ImageDescription::Layout::pitch;
  description.image.height = 1;
  description.image.pitch = 4;
  EXPECT_NE(refusal(description).find("pitch"), std::string::npos);
  description = plain();
  description.image.layers = 5;
  description.image.cubemap = true;
  EXPECT_NE(refusal(description).find("cube map"), std::string::npos);
}

} // namespace
} // namespace kernevo::vgpu
