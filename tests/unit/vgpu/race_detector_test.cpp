#include "kernevo/vgpu/sanitizer/race_detector.h"

#include "kernevo/vgpu/sanitizer/lane_order.h"
#include "kernevo/vgpu/sanitizer/race_cells.h"

#include <array>
#include <bitset>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace kernevo::vgpu {
namespace {

constexpr std::uint64_t kRegion = 7;
constexpr std::uint64_t kRegionBytes = 1U << 20U;
constexpr std::uint64_t kAllWarps = ~std::uint64_t{0};

// A page of cells, as the detector allots them.
constexpr std::uint64_t kPageBytes = CellRegion::kPageCells * sizeof(Cell);

// Short words for the tests: a detector over 4-byte elements that keeps the first race. Unless said
// otherwise every block has fenced, so that its strong accesses publish.
class Script {
public:
  Script(std::uint32_t blocks, std::uint32_t warps, bool fenced = true)
      : warps_(warps), detector_(blocks, warps, 4) {
    for (std::uint32_t block = 0; block < blocks; ++block) {
      detector_.begin_block(block, 4096);
      if (fenced)
        detector_.fence(block);
    }
  }

  struct Thread {
    std::uint32_t block;
    std::uint16_t warp;
    std::uint8_t lane;
  };

  void shared(Thread t, Touch touch, std::uint64_t element, bool strong = false,
              bool same_value = false) {
    keep(detector_.shared_access(actor(t), element * 4, 4, touch, strong || touch == Touch::atomic,
                                 same_value));
  }
  void global(Thread t, Touch touch, std::uint64_t element, bool strong = false,
              bool same_value = false) {
    keep(detector_.global_access(actor(t), kRegion, kRegionBytes, element * 4, 4, touch,
                                 strong || touch == Touch::atomic, same_value));
  }
  // Every thread of the block, element chosen by its index in the block.
  template <class Element>
  void all_shared(std::uint32_t block, Touch touch, Element element, bool same_value = false) {
    for (std::uint16_t warp = 0; warp < warps_; ++warp)
      for (std::uint8_t lane = 0; lane < 32; ++lane)
        shared({block, warp, lane}, touch, element(warp * 32 + lane), false,
               same_value && (warp > 0 || lane > 0));
  }
  void barrier(std::uint32_t block) { detector_.barrier(block, kAllWarps); }

  RaceDetector& detector() { return detector_; }
  const std::optional<Race>& race() const { return race_; }
  bool clean() const { return !race_.has_value(); }

private:
  Actor actor(Thread t) { return {t.block, t.warp, t.lane, ++instruction_}; }
  void keep(const std::optional<Race>& race) {
    if (race && !race_)
      race_ = race;
  }

  std::uint32_t warps_;
  RaceDetector detector_;
  std::uint32_t instruction_ = 0;
  std::optional<Race> race_;
};

// Races between warps of a block.

TEST(RaceDetector, MissingBarrierBetweenWriteAndRead) {
  for (const bool with_barrier : {true, false}) {
    Script s(1, 4);
    s.all_shared(0, Touch::store, [](int i) { return i; });
    if (with_barrier)
      s.barrier(0);
    s.all_shared(0, Touch::load, [](int i) { return 127 - i; });
    EXPECT_EQ(s.clean(), with_barrier);
    if (!with_barrier) {
      EXPECT_EQ(s.race()->first_touch, Touch::store);
      EXPECT_EQ(s.race()->second_touch, Touch::load);
    }
  }
}

TEST(RaceDetector, MissingBarrierBeforeReloadingATile) {
  for (const bool with_barrier : {true, false}) {
    Script s(1, 4);
    for (int step = 0; step < 3; ++step) {
      s.all_shared(0, Touch::store, [](int i) { return i; });
      s.barrier(0);
      for (int k = 0; k < 8; ++k)
        s.all_shared(0, Touch::load, [k](int i) { return (i + k * 17) % 128; });
      if (with_barrier)
        s.barrier(0);
    }
    EXPECT_EQ(s.clean(), with_barrier);
    if (!with_barrier) {
      EXPECT_EQ(s.race()->first_touch, Touch::load);
      EXPECT_EQ(s.race()->second_touch, Touch::store);
    }
  }
}

TEST(RaceDetector, TwoWarpsWriteOneElement) {
  Script s(1, 2);
  s.shared({0, 0, 3}, Touch::store, 9);
  s.shared({0, 1, 5}, Touch::store, 9);
  ASSERT_FALSE(s.clean());
  EXPECT_EQ(s.race()->first.warp, 0);
  EXPECT_EQ(s.race()->first.lane, 3);
  EXPECT_EQ(s.race()->first.instruction, 1U);
  EXPECT_EQ(s.race()->second.warp, 1);
  EXPECT_EQ(s.race()->second.lane, 5);
  EXPECT_EQ(s.race()->second.instruction, 2U);
  EXPECT_EQ(s.race()->offset, 36U);
}

TEST(RaceDetector, ABarrierOfOtherWarpsOrdersNothing) {
  Script s(1, 4);
  s.shared({0, 0, 0}, Touch::store, 0);
  s.detector().barrier(0, 0b1100);
  s.shared({0, 1, 0}, Touch::load, 0);
  EXPECT_FALSE(s.clean());
}

TEST(RaceDetector, BarriersOrderTransitively) {
  Script s(1, 3);
  s.shared({0, 0, 0}, Touch::store, 0);
  s.detector().barrier(0, 0b011);
  s.detector().barrier(0, 0b110);
  s.shared({0, 2, 0}, Touch::load, 0);
  EXPECT_TRUE(s.clean());
}

TEST(RaceDetector, ForgottenReaderIsStillSeenAmongMany) {
  Script s(1, 8);
  s.all_shared(0, Touch::load, [](int) { return 5; });
  s.shared({0, 7, 31}, Touch::store, 5);
  EXPECT_FALSE(s.clean());
}

// Inside a warp.

TEST(RaceDetector, MissingWarpSync) {
  for (const bool with_sync : {true, false}) {
    Script s(1, 1);
    s.all_shared(0, Touch::store, [](int i) { return i; });
    if (with_sync)
      s.detector().warp_sync(0, 0, LaneOrder::kAllLanes);
    s.all_shared(0, Touch::load, [](int i) { return i ^ 1; });
    EXPECT_EQ(s.clean(), with_sync);
  }
}

TEST(RaceDetector, ABarrierOfSomeLanesOrdersThoseAlone) {
  for (const int distance : {1, 16}) {
    Script s(1, 1);
    s.all_shared(0, Touch::store, [](int i) { return i; });
    s.detector().warp_sync(0, 0, 0x0000FFFFU);
    s.detector().warp_sync(0, 0, 0xFFFF0000U);
    s.all_shared(0, Touch::load, [&](int i) { return i ^ distance; });
    EXPECT_EQ(s.clean(), distance == 1);
  }
}

TEST(RaceDetector, LanesPassOnWhatTheyKnow) {
  Script s(1, 1);
  s.shared({0, 0, 0}, Touch::store, 3);
  s.detector().warp_sync(0, 0, 0b011);
  s.detector().warp_sync(0, 0, 0b110);
  s.shared({0, 0, 2}, Touch::load, 3);
  EXPECT_TRUE(s.clean());
  s.shared({0, 0, 3}, Touch::load, 3);
  EXPECT_FALSE(s.clean());
}

TEST(RaceDetector, LanesOfOneStoreCollide) {
  Script s(1, 1);
  s.all_shared(0, Touch::store, [](int) { return 4; });
  EXPECT_FALSE(s.clean());
}

TEST(RaceDetector, LanesMayReadTheirOwnElements) {
  Script s(1, 2);
  for (int step = 0; step < 4; ++step) {
    s.all_shared(0, Touch::load, [](int i) { return i; });
    s.all_shared(0, Touch::store, [](int i) { return i; });
  }
  EXPECT_TRUE(s.clean());
}

TEST(RaceDetector, VolatileWarpSynchronousReduction) {
  Script s(1, 1);
  for (int step = 16; step > 0; step /= 2)
    for (const Touch touch : {Touch::load, Touch::store})
      for (std::uint8_t lane = 0; lane < 16; ++lane) {
        if (touch == Touch::load)
          s.shared({0, 0, lane}, touch, lane + step, true);
        s.shared({0, 0, lane}, touch, lane, true);
      }
  EXPECT_TRUE(s.clean());
}

TEST(RaceDetector, ASpinLockOrdersLanesOfOneWarp) {
  Script s(1, 2);
  for (std::uint16_t warp = 0; warp < 2; ++warp)
    for (std::uint8_t lane = 0; lane < 32; ++lane) {
      s.global({0, warp, lane}, Touch::atomic, 0); // lock
      s.global({0, warp, lane}, Touch::load, 100);
      s.global({0, warp, lane}, Touch::store, 100);
      s.global({0, warp, lane}, Touch::store, 0, true); // unlock
    }
  EXPECT_TRUE(s.clean());
}

TEST(RaceDetector, NonAtomicIncrement) {
  Script s(1, 1);
  for (std::uint8_t lane = 0; lane < 32; ++lane)
    s.global({0, 0, lane}, Touch::load, 0);
  for (std::uint8_t lane = 0; lane < 32; ++lane)
    s.global({0, 0, lane}, Touch::store, 0, false, lane > 0);
  EXPECT_FALSE(s.clean());
}

// Same values.

TEST(RaceDetector, AllThreadsWriteTheSameFlagAndReadItBack) {
  Script s(1, 4);
  s.all_shared(0, Touch::store, [](int) { return 0; }, true);
  s.all_shared(0, Touch::load, [](int) { return 0; });
  EXPECT_TRUE(s.clean());
}

TEST(RaceDetector, AWarpThatDidNotWriteTheFlagMayNotReadIt) {
  Script s(1, 3);
  s.shared({0, 0, 0}, Touch::store, 0);
  s.shared({0, 1, 0}, Touch::store, 0, false, true);
  s.shared({0, 2, 0}, Touch::load, 0);
  EXPECT_FALSE(s.clean());
}

TEST(RaceDetector, ADifferentValueAfterAgreementIsARace) {
  Script s(1, 2);
  s.all_shared(0, Touch::store, [](int) { return 0; }, true);
  s.shared({0, 1, 0}, Touch::store, 0);
  EXPECT_FALSE(s.clean());
}

TEST(RaceDetector, BlocksThatWriteAndReadBackTheSameValue) {
  Script s(4, 1);
  for (std::uint32_t block = 0; block < 4; ++block) {
    s.global({block, 0, 0}, Touch::store, 0, false, block > 0);
    s.global({block, 0, 0}, Touch::load, 0);
  }
  EXPECT_TRUE(s.clean());
}

// Atomics and shared memory.

TEST(RaceDetector, SharedHistogram) {
  for (const bool first_barrier : {true, false})
    for (const bool second_barrier : {true, false}) {
      Script s(1, 4);
      s.all_shared(0, Touch::store, [](int i) { return i; });
      if (first_barrier)
        s.barrier(0);
      s.all_shared(0, Touch::atomic, [](int i) { return (i * 37 + 11) % 128; });
      if (second_barrier)
        s.barrier(0);
      s.all_shared(0, Touch::load, [](int i) { return i; });
      EXPECT_EQ(s.clean(), first_barrier && second_barrier) << first_barrier << second_barrier;
    }
}

TEST(RaceDetector, APlainWriteRacesWithAVolatileReaderPastAVolatileWrite) {
  Script s(1, 2);
  s.shared({0, 1, 0}, Touch::load, 0, true);
  s.shared({0, 0, 0}, Touch::store, 0, true);
  EXPECT_TRUE(s.clean());
  s.shared({0, 0, 0}, Touch::store, 0);
  EXPECT_FALSE(s.clean());
}

// One-sided synchronisation.

TEST(RaceDetector, ProducerConsumerPipeline) {
  enum Broken { nothing, full, empty };
  for (const Broken broken : {nothing, full, empty}) {
    Script s(1, 3); // warp 0 produces, 1 and 2 consume; two stages
    for (int step = 0; step < 8; ++step) {
      const auto stage = static_cast<std::uint64_t>(step % 2);
      if (step >= 2 && broken != empty)
        s.detector().acquire(0, 0, 10 + stage);
      for (std::uint8_t lane = 0; lane < 32; ++lane)
        s.shared({0, 0, lane}, Touch::store, stage * 32 + lane);
      s.detector().release(0, 0, 20 + stage);
      for (std::uint16_t warp = 1; warp < 3; ++warp) {
        if (broken != full)
          s.detector().acquire(0, warp, 20 + stage);
        for (std::uint8_t lane = 0; lane < 32; ++lane)
          s.shared({0, warp, lane}, Touch::load, stage * 32 + (lane + 5U) % 32);
        s.detector().release(0, warp, 10 + stage);
      }
    }
    EXPECT_EQ(s.clean(), broken == nothing) << broken;
  }
}

TEST(RaceDetector, AReleaseDoesNotCoverWhatFollows) {
  Script s(1, 2);
  s.detector().release(0, 0, 1);
  s.shared({0, 0, 0}, Touch::store, 0);
  s.detector().acquire(0, 1, 1);
  s.shared({0, 1, 0}, Touch::load, 0);
  EXPECT_FALSE(s.clean());
}

// Between blocks.

TEST(RaceDetector, BlocksWriteDifferentValuesToOneElement) {
  Script s(2, 1);
  s.global({0, 0, 0}, Touch::store, 42);
  s.global({1, 0, 1}, Touch::store, 42);
  ASSERT_FALSE(s.clean());
  EXPECT_EQ(s.race()->first.block, 0U);
  EXPECT_EQ(s.race()->second.block, 1U);
  EXPECT_EQ(s.race()->offset, 168U);
}

TEST(RaceDetector, ABlockReadsWhatAnotherWritesEvenAfterItEnded) {
  Script s(2, 1);
  s.global({0, 0, 0}, Touch::store, 42);
  s.detector().end_block(0);
  s.global({1, 0, 1}, Touch::load, 42);
  EXPECT_FALSE(s.clean());
}

TEST(RaceDetector, InPlaceStencil) {
  Script s(2, 2); // element 64 belongs to block 1, block 0 reads it as halo
  s.global({0, 1, 31}, Touch::load, 64);
  for (std::uint16_t warp = 0; warp < 2; ++warp)
    for (std::uint8_t lane = 0; lane < 32; ++lane)
      s.global({1, warp, lane}, Touch::load, 64);
  s.barrier(1);
  s.global({1, 0, 0}, Touch::store, 64);
  ASSERT_FALSE(s.clean());
  EXPECT_EQ(s.race()->first.block, 0U);
}

TEST(RaceDetector, BarriersDoNotOrderBlocks) {
  Script s(2, 1);
  s.global({0, 0, 0}, Touch::store, 1);
  s.barrier(0);
  s.barrier(1);
  s.global({1, 0, 0}, Touch::load, 1);
  EXPECT_FALSE(s.clean());
}

TEST(RaceDetector, GridStrideInPlaceUpdate) {
  Script s(4, 2);
  for (std::uint64_t element = 0; element < 1024; ++element) {
    const auto thread = static_cast<std::uint32_t>(element % 256);
    const Script::Thread t{thread / 64, static_cast<std::uint16_t>(thread / 32 % 2),
                           static_cast<std::uint8_t>(thread % 32)};
    s.global(t, Touch::load, element);
    s.global(t, Touch::store, element);
  }
  EXPECT_TRUE(s.clean());
}

// Partial sums, a counter, and the last block adds them up.
bool last_block_reduction_is_clean(bool with_atomic, bool with_barrier) {
  constexpr std::uint32_t blocks = 5;
  Script s(blocks, 2);
  for (std::uint32_t block = 0; block < blocks; ++block) {
    s.global({block, 1, 0}, Touch::store, block); // written by warp 1, published by warp 0
    if (with_barrier)
      s.barrier(block);
    if (with_atomic)
      s.global({block, 0, 0}, Touch::atomic, 1000);
    s.barrier(block);
    if (block + 1 < blocks)
      s.detector().end_block(block);
  }
  for (std::uint8_t lane = 0; lane < blocks; ++lane)
    s.global({blocks - 1, 1, lane}, Touch::load, lane);
  s.global({blocks - 1, 0, 0}, Touch::store, 1000); // counter back to zero
  return s.clean();
}

TEST(RaceDetector, LastBlockReduction) {
  EXPECT_TRUE(last_block_reduction_is_clean(true, true));
  EXPECT_FALSE(last_block_reduction_is_clean(false, true));
  EXPECT_FALSE(last_block_reduction_is_clean(true, false));
}

TEST(RaceDetector, DecoupledLookBack) {
  constexpr std::uint32_t blocks = 40;
  for (const bool strong_flags : {true, false}) {
    Script s(blocks, 2);
    for (std::uint32_t block = 0; block < blocks; ++block) {
      s.global({block, 0, 0}, Touch::store, 100 + block); // aggregate
      s.global({block, 0, 0}, Touch::store, block, strong_flags);
      for (std::uint32_t back = 1; back <= block && back <= 32; ++back) {
        const auto lane = static_cast<std::uint8_t>(back - 1);
        s.global({block, 0, lane}, Touch::load, block - back, strong_flags);
        s.global({block, 0, lane}, Touch::load, 100 + block - back);
        s.global({block, 0, lane}, Touch::load, 200 + block - back);
      }
      s.detector().warp_sync(block, 0, LaneOrder::kAllLanes);
      s.global({block, 0, 0}, Touch::store, 200 + block); // inclusive prefix
      s.global({block, 0, 0}, Touch::store, block, strong_flags);
    }
    EXPECT_EQ(s.clean(), strong_flags);
  }
}

TEST(RaceDetector, NeighbouringFlagsInOneChunk) {
  Script s(2, 1);
  s.global({0, 0, 0}, Touch::store, 100);
  s.global({0, 0, 0}, Touch::store, 0, true);
  s.global({1, 0, 0}, Touch::store, 1, true); // its own flag, eight bytes together
  s.global({1, 0, 0}, Touch::load, 0, true);
  s.global({1, 0, 0}, Touch::load, 100);
  EXPECT_TRUE(s.clean());
}

TEST(RaceDetector, CooperativeGridBarrier) {
  constexpr std::uint32_t blocks = 6;
  for (const bool with_barrier : {true, false}) {
    Script s(blocks, 2);
    for (int phase = 0; phase < 3; ++phase) {
      for (std::uint32_t block = 0; block < blocks; ++block)
        for (std::uint16_t warp = 0; warp < 2; ++warp)
          s.global({block, warp, 0}, Touch::store, 64 * (phase % 2) + block * 2 + warp);
      if (with_barrier) {
        for (std::uint32_t block = 0; block < blocks; ++block) {
          s.barrier(block);
          s.global({block, 0, 0}, Touch::atomic, 1000);
        }
        for (std::uint32_t block = 0; block < blocks; ++block) {
          s.global({block, 0, 0}, Touch::load, 1000, true);
          s.barrier(block);
        }
      }
      for (std::uint32_t block = 0; block < blocks; ++block)
        s.global({block, 1, 0}, Touch::load, 64 * (phase % 2) + (block * 2 + 5) % (blocks * 2));
    }
    EXPECT_EQ(s.clean(), with_barrier);
  }
}

TEST(RaceDetector, KnowledgeOfOtherBlocksTravelsThroughTheBlock) {
  Script s(2, 3);
  s.global({0, 0, 0}, Touch::store, 500);
  s.global({0, 0, 0}, Touch::store, 0, true);
  s.global({1, 0, 0}, Touch::load, 0, true);
  s.detector().release(1, 0, 9);
  s.detector().acquire(1, 1, 9);
  s.global({1, 1, 4}, Touch::load, 500);
  EXPECT_TRUE(s.clean());
  s.global({1, 2, 4}, Touch::load, 500); // warp 2 was told nothing
  EXPECT_FALSE(s.clean());
}

// Without a fence an atomic counts but does not publish what was stored before it.
TEST(RaceDetector, AnAtomicWithoutAFencePublishesNothing) {
  Script s(2, 2, false);
  s.global({0, 0, 0}, Touch::store, 500);
  s.global({0, 0, 0}, Touch::atomic, 0);
  s.global({1, 0, 0}, Touch::atomic, 0);
  EXPECT_TRUE(s.clean());
  s.global({1, 0, 0}, Touch::load, 500);
  EXPECT_FALSE(s.clean());
}

TEST(RaceDetector, ClearingWhileOtherBlocksAdd) {
  Script s(2, 2, false);
  s.global({0, 0, 0}, Touch::store, 0);
  s.barrier(0);
  s.global({0, 0, 0}, Touch::atomic, 0);
  s.global({0, 1, 0}, Touch::atomic, 0);
  EXPECT_TRUE(s.clean());
  s.global({1, 0, 0}, Touch::atomic, 0);
  EXPECT_FALSE(s.clean());
}

// The read-only cache.

TEST(RaceDetector, WhatIsLoadedAsReadOnlyIsNotWritten) {
  constexpr std::uint64_t bytes = 256;
  for (const bool write_first : {true, false}) {
    for (const Touch write : {Touch::store, Touch::atomic}) {
      RaceDetector detector(2, 1, 4);
      const Actor writer{0, 0, 3, 7};
      const Actor reader{1, 0, 5, 8};
      const auto load = [&](std::uint64_t at) {
        return detector.global_access(reader, 1, bytes, at, 16, Touch::read_only_load, false,
                                      false);
      };
      const auto store = [&] {
        return detector.global_access(writer, 1, bytes, 28, 4, write, write == Touch::atomic, true);
      };
      auto found = write_first ? store() : load(16);
      EXPECT_FALSE(found);
      EXPECT_FALSE(load(32)) << "the bytes beside it";
      found = write_first ? load(16) : store();
      ASSERT_TRUE(found);
      EXPECT_TRUE(found->stale);
      EXPECT_EQ(found->offset, 28U);
      EXPECT_EQ(found->first.lane, write_first ? writer.lane : reader.lane);
      EXPECT_EQ(found->first.instruction, write_first ? 7U : 8U);
      EXPECT_EQ(found->second.lane, write_first ? reader.lane : writer.lane);
    }
  }
}

TEST(RaceDetector, NoOrderHelpsTheReadOnlyCache) {
  RaceDetector detector(1, 1, 4);
  EXPECT_FALSE(detector.global_access({0, 0, 0, 1}, 1, 64, 0, 4, Touch::store, false, false));
  detector.barrier(0, kAllWarps);
  const auto found =
      detector.global_access({0, 0, 0, 2}, 1, 64, 0, 4, Touch::read_only_load, false, false);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->stale);
}

// A texture may be read and then written: only the other way round shows an old value.
TEST(RaceDetector, TexturesAreReadBeforeTheyAreWritten) {
  RaceDetector detector(1, 1, 4);
  const auto access = [&](Touch touch) {
    return detector.global_access({0, 0, 0, 1}, 1, 64, 0, 4, touch, false, false);
  };
  EXPECT_FALSE(access(Touch::texture_load));
  EXPECT_FALSE(access(Touch::store));
  ASSERT_TRUE(access(Touch::texture_load));
}

// Blocks one after the other use the same shared memory cells.
TEST(RaceDetector, SharedMemoryIsForgottenBetweenBlocks) {
  RaceDetector detector(3, 2, 4);
  for (std::uint32_t block = 0; block < 3; ++block) {
    detector.begin_block(block, 1024);
    for (std::uint16_t warp = 0; warp < 2; ++warp)
      EXPECT_FALSE(
          detector.shared_access({block, warp, 0, 1}, 4U * warp, 4, Touch::store, false, false));
    EXPECT_TRUE(detector.shared_access({block, 1, 0, 2}, 0, 4, Touch::load, false, false));
    detector.end_block(block);
  }
}

TEST(RaceDetector, WideAccessesMeetNarrowOnes) {
  RaceDetector detector(1, 2, 2);
  detector.begin_block(0, 1024);
  EXPECT_FALSE(detector.shared_access({0, 0, 0, 1}, 16, 16, Touch::store, false, false));
  EXPECT_FALSE(detector.shared_access({0, 1, 0, 2}, 32, 2, Touch::load, false, false));
  const auto race = detector.shared_access({0, 1, 0, 3}, 30, 2, Touch::load, false, false);
  ASSERT_TRUE(race);
  EXPECT_EQ(race->offset, 30U);
  const auto wide = detector.shared_access({0, 1, 1, 4}, 8, 16, Touch::load, false, false);
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->offset, 16U);
}

TEST(RaceDetector, StaysWithinItsMemory) {
  const std::uint64_t bytes = std::uint64_t{1} << 24U;
  RaceDetector detector(1U << 20U, 8, 1, 8U << 20U);
  std::uint32_t block = 0;
  for (std::uint64_t offset = 0; offset < bytes; offset += 512 * 16) {
    detector.begin_block(block, 0);
    EXPECT_FALSE(
        detector.global_access({block, 0, 0, 1}, 1, bytes, offset, 4, Touch::store, false, false));
    detector.end_block(block++);
  }
  EXPECT_EQ(detector.untracked(), 2048U - (8U << 20U) / kPageBytes);
}

TEST(RaceDetector, AFreedRegionHasNoPast) {
  // Room for one page only, so the budget must come back too.
  RaceDetector detector(3, 1, 4, kPageBytes);
  for (std::uint32_t block = 0; block < 3; ++block) {
    EXPECT_FALSE(detector.global_access({block, 0, 0, 1}, 9, 64, 0, 4, Touch::store, false, false));
    detector.forget_region(9);
  }
  detector.forget_region(1234);
  EXPECT_EQ(detector.untracked(), 0U);
}

TEST(RaceDetector, ManyAtomicAddressesInAHugeGrid) {
  constexpr std::uint32_t blocks = 3000;
  RaceDetector detector(blocks, 8, 4);
  std::mt19937 random(1);
  const std::uint64_t bytes = 4U << 16U;
  for (std::uint32_t block = 0; block < blocks; ++block) {
    detector.begin_block(block, 0);
    for (std::uint8_t lane = 0; lane < 32; ++lane)
      EXPECT_FALSE(detector.global_access({block, 0, lane, 1}, 1, bytes, random() % (bytes / 4) * 4,
                                          4, Touch::atomic, true, false));
    EXPECT_FALSE(detector.global_access({block, 0, 0, 1}, 2, 1U << 20U, block * 4, 4, Touch::store,
                                        false, false));
    detector.end_block(block);
  }
}

// A slow and obviously right judge: the set of all earlier events each lane is ordered after.
class Judge {
public:
  static constexpr std::size_t kMostEvents = 256;
  using Past = std::bitset<kMostEvents>;
  static constexpr int kLanes = 3;
  static constexpr unsigned kEveryLane = LaneOrder::kAllLanes;

  Judge(int blocks, int warps)
      : warps_(warps), past_(static_cast<std::size_t>(blocks * warps * kLanes)) {}

  bool access(int block, int warp, int lane, int element, Touch touch, bool strong) {
    Past& mine = past(block, warp, lane);
    if (strong && touch != Touch::store)
      teach(block, warp, chunks_[element / 2]);
    bool race = false;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      const Event& e = events_[i];
      const bool conflict =
          e.element == element && (e.writes || touch != Touch::load) && !(e.strong && strong);
      race |= conflict && !mine[i];
    }
    mine.set(events_.size());
    events_.push_back({element, touch != Touch::load, strong});
    if (strong && touch != Touch::load)
      chunks_[element / 2] |= gathered(block, warp);
    return race;
  }
  void warp_sync(int block, int warp, unsigned lanes) {
    Past all;
    for (int lane = 0; lane < kLanes; ++lane)
      if ((lanes >> lane & 1U) != 0)
        all |= past(block, warp, lane);
    for (int lane = 0; lane < kLanes; ++lane)
      if ((lanes >> lane & 1U) != 0)
        past(block, warp, lane) |= all;
  }
  void barrier(int block, std::uint64_t mask) {
    Past all;
    for (int warp = 0; warp < warps_; ++warp)
      if ((mask >> warp & 1U) != 0)
        all |= gathered(block, warp);
    for (int warp = 0; warp < warps_; ++warp)
      if ((mask >> warp & 1U) != 0)
        teach(block, warp, all);
  }
  void release(int block, int warp, int object) {
    objects_[{block, object}] |= gathered(block, warp);
  }
  void acquire(int block, int warp, int object) {
    teach(block, warp, objects_[{block, object}]);
    warp_sync(block, warp, kEveryLane);
  }

private:
  struct Event {
    int element;
    bool writes;
    bool strong;
  };
  Past& past(int block, int warp, int lane) {
    return past_[static_cast<std::size_t>((block * warps_ + warp) * kLanes + lane)];
  }
  Past gathered(int block, int warp) {
    Past all;
    for (int lane = 0; lane < kLanes; ++lane)
      all |= past(block, warp, lane);
    return all;
  }
  void teach(int block, int warp, Past what) {
    for (int lane = 0; lane < kLanes; ++lane)
      past(block, warp, lane) |= what;
  }

  int warps_;
  std::vector<Past> past_;
  std::vector<Event> events_;
  std::map<int, Past> chunks_;
  std::map<std::pair<int, int>, Past> objects_;
};

struct Tally {
  int programs = 0;
  int racy = 0;
  int found = 0;  // the detector spoke at the very access that first raced
  int blamed = 0; // it spoke at an access that does not race
};

struct Mix {
  int blocks;
  int warps;
  bool strong;
  int sync_percent;
  bool lanes_apart = false; // warp barriers of some lanes
};

Tally compare_with_judge(const Mix& mix, int programs) {
  Tally tally;
  for (int seed = 0; seed < programs; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    RaceDetector detector(static_cast<std::uint64_t>(mix.blocks),
                          static_cast<std::uint32_t>(mix.warps), 4);
    for (int block = 0; block < mix.blocks; ++block) {
      detector.begin_block(static_cast<std::uint32_t>(block), 256);
      detector.fence(static_cast<std::uint32_t>(block));
    }
    Judge judge(mix.blocks, mix.warps);
    ++tally.programs;
    for (int step = 0; step < 200; ++step) {
      const int block = below(mix.blocks);
      const int warp = below(mix.warps);
      const auto b = static_cast<std::uint32_t>(block);
      const auto w = static_cast<std::uint32_t>(warp);
      if (below(100) < mix.sync_percent) {
        const int object = below(3);
        const std::uint64_t mask = below(3) == 0 ? random() : kAllWarps;
        const unsigned lanes =
            mix.lanes_apart && below(2) == 0 ? 1U + random() % 7 : Judge::kEveryLane;
        switch (below(4)) {
        case 0:
          judge.warp_sync(block, warp, lanes);
          detector.warp_sync(b, w, lanes);
          break;
        case 1:
          judge.barrier(block, mask);
          detector.barrier(b, mask);
          break;
        case 2:
          judge.release(block, warp, object);
          detector.release(b, w, static_cast<std::uint64_t>(object));
          break;
        default:
          judge.acquire(block, warp, object);
          detector.acquire(b, w, static_cast<std::uint64_t>(object));
        }
        continue;
      }
      const int lane = below(Judge::kLanes);
      const bool strong = mix.strong && below(2) == 0;
      const int element = strong && below(4) > 0 ? 20 + below(6) : below(12);
      const Touch touch = strong         ? static_cast<Touch>(below(3))
                          : below(2) > 0 ? Touch::load
                                         : Touch::store;
      const Actor who{b, static_cast<std::uint16_t>(warp), static_cast<std::uint8_t>(lane), 0};
      const auto offset = static_cast<std::uint64_t>(element) * 4;
      const bool expected = judge.access(block, warp, lane, element, touch, strong);
      const bool actual =
          mix.blocks > 1
              ? detector.global_access(who, 1, 256, offset, 4, touch, strong, false).has_value()
              : detector.shared_access(who, offset, 4, touch, strong, false).has_value();
      tally.racy += static_cast<int>(expected);
      tally.found += static_cast<int>(expected && actual);
      tally.blamed += static_cast<int>(!expected && actual);
      if (expected || actual)
        break;
    }
  }
  return tally;
}

// Two warps of a block: nothing has to be forgotten, so the answers are the same access by access.
TEST(RaceDetectorAgainstJudge, TwoWarpsExactly) {
  for (const int sync_percent : {30, 60, 90}) {
    const Tally tally = compare_with_judge({1, 2, false, sync_percent}, 4000);
    EXPECT_EQ(tally.blamed, 0) << sync_percent;
    EXPECT_EQ(tally.found, tally.racy) << sync_percent;
    EXPECT_GT(tally.racy, 1000) << sync_percent;
  }
}

TEST(RaceDetectorAgainstJudge, NeverBlamesAndSeldomMisses) {
  for (const Mix& mix : {Mix{1, 5, false, 80}, Mix{1, 3, true, 50}, Mix{3, 2, true, 40},
                         Mix{4, 1, true, 10}, Mix{2, 3, true, 70}, Mix{1, 1, false, 40, true},
                         Mix{1, 2, false, 60, true}, Mix{1, 2, true, 60, true}}) {
    const Tally tally = compare_with_judge(mix, 4000);
    SCOPED_TRACE(testing::Message() << mix.blocks << " blocks, " << mix.warps << " warps, strong "
                                    << mix.strong << ", " << mix.sync_percent << " % sync");
    EXPECT_EQ(tally.blamed, 0);
    EXPECT_GT(tally.racy, 2000);
    EXPECT_GT(tally.found, tally.racy * 95 / 100);
  }
}

} // namespace
} // namespace kernevo::vgpu
