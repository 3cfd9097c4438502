#include "kernevo/device/cuda_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo {
namespace {

using testing::HasSubstr;

TEST(CudaDriverLibrary, OneThatIsNotThereIsSaidWithTheWayRound) {
  const auto driver = CudaDriver::open("/nowhere/libcuda.so.1");
  ASSERT_FALSE(driver);
  EXPECT_THAT(driver.error().message, HasSubstr("no CUDA driver"));
  EXPECT_THAT(driver.error().fix, HasSubstr("virtual:NAME"));
}

TEST(CudaDriverLibrary, OneThatIsTooOldIsSaidWithWhatItLacks) {
  const auto driver = CudaDriver::open(KERNEVO_OLD_LIBCUDA);
  ASSERT_FALSE(driver);
  EXPECT_THAT(driver.error().message, HasSubstr("too old: it has no cu"));
  EXPECT_THAT(driver.error().fix, HasSubstr("update the driver"));
}

TEST(CudaDriverLibrary, ALostGpuIsAnErrorOfItsOwnKind) {
  const Error error = lost_device("cuda:3", "it does not answer");
  EXPECT_EQ(error.code, ErrorCode::unavailable);
  EXPECT_EQ(error.message, "cuda:3 is lost: it does not answer");
}

} // namespace
} // namespace kernevo
