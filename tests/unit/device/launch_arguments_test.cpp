#include "kernevo/device/launch_arguments.h"

#include <cstring>
#include <gmock/gmock.h>

namespace kernevo {
namespace {

using testing::HasSubstr;
using testing::Optional;

std::optional<std::string> put(const LaunchArgument& argument,
                               const vgpu::KernelInfo::Parameter& parameter) {
  std::vector<std::byte> out(16);
  const std::vector<std::uint64_t> pointers = {0x1000};
  return put_argument(argument, parameter, 0, pointers, out);
}

// A constructor would run on the host of an extracted program, and nowhere here.
TEST(LaunchArguments, NothingIsPassedToAClass) {
  const vgpu::KernelInfo::Parameter of_class{0, 8, false, true};
  EXPECT_THAT(put({"N", std::int64_t{3}}, of_class), Optional(HasSubstr("of a class")));
  EXPECT_THAT(put({"x", BufferArgument{0}}, of_class), Optional(HasSubstr("of a class")));
  EXPECT_THAT(put({"a", 0.5}, {0, 2, false, true}), Optional(HasSubstr("half type")));
  EXPECT_FALSE(put({"x", BufferArgument{0}}, {0, 8, false, false}));
}

// C++ makes 1 of every bool.
TEST(LaunchArguments, AByteIsFalseOrTrue) {
  const vgpu::KernelInfo::Parameter byte{0, 1, false, false};
  EXPECT_FALSE(put({"0", std::int64_t{0}}, byte));
  EXPECT_FALSE(put({"1", std::int64_t{1}}, byte));
  for (const std::int64_t other : {2, -1, 255})
    EXPECT_THAT(put({"n", other}, byte), Optional(HasSubstr("pass 0 or 1"))) << other;
}

} // namespace
} // namespace kernevo
