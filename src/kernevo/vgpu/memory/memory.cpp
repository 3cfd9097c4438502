#include "kernevo/vgpu/memory/memory.h"

#include "kernevo/vgpu/memory/address_window.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <iterator>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace kernevo::vgpu {
namespace {

constexpr std::uint64_t kHeapBytes = std::uint64_t{8} << 20U;
constexpr std::uint64_t kHeapAlignment = 16;
// Space left between blocks of the device heap so that an overrun meets no neighbour.
constexpr std::uint64_t kHeapGap = 64;
// Every bit set: a NaN in all floating formats, -1 as an integer.
constexpr int kPoison = 0xFF;

// Against the limit. What is made on first touch has a limit of its own.
std::uint64_t charge(const Allocation& allocation) {
  return allocation.pages == nullptr ? allocation.bytes : 0;
}

std::uint64_t address_of(const std::byte* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer); // NOLINT
}

} // namespace

Result<Mapping> Mapping::create(std::uint64_t bytes) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t inner = std::max<std::uint64_t>((bytes + page - 1) / page * page, page);
  Mapping mapping;
  mapping.whole_bytes_ = inner + 2 * page;
  void* whole = mmap(nullptr, mapping.whole_bytes_, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (whole == MAP_FAILED) // NOLINT(performance-no-int-to-ptr)
    return fail(ErrorCode::infrastructure,
                fmt::format("cannot reserve {} bytes of device memory: {}", bytes,
                            std::strerror(errno))); // NOLINT(concurrency-mt-unsafe)
  mapping.whole_ = static_cast<std::byte*>(whole);
  std::byte* data = mapping.whole_ + page;
  if (mprotect(data, inner, PROT_READ | PROT_WRITE) != 0)
    return fail(ErrorCode::infrastructure,
                fmt::format("cannot open {} bytes of device memory: {}", bytes,
                            std::strerror(errno))); // NOLINT(concurrency-mt-unsafe)
  mapping.data_ = data;
  return mapping;
}

Result<Mapping> Mapping::of_device(std::uint64_t bytes, std::uint64_t address) {
  AddressWindow* const window = AddressWindow::get();
  if (address == 0 && (window == nullptr || !window->serves_others()))
    return create(bytes);
  if (window == nullptr)
    return fail(ErrorCode::input, "no window of addresses is reserved");
  KERNEVO_TRY(data, address == 0 ? window->take(bytes) : window->take_at(address, bytes));
  Mapping mapping;
  mapping.data_ = data;
  mapping.in_window_ = true;
  return mapping;
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), whole_(std::exchange(other.whole_, nullptr)),
      whole_bytes_(std::exchange(other.whole_bytes_, 0)),
      in_window_(std::exchange(other.in_window_, false)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(whole_, other.whole_);
  std::swap(whole_bytes_, other.whole_bytes_);
  std::swap(in_window_, other.in_window_);
  return *this;
}

Mapping::~Mapping() {
  if (in_window_)
    AddressWindow::get()->give_back(address_of(data_));
  if (whole_ != nullptr)
    munmap(whole_, whole_bytes_);
}

std::uint64_t DeviceHeap::allocate(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes == 0 || bytes > capacity_)
    return 0;
  if (!storage_) {
    auto mapping = Mapping::create(capacity_);
    if (!mapping)
      return 0;
    storage_ = std::move(*mapping);
    base_ = address_of(storage_.data());
  }
  // First fit between the live blocks.
  std::uint64_t at = base_;
  for (const auto& [start, size] : live_) {
    if (at + bytes + kHeapGap <= start)
      break;
    at = (start + size + kHeapGap + kHeapAlignment - 1) / kHeapAlignment * kHeapAlignment;
  }
  if (at + bytes > base_ + capacity_)
    return 0;
  live_[at] = bytes;
  return at;
}

bool DeviceHeap::free(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  return live_.erase(address) != 0;
}

std::optional<DeviceHeap::Block> DeviceHeap::find(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  auto after = live_.upper_bound(address);
  if (after == live_.begin())
    return std::nullopt;
  const auto& [base, bytes] = *std::prev(after);
  if (address - base >= bytes)
    return std::nullopt;
  return Block{base, bytes};
}

Memory::Memory(std::uint64_t limit, bool sanitize, std::uint64_t granule)
    : limit_(limit), sanitize_(sanitize), granule_(std::max<std::uint64_t>(granule, 1)),
      current_(std::make_unique<Table>()), table_(current_.get()), heap_(kHeapBytes) {}

Memory::~Memory() = default;

Result<Allocation*> Memory::allocate(std::uint64_t bytes, const std::string& name,
                                     AllocationOptions options) {
  const auto held = lock();
  if (bytes > limit_ || used_ + bytes > limit_)
    return fail(ErrorCode::input,
                fmt::format("'{}' needs {} bytes of device memory, {} of {} are in use", name,
                            bytes, used_, limit_));
  KERNEVO_TRY(storage,
              Mapping::of_device((bytes + granule_ - 1) / granule_ * granule_, options.at));
  auto allocation = std::make_unique<Allocation>();
  allocation->base = address_of(storage.data());
  allocation->bytes = bytes;
  allocation->readable = (bytes + granule_ - 1) / granule_ * granule_;
  allocation->name = name;
  if (!options.initialized)
    std::memset(storage.data(), kPoison, bytes);
  allocation->storage = std::move(storage);
  return insert(std::move(allocation), options);
}

Result<Allocation*> Memory::adopt(std::span<std::byte> storage, const std::string& name,
                                  AllocationOptions options) {
  const auto held = lock();
  auto allocation = std::make_unique<Allocation>();
  allocation->base = address_of(storage.data());
  allocation->bytes = storage.size();
  allocation->readable = storage.size();
  allocation->name = name;
  for (const Allocation* other : table())
    if (allocation->base < other->end() && other->base < allocation->end())
      return fail(ErrorCode::input,
                  fmt::format("the storage of '{}' overlaps that of '{}'", name, other->name));
  if (options.fill)
    allocation->pages =
        std::make_unique<LazyPages>(storage, std::move(options.fill), options.fill_limit);
  if (!options.written.empty())
    allocation->written = reinterpret_cast<std::uint8_t*>(options.written.data()); // NOLINT
  return insert(std::move(allocation), options);
}

Result<Allocation*> Memory::insert(std::unique_ptr<Allocation> allocation,
                                   AllocationOptions options) {
  allocation->read_only = options.read_only;
  allocation->initialized = options.initialized;
  allocation->strict = options.strict && !options.initialized;
  if (allocation->written == nullptr && (!options.initialized || sanitize_)) {
    KERNEVO_TRY(flags, Mapping::create(allocation->bytes));
    allocation->flags = std::move(flags);
    allocation->written = reinterpret_cast<std::uint8_t*>(allocation->flags.data()); // NOLINT
  }
  used_ += charge(*allocation);
  Allocation* const made = allocation.get();
  owned_.emplace(made, std::move(allocation));
  auto next = std::make_unique<Table>();
  next->reserve(table().size() + 1);
  const auto place =
      std::lower_bound(table().begin(), table().end(), made->base,
                       [](const auto& item, std::uint64_t base) { return item->base < base; });
  next->assign(table().begin(), place);
  next->push_back(made);
  next->insert(next->end(), place, table().end());
  publish(std::move(next));
  return made;
}

void Memory::publish(std::unique_ptr<Table> table) {
  std::swap(current_, table);
  table_.store(current_.get(), std::memory_order_release);
  if (launches_ != 0)
    old_.push_back(std::move(table));
}

bool Memory::free(std::uint64_t base) {
  const auto held = lock();
  const auto place = std::find_if(table().begin(), table().end(),
                                  [&](const auto& item) { return item->base == base; });
  if (place == table().end())
    return false;
  Allocation* const found = *place;
  auto next = std::make_unique<Table>(table());
  next->erase(next->begin() + (place - table().begin()));
  publish(std::move(next));
  const auto owner = owned_.find(found);
  used_ -= charge(*found);
  if (launches_ != 0)
    gone_.push_back(std::move(owner->second));
  owned_.erase(owner);
  return true;
}

void Memory::enter() {
  const auto held = lock();
  ++launches_;
}

void Memory::leave() {
  const auto held = lock();
  if (--launches_ == 0) {
    old_.clear();
    gone_.clear();
  }
}

Allocation* Memory::last_from(std::uint64_t address) const {
  const Table& all = table();
  const auto after =
      std::upper_bound(all.begin(), all.end(), address,
                       [](std::uint64_t value, const auto& item) { return value < item->base; });
  return after == all.begin() ? nullptr : *std::prev(after);
}

Allocation* Memory::find(std::uint64_t address) const {
  Allocation* const candidate = last_from(address);
  return candidate != nullptr && address - candidate->base < candidate->bytes ? candidate : nullptr;
}

Allocation* Memory::find_readable(std::uint64_t address) const {
  Allocation* const candidate = last_from(address);
  return candidate != nullptr && address - candidate->base < candidate->readable ? candidate
                                                                                 : nullptr;
}

const Allocation* Memory::nearest(std::uint64_t address) const {
  const Allocation* best = nullptr;
  std::uint64_t distance = ~std::uint64_t{0};
  for (const Allocation* item : table()) {
    const std::uint64_t gap = address < item->base ? item->base - address : address - item->end();
    if (gap < distance) {
      distance = gap;
      best = item;
    }
  }
  return best;
}

} // namespace kernevo::vgpu
