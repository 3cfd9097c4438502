// Allocations whose content is made when a kernel first touches it.
#include "harness.h"

#include <cstring>
#include <sys/mman.h>

namespace kernevo::vgpu::testing {
namespace {

// Reserved, not used: a page exists once somebody writes it.
class Sparse {
public:
  explicit Sparse(std::uint64_t bytes)
      : bytes_(bytes), memory_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;
  ~Sparse() { munmap(memory_, bytes_); }
  std::span<std::byte> span() const { return {static_cast<std::byte*>(memory_), bytes_}; }

private:
  std::uint64_t bytes_;
  void* memory_;
};

void number_words(std::uint64_t offset, std::span<std::byte> bytes) {
  for (std::size_t i = 0; i < bytes.size(); i += 4) {
    const auto word = static_cast<std::uint32_t>((offset + i) / 4);
    std::memcpy(bytes.data() + i, &word, 4);
  }
}

// out[i] = in[i * step], for 64 threads a block.
std::string gather() {
  return kernel(R"(
  ld.param.u64 %rd2, [in];
  ld.param.u64 %rd3, [step];
  cvt.u64.u32 %rd4, %r3;
  mad.lo.u64 %rd5, %rd4, %rd3, %rd2;
  ld.global.u32 %r4, [%rd5];
  st.global.u32 [%rd1], %r4;
  ret;
)",
                "", ", .param .u64 in, .param .u64 step");
}

struct Gathered {
  LaunchResult result;
  std::vector<std::uint32_t> out;
  std::uint64_t fills = 0;
};

Gathered gathered(std::uint64_t step, std::uint64_t limit, MachineOptions options = {}) {
  const Sparse input(std::uint64_t{16} << 30U);
  const Sparse output(std::uint64_t{16} << 30U);
  const Sparse flags(std::uint64_t{16} << 30U);
  std::atomic<std::uint64_t> fills = 0;
  Gathered gathered;
  Bench bench(gather(), options);
  AllocationOptions made;
  made.read_only = true;
  made.fill_limit = limit;
  made.fill = [&](std::uint64_t offset, std::span<std::byte> bytes) {
    ++fills;
    number_words(offset, bytes);
  };
  AllocationOptions poisoned;
  poisoned.initialized = false;
  poisoned.written = flags.span();
  poisoned.fill = [](std::uint64_t, std::span<std::byte> bytes) {
    std::memset(bytes.data(), 0xFF, bytes.size());
  };
  const auto in = bench.machine.adopt(input.span(), "in", made);
  const auto out = bench.machine.adopt(output.span(), "out", poisoned);
  EXPECT_TRUE(in && out);
  LaunchConfig config;
  config.kernel = "k";
  config.grid = {1U << 20U, 1, 1};
  config.block = {64, 1, 1};
  config.only_blocks = {0, 7, 1'000'000};
  config.parameters = Parameters().add(*out).add(*in).add(step).bytes();
  gathered.result = bench.machine.launch(*bench.program, config);
  gathered.fills = fills;
  if (gathered.result.fault)
    return gathered;
  for (const std::uint64_t block : config.only_blocks)
    for (std::uint64_t i = block * 64; i < block * 64 + 65; ++i) {
      std::uint32_t word = 0;
      std::memcpy(&word, output.span().data() + i * 4, 4);
      // Beside the blocks that ran: poison in the same page, and no flag.
      const bool ran = i < block * 64 + 64;
      EXPECT_EQ(word, ran ? static_cast<std::uint32_t>(i * step / 4) : 0xFFFFFFFFU);
      EXPECT_EQ(flags.span()[i * 4], ran ? std::byte{1} : std::byte{0});
    }
  return gathered;
}

TEST(LazyMemory, NeighbouringLanesShareAPage) {
  const Gathered run = gathered(4, ~std::uint64_t{0});
  ASSERT_RUNS(run.result);
  EXPECT_EQ(run.fills, 2U); // blocks 0 and 7 share one
}

TEST(LazyMemory, LanesFarApartHaveAPageEach) {
  const Gathered run = gathered(256, ~std::uint64_t{0});
  ASSERT_RUNS(run.result);
  EXPECT_EQ(run.fills, 3U * 64 * 256 / 4096);
}

TEST(LazyMemory, SanitizerTooReadsOnlyWhatIsMade) {
  MachineOptions options;
  options.sanitize = true;
  const Gathered run = gathered(4, ~std::uint64_t{0}, options);
  ASSERT_RUNS(run.result);
  EXPECT_EQ(run.fills, 2U);
}

TEST(LazyMemory, IsNotChargedForWhatNobodyTouches) {
  const Sparse input(std::uint64_t{16} << 30U);
  MachineOptions options;
  options.memory_limit = 1U << 20U;
  Bench bench(gather(), options);
  AllocationOptions made;
  made.fill = number_words;
  ASSERT_TRUE(bench.machine.adopt(input.span(), "in", made));
  EXPECT_TRUE(bench.machine.allocate(4096, "scratch"));
  EXPECT_FALSE(bench.machine.allocate(2U << 20U, "too much"));
}

TEST(LazyMemory, TouchingMoreThanTheLimitIsAFinding) {
  EXPECT_FAULT(gathered(256, 8 * 4096).result, memory_limit);
}

} // namespace
} // namespace kernevo::vgpu::testing
