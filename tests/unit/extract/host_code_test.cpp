#include "kernevo/extract/host_code.h"

#include <gtest/gtest.h>

namespace kernevo::extract {
namespace {

TEST(HostCode, WritesExpressionsAsCpp) {
  EXPECT_EQ(cpp_expression("ceil_div(N, BM) * 4"), "sizes::ceil_div(N, BM) * 4");
  EXPECT_EQ(cpp_expression("min (M, 8u, K)"), "sizes::min (M, 8, K)");
  EXPECT_EQ(cpp_expression("1 << 40"), "1LL << 40LL");
  EXPECT_EQ(cpp_expression("65536 * 65536"), "65536LL * 65536LL");
  EXPECT_EQ(cpp_expression("1'000'000'000 + N"), "1'000'000'000LL + N");
  EXPECT_EQ(cpp_expression("stream + half"), "stream_ + half_"); // mean something else there
}

TEST(HostCode, MultipliesSizes) {
  EXPECT_EQ(cpp_product({}), "1");
  EXPECT_EQ(cpp_product({*Expression::parse("M"), *Expression::parse("N + 1")}), "M * (N + 1)");
}

TEST(HostCode, KeepsMacrosFromTheHost) {
  DeviceCode device;
  device.text = "#define TILE 16\n#define HALF 8\nint x;";
  device.macros = {"TILE", "HALF"};
  EXPECT_EQ(enclosed_device_code(device, {{"BM", 64}}),
            "#define BM 64\n#define TILE 16\n#define HALF 8\nint x;\n#undef BM\n#undef HALF\n"
            "#undef TILE\n");
}

} // namespace
} // namespace kernevo::extract
