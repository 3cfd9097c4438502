// Memory at addresses that another process can have, too.
#include "kernevo/vgpu/memory/address_window.h"

#include <gtest/gtest.h>

namespace kernevo::vgpu {
namespace {

AddressWindow& window() {
  EXPECT_TRUE(AddressWindow::reserve(std::uint64_t{1} << 30U));
  return *AddressWindow::get();
}

TEST(AddressWindow, GivesTheLowestPlaceAndZeros) {
  AddressWindow& all = window();
  const auto first = all.take(100);
  const auto second = all.take(5000);
  ASSERT_TRUE(first && second);
  EXPECT_LT(*first, *second);
  **first = std::byte{7};
  const auto at = reinterpret_cast<std::uint64_t>(*first);
  all.give_back(at);
  const auto again = all.take(4096);
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, *first);
  EXPECT_EQ(**again, std::byte{0});
  for (const std::uint64_t address : all.taken())
    all.give_back(address);
}

TEST(AddressWindow, RefusesWhatDoesNotFit) {
  AddressWindow& all = window();
  EXPECT_FALSE(all.take(std::uint64_t{1} << 30U));
  EXPECT_FALSE(all.take(~std::uint64_t{0}));
  EXPECT_FALSE(AddressWindow::reserve(1U << 20U)); // there is one
}

// Last: from then on others lie outside.
TEST(AddressWindow, PlacesExactlyWhereNothingIs) {
  AddressWindow& all = window();
  const std::uint64_t page = 4096;
  EXPECT_TRUE(all.serves_others());
  ASSERT_TRUE(all.take_at(all.base() + 4 * page, 2 * page));
  EXPECT_FALSE(all.serves_others());
  EXPECT_FALSE(all.take_at(all.base() + 5 * page, 1));
  EXPECT_FALSE(all.take_at(all.base() + 3 * page, page + 1));
  EXPECT_FALSE(all.take_at(all.base() + 1, 1));
  EXPECT_FALSE(all.take_at(all.base() + all.bytes(), page));
  EXPECT_FALSE(all.take_at(all.base() + page, ~std::uint64_t{0}));
  EXPECT_TRUE(all.take_at(all.base() + 6 * page, page));
  all.place_next({all.base() + 9 * page});
  const auto placed = all.take(10);
  ASSERT_TRUE(placed);
  EXPECT_EQ(reinterpret_cast<std::uint64_t>(*placed), all.base() + 9 * page);
}

} // namespace
} // namespace kernevo::vgpu
