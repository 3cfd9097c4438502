#include "kernevo/evaluate/needed_bytes.h"

#include "kernevo/base/random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>
#include <span>
#include <utility>

namespace kernevo {
namespace {

constexpr std::uint64_t kSector = 32; // bytes; what DRAM moves at least
constexpr std::uint64_t kMostTried = 128;
constexpr std::uint64_t kSearchRuns = 65; // for sectors that shared all the outputs they change
constexpr std::size_t kOneByOne = 3; // that matter in a row: most will, and halving would not pay
constexpr double kConfidence = 0.99;
constexpr std::int64_t kSampledValues = 65536; // of an input, to know its range

// A changed input may lead the subject astray: what was an index is none any more.
enum class Changes {
  beyond_range, // a little more than any value there is, so that extremes give way
  in_range,
  floating_only,
};

struct Sector {
  std::size_t buffer = 0;
  std::uint64_t index = 0;
};

struct Range {
  double low = 0;
  double high = 0;
};

bool is_input(const BufferSpec& buffer) {
  return buffer.direction != Direction::out;
}

bool is_output(const BufferSpec& buffer) {
  return buffer.direction != Direction::in;
}

Range values_to_try(const BufferSpec& buffer, const std::vector<std::byte>& bytes,
                    Changes changes) {
  const std::int64_t step = std::max<std::int64_t>(1, buffer.elements() / kSampledValues);
  Range range{INFINITY, -INFINITY};
  for (std::int64_t e = 0; e < buffer.elements(); e += step) {
    const double value = load_element(buffer.dtype, bytes.data(), e);
    range.low = std::min(range.low, value);
    range.high = std::max(range.high, value);
  }
  const double width = range.high - range.low;
  if (!is_floating(buffer.dtype)) {
    if (width == 0) // downwards, for it may be an index or a length
      range.low = range.high = range.low > 0 ? range.low - 1 : range.low + 1;
    return range;
  }
  const double more = width == 0                         ? std::max(1.0, std::abs(range.low) / 2)
                      : changes == Changes::beyond_range ? width / 64
                                                         : 0;
  return {range.low - more, range.high + more};
}

class Trial {
public:
  Trial(BoundSubject& subject, const CaseInputs& inputs, LaidOutCase& laid,
        const NeededBytesLimits& limits, Changes changes)
      : subject_(subject), inputs_(inputs), buffers_(inputs.problem.buffers), laid_(laid),
        runs_left_(limits.runs), changes_(changes) {
    laid_.run.instruction_budget = limits.instruction_budget;
    laid_.run.seconds = limits.seconds;
  }

  // False: the subject faulted.
  Result<bool> run() {
    KERNEVO_TRY(usual, keep_outputs());
    if (!usual)
      return false;
    count_outputs();
    choose_sectors();
    if (sectors_.empty() || !affordable())
      return true;
    KERNEVO_TRY(again, changed_by({}));
    if (failed_)
      return false;
    if (again) { // no function of its inputs
      sectors_.clear();
      return true;
    }
    KERNEVO_CHECK(try_together());
    KERNEVO_CHECK(search_rest());
    return !failed_;
  }

  NeededBytes result() const {
    NeededBytes needed{outputs_, outputs_, tried_, 0};
    for (std::uint64_t i = 0; i < tried_; ++i)
      needed.changed += matters_[i] ? 1 : 0;
    if (tried_ == 0)
      return needed;
    const double share = static_cast<double>(needed.changed) / static_cast<double>(tried_);
    const double least = tried_ == population_ ? share : least_share(needed.changed, tried_);
    needed.bytes += share * input_bytes_;
    needed.least += least * input_bytes_;
    return needed;
  }

private:
  std::uint64_t code_bits() const { return std::bit_width(sectors_.size() - 1); }
  bool affordable() {
    // The run before and the control are spent already.
    while (sectors_.size() > 1 && runs_left_ < 1 + 2 * code_bits())
      sectors_.resize(sectors_.size() / 2);
    return runs_left_ >= 3;
  }

  Result<bool> keep_outputs() {
    KERNEVO_TRY(outcome, subject_.run(laid_.run, laid_.arena));
    if (outcome.fault)
      return false;
    usual_.resize(buffers_.size());
    for (std::size_t b = 0; b < buffers_.size(); ++b)
      if (is_output(buffers_[b])) {
        const auto region = laid_.arena.region(b);
        usual_[b].assign(region.begin(), region.end());
      }
    runs_left_ -= std::min<std::uint64_t>(runs_left_, 1);
    return true;
  }

  // All of an output must be written; of what is updated in place, what is another then.
  void count_outputs() {
    for (std::size_t b = 0; b < buffers_.size(); ++b) {
      if (!is_output(buffers_[b]))
        continue;
      const std::uint64_t bytes = buffers_[b].bytes();
      if (!is_input(buffers_[b])) {
        outputs_ += static_cast<double>(bytes);
        continue;
      }
      for (std::uint64_t at = 0; at < bytes; at += kSector) {
        const std::uint64_t size = std::min(kSector, bytes - at);
        if (std::memcmp(usual_[b].data() + at, inputs_.initial[b].data() + at, size) != 0)
          outputs_ += static_cast<double>(size);
      }
    }
  }

  void choose_sectors() {
    std::vector<std::uint64_t> first; // sector of each buffer, in one row
    for (const BufferSpec& buffer : buffers_) {
      first.push_back(population_);
      if (!is_input(buffer))
        continue;
      input_bytes_ += static_cast<double>(buffer.bytes());
      population_ += (buffer.bytes() + kSector - 1) / kSector;
    }
    ranges_.resize(buffers_.size());
    for (std::size_t b = 0; b < buffers_.size(); ++b)
      if (is_input(buffers_[b]) && buffers_[b].elements() > 0)
        ranges_[b] = values_to_try(buffers_[b], inputs_.initial[b], changes_);
    std::set<std::uint64_t> chosen;
    const CounterRandom random(inputs_.seed);
    const std::uint64_t count = std::min(population_, kMostTried);
    for (std::uint64_t i = 0; chosen.size() < count; ++i) {
      const std::uint64_t one = random.bits(i) % population_;
      if (!chosen.insert(one).second)
        continue;
      const auto next = std::upper_bound(first.begin(), first.end(), one);
      // Buffers that are no inputs begin where the next one does: the last of them holds it.
      const auto buffer = static_cast<std::size_t>(next - first.begin()) - 1;
      sectors_.push_back({buffer, one - first[buffer]});
    }
  }

  bool spared(const Sector& sector) const {
    return changes_ == Changes::floating_only && !is_floating(buffers_[sector.buffer].dtype);
  }

  // Elements of a sector, [first, last).
  std::pair<std::int64_t, std::int64_t> elements_of(const Sector& sector) const {
    const BufferSpec& buffer = buffers_[sector.buffer];
    const std::uint64_t size = size_of(buffer.dtype);
    return {static_cast<std::int64_t>(sector.index * kSector / size),
            std::min<std::int64_t>(static_cast<std::int64_t>((sector.index + 1) * kSector / size),
                                   buffer.elements())};
  }

  // High and low in turns, so that greatest and least values give way alike.
  double replacement(std::size_t buffer, std::int64_t element) const {
    const Range& range = ranges_[buffer];
    const double had =
        load_element(buffers_[buffer].dtype, inputs_.initial[buffer].data(), element);
    const double wanted = element % 2 == 0 ? range.high : range.low;
    return wanted != had ? wanted : element % 2 == 0 ? range.low : range.high;
  }

  void change(const Sector& sector) {
    if (spared(sector))
      return;
    const auto [first, last] = elements_of(sector);
    for (std::int64_t e = first; e < last; ++e)
      store_element(buffers_[sector.buffer].dtype, laid_.arena.region(sector.buffer).data(), e,
                    replacement(sector.buffer, e));
  }

  void restore(const Sector& sector) {
    const std::uint64_t at = sector.index * kSector;
    const std::uint64_t size = std::min(kSector, buffers_[sector.buffer].bytes() - at);
    std::memcpy(laid_.arena.region(sector.buffer).data() + at,
                inputs_.initial[sector.buffer].data() + at, size);
  }

  // Runs with these sectors changed; is told each element of an output that is another then, by
  // its number over all outputs.
  template <class Told> Result<void> run_with(std::span<const std::size_t> changed, Told told) {
    for (std::size_t b = 0; b < buffers_.size(); ++b)
      if (is_input(buffers_[b]) && is_output(buffers_[b]))
        std::memcpy(laid_.arena.region(b).data(), inputs_.initial[b].data(), buffers_[b].bytes());
    for (const std::size_t one : changed)
      change(sectors_[one]);
    runs_left_ -= std::min<std::uint64_t>(runs_left_, 1);
    auto outcome = subject_.run(laid_.run, laid_.arena);
    if (outcome && !outcome->fault)
      compare(changed, told);
    for (const std::size_t one : changed)
      restore(sectors_[one]);
    if (!outcome)
      return tl::unexpected<Error>(outcome.error());
    failed_ = failed_ || outcome->fault.has_value();
    return {};
  }

  template <class Told> void compare(std::span<const std::size_t> changed, Told told) {
    constexpr std::uint64_t kPiece = 4096; // bytes; a multiple of every element
    std::uint64_t before = 0;
    for (std::size_t b = 0; b < buffers_.size(); ++b) {
      if (!is_output(buffers_[b]))
        continue;
      const std::byte* now = laid_.arena.region(b).data();
      const std::byte* usual = usual_[b].data();
      const std::uint64_t size = size_of(buffers_[b].dtype);
      for (std::uint64_t at = 0; at < buffers_[b].bytes(); at += kPiece) {
        const std::uint64_t end = std::min(at + kPiece, buffers_[b].bytes());
        if (std::memcmp(now + at, usual + at, end - at) == 0)
          continue;
        for (std::uint64_t e = at; e < end; e += size)
          if (std::memcmp(now + e, usual + e, size) != 0 && !is_left_alone(b, e, changed))
            told(before + e / size);
      }
      before += static_cast<std::uint64_t>(buffers_[b].elements());
    }
  }

  // An element updated in place that is another because it was changed, not because of what the
  // subject did.
  bool is_left_alone(std::size_t b, std::uint64_t offset,
                     std::span<const std::size_t> changed) const {
    if (!is_input(buffers_[b]))
      return false;
    const std::uint64_t size = size_of(buffers_[b].dtype);
    if (std::memcmp(usual_[b].data() + offset, inputs_.initial[b].data() + offset, size) != 0)
      return false;
    const bool own = std::any_of(changed.begin(), changed.end(), [&](std::size_t one) {
      return sectors_[one].buffer == b && sectors_[one].index == offset / kSector;
    });
    if (!own)
      return false;
    const auto element = static_cast<std::int64_t>(offset / size);
    std::byte wanted[16] = {};
    store_element(buffers_[b].dtype, wanted, 0, replacement(b, element));
    return std::memcmp(laid_.arena.region(b).data() + offset, wanted, size) == 0;
  }

  Result<bool> changed_by(std::span<const std::size_t> sectors) {
    bool any = false;
    KERNEVO_CHECK(run_with(sectors, [&](std::uint64_t) { any = true; }));
    return any;
  }

  // Each sector has a number; for each of its bits one run changes the sectors that have it and one
  // those that do not. An output that a single sector changes spells out that sector's number.
  Result<void> try_together() {
    const std::uint64_t bits = code_bits();
    std::uint64_t elements = 0;
    for (const BufferSpec& buffer : buffers_)
      elements += is_output(buffer) ? static_cast<std::uint64_t>(buffer.elements()) : 0;
    matters_.assign(sectors_.size(), false);
    std::vector<std::uint16_t> seen(elements);
    for (std::uint64_t run = 0; run < 2 * bits && !failed_; ++run) {
      std::vector<std::size_t> changed;
      for (std::size_t i = 0; i < sectors_.size(); ++i)
        if ((i >> (run / 2) & 1U) == (run & 1U))
          changed.push_back(i);
      KERNEVO_CHECK(run_with(changed, [&](std::uint64_t e) {
        seen[e] = static_cast<std::uint16_t>(seen[e] | 1U << run);
      }));
    }
    for (const std::uint16_t mask : seen) {
      std::size_t number = 0;
      bool single = mask != 0;
      for (std::uint64_t bit = 0; bit < bits && single; ++bit) {
        const unsigned pair = mask >> (2 * bit) & 3U;
        single = pair == 1 || pair == 2;
        number |= std::size_t{pair >> 1U} << bit;
      }
      if (single && number < sectors_.size())
        matters_[number] = true;
    }
    return {};
  }

  // Sectors that have not shown by themselves, one by one or by halves. Where there are too many,
  // only the first of all sectors count as tried: which ones these are does not depend on what was
  // found.
  Result<void> search_rest() {
    const std::uint64_t runs = std::min(kSearchRuns, runs_left_);
    std::vector<std::size_t> rest;
    tried_ = 0;
    for (; tried_ < sectors_.size() && (matters_[tried_] || rest.size() + 1 < runs); ++tried_)
      if (!matters_[tried_])
        rest.push_back(tried_);
    if (rest.empty() || failed_)
      return {};
    runs_left_ = runs;
    KERNEVO_TRY(any, changed_by(rest));
    if (!any)
      return {};
    std::size_t next = 0;
    bool all = true;
    for (; next < rest.size() && runs_left_ > 0 && (next < kOneByOne || all); ++next) {
      KERNEVO_TRY(one, changed_by({&rest[next], 1}));
      matters_[rest[next]] = one;
      all = all && one;
    }
    return search(std::span(rest).subspan(next));
  }

  Result<void> search(std::span<const std::size_t> among) {
    if (among.empty() || runs_left_ == 0 || failed_)
      return {};
    KERNEVO_TRY(any, changed_by(among));
    if (!any)
      return {};
    if (among.size() == 1) {
      matters_[among[0]] = true;
      return {};
    }
    KERNEVO_CHECK(search(among.first(among.size() / 2)));
    return search(among.subspan(among.size() / 2));
  }

  BoundSubject& subject_;
  const CaseInputs& inputs_;
  const std::vector<BufferSpec>& buffers_;
  LaidOutCase& laid_;
  std::uint64_t runs_left_;
  Changes changes_;
  std::vector<std::vector<std::byte>> usual_; // outputs
  double outputs_ = 0;                        // bytes to write
  double input_bytes_ = 0;
  std::uint64_t population_ = 0; // sectors of all inputs
  std::vector<Range> ranges_;
  std::vector<Sector> sectors_;
  std::vector<bool> matters_;
  std::uint64_t tried_ = 0;
  bool failed_ = false;
};

} // namespace

double least_share(std::uint64_t found, std::uint64_t tried) {
  if (found == 0 || tried == 0)
    return 0;
  // The share with which so many or more are found one time in a hundred (Clopper and Pearson).
  const auto n = static_cast<double>(tried);
  const auto at_least = [&](double share) {
    double sum = 0;
    for (std::uint64_t k = found; k <= tried; ++k) {
      const auto x = static_cast<double>(k);
      const double ways = std::lgamma(n + 1) - std::lgamma(x + 1) - std::lgamma(n - x + 1);
      sum += std::exp(ways + x * std::log(share) + (n - x) * std::log1p(-share));
    }
    return sum;
  };
  double low = 0;
  double high = static_cast<double>(found) / n;
  for (int i = 0; i < 50; ++i) {
    const double middle = (low + high) / 2;
    (at_least(middle) < 1 - kConfidence ? low : high) = middle;
  }
  return low;
}

double bytes_to_write(const Problem& problem) {
  double bytes = 0;
  for (const BufferSpec& buffer : problem.buffers)
    bytes += is_output(buffer) && !is_input(buffer) ? static_cast<double>(buffer.bytes()) : 0.0;
  return bytes;
}

Result<std::optional<NeededBytes>> find_needed_bytes(Subject& subject, const CaseInputs& inputs,
                                                     const NeededBytesLimits& limits) {
  KERNEVO_TRY(bound, subject.bind(inputs.problem));
  for (const Changes changes : {Changes::beyond_range, Changes::in_range, Changes::floating_only}) {
    KERNEVO_TRY(laid, lay_out(inputs, false));
    Trial trial(*bound, inputs, laid, limits, changes);
    KERNEVO_TRY(ran, trial.run());
    if (ran)
      return std::optional(trial.result());
  }
  return std::nullopt;
}

} // namespace kernevo
