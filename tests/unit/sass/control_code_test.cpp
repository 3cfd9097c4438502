#include "kernevo/sass/control_code.h"

#include <gtest/gtest.h>

namespace kernevo::sass {
namespace {

// The words are what nvdisasm printed for instructions whose scheduling can be told from the text.
TEST(ControlCode, FixedLatencyInstructionStallsAndSetsNoBarrier) {
  const ControlCode control = decode_control(0x000fca00078e00ff); // IMAD before its reader
  EXPECT_EQ(control.stall, 5);
  EXPECT_FALSE(control.write_barrier);
  EXPECT_FALSE(control.read_barrier);
  EXPECT_EQ(control.wait_mask, 0U);
  EXPECT_EQ(format_control(control), "B------ R- W- Y S05");
}

TEST(ControlCode, LoadSetsAWriteBarrierThatItsReaderWaitsFor) {
  const ControlCode load = decode_control(0x000ea2000c1e1900); // LDG.E R9, [R2.64]
  ASSERT_TRUE(load.write_barrier);
  EXPECT_EQ(*load.write_barrier, 2);
  EXPECT_EQ(load.stall, 1);
  const ControlCode reader = decode_control(0x004fda0003f04270); // ISETP on R9
  EXPECT_EQ(reader.wait_mask, 1U << 2U);
  EXPECT_EQ(reader.stall, 13);
}

TEST(ControlCode, StoreSetsAReadBarrier) {
  const ControlCode store = decode_control(0x0001e8000c101908); // STG.E [R4.64+0xc], R7
  ASSERT_TRUE(store.read_barrier);
  EXPECT_EQ(*store.read_barrier, 0);
  EXPECT_FALSE(store.write_barrier);
}

} // namespace
} // namespace kernevo::sass
