#include "kernevo/cuda/core/recording.h"

#include "kernevo/cuda/core/queue.h"
#include "kernevo/vgpu/memory/address_window.h"
#include "kernevo/vgpu/program/lower.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>

namespace kernevo::cuda {
namespace {

using vgpu::AddressWindow;

// What a trace may have: no honest program comes near.
constexpr std::uint64_t kMostLines = 2'000'000;
constexpr std::uint64_t kMostData = std::uint64_t{4} << 30U;
constexpr std::uint64_t kAlwaysDone = std::uint64_t{1} << 20U;
// Streams of the trace's own lie beyond those of the program.
constexpr std::uint64_t kOwnStreams = std::uint64_t{1} << 32U;

struct Here {
  std::uint64_t stream = 0;
  bool inside = false; // a scope
  bool quiet = false;
};

Here& here() {
  static thread_local Here now;
  return now;
}

std::string json_of(std::string_view text) {
  return nlohmann::json(std::string(text))
      .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::string hexadecimal(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte one : bytes)
    fmt::format_to(std::back_inserter(text), "{:02x}", static_cast<unsigned>(one));
  return text;
}

std::string_view kind_of(QueueKind kind) {
  return kind == QueueKind::legacy ? "legacy" : kind == QueueKind::blocking ? "blocking" : "free";
}

std::string_view type_of(cudaMemoryType type) {
  return type == cudaMemoryTypeHost ? "host" : type == cudaMemoryTypeManaged ? "managed" : "device";
}

cudaMemoryType type_at(const void* pointer) {
  cudaPointerAttributes attributes{};
  describe_pointer(&attributes, pointer);
  return attributes.type;
}

bool on_host(cudaMemoryType type) {
  return type == cudaMemoryTypeHost || type == cudaMemoryTypeUnregistered;
}

std::string triple(const std::array<std::uint32_t, 3>& of) {
  return fmt::format("[{},{},{}]", of[0], of[1], of[2]);
}

} // namespace

Recording& Recording::get() {
  static auto* const recording = new Recording(); // programs record until the very end
  return *recording;
}

void Recording::set_execution(Execution execution) {
  state_ = (state_ & 1U) | static_cast<unsigned>(execution) << 1U;
}

bool Recording::does(std::uint64_t bytes) {
  return execution() == Execution::all || bytes <= kAlwaysDone;
}

Recording::Scope::Scope(std::uint64_t stream)
    : before_(here().stream), inside_before_(here().inside) {
  here().stream = stream;
  here().inside = true;
}
Recording::Scope::~Scope() {
  here().stream = before_;
  here().inside = inside_before_;
}

Recording::Quiet::Quiet() : before_(here().quiet) {
  here().quiet = true;
}
Recording::Quiet::~Quiet() {
  here().quiet = before_;
}

std::uint64_t Recording::current() {
  return here().stream;
}

bool Recording::writes() const {
  return is_on() && !here().quiet && lines_ != nullptr;
}

Result<void> Recording::open(const std::string& folder) {
  AddressWindow* const window = AddressWindow::get();
  if (window == nullptr)
    return fail(ErrorCode::usage, "no window of addresses is reserved");
  Session& session = Session::get();
  vgpu::Machine& machine = session.machine();
  wait_for_all_work();
  const std::lock_guard lock(session.mutex);
  if (is_on())
    return fail(ErrorCode::usage, "a recording is under way");
  std::error_code ignored;
  std::filesystem::create_directory(folder, ignored);
  lines_.reset(std::fopen((folder + "/trace.jsonl").c_str(), "we"));
  bytes_.reset(std::fopen((folder + "/trace.data").c_str(), "we"));
  if (lines_ == nullptr || bytes_ == nullptr)
    return fail(ErrorCode::infrastructure,
                fmt::format("'{}' cannot be written: {}", folder,
                            std::strerror(errno))); // NOLINT(concurrency-mt-unsafe)
  at_ = 0;
  written_ = 0;
  too_long_ = false;
  read_back_ = 0;
  points_before_ = points_;
  modules_.clear();
  streams_.clear();
  std::string allocations;
  for (const std::uint64_t address : window->taken()) {
    const auto special = session.memory_types.find(address);
    const cudaMemoryType type =
        special == session.memory_types.end() ? cudaMemoryTypeDevice : special->second;
    fmt::format_to(std::back_inserter(allocations), "{}[{},{},\"{}\"]",
                   allocations.empty() ? "" : ",", address, machine.bytes(address).size(),
                   type_of(type));
  }
  state_ |= 1U;
  line(fmt::format(R"("do":"begin","version":1,"window":[{},{}],"gpu":{},"allocations":[{}])",
                   window->base(), window->bytes(), json_of(machine.gpu().name), allocations));
  for (const std::string& what : refused_)
    line(fmt::format(R"("do":"refused","stream":0,"what":{})", json_of(what)));
  return {};
}

Result<void> Recording::close() {
  const std::lock_guard lock(Session::get().mutex);
  if (!is_on())
    return fail(ErrorCode::usage, "no recording is under way");
  if (too_long_)
    std::fputs("{\"do\":\"refused\",\"stream\":0,\"what\":\"a trace of that length\"}\n",
               lines_.get());
  std::fprintf(lines_.get(), "{\"do\":\"end\",\"read_back\":%llu}\n",
               static_cast<unsigned long long>(read_back_.load()));
  state_ &= ~1U;
  const bool written = std::fflush(lines_.get()) == 0 && std::fflush(bytes_.get()) == 0 &&
                       std::ferror(lines_.get()) == 0 && std::ferror(bytes_.get()) == 0;
  lines_.reset();
  bytes_.reset();
  if (!written)
    return fail(ErrorCode::infrastructure, "the trace could not be written");
  return {};
}

void Recording::line(std::string_view text) {
  if (++written_ > kMostLines) {
    too_long_ = true;
    return;
  }
  std::fputc('{', lines_.get());
  std::fwrite(text.data(), 1, text.size(), lines_.get());
  std::fputs("}\n", lines_.get());
}

std::pair<std::uint64_t, std::uint64_t> Recording::data(std::span<const std::byte> bytes) {
  const std::uint64_t start = at_;
  if (bytes.size() > kMostData - at_) {
    too_long_ = true;
    return {start, 0};
  }
  std::fwrite(bytes.data(), 1, bytes.size(), bytes_.get());
  at_ += bytes.size();
  return {start, bytes.size()};
}

std::uint64_t Recording::number_of(const CUstream_st& stream) {
  const std::lock_guard lock(Session::get().mutex);
  const bool legacy = stream.queue->kind() == QueueKind::legacy;
  const std::uint64_t queue = legacy ? 0 : stream.queue->id();
  const auto [place, is_new] = streams_.try_emplace(queue, legacy ? 0 : streams_.size() + 1);
  if (is_new && lines_ != nullptr)
    line(fmt::format(R"("do":"stream","stream":{},"kind":"{}")", place->second,
                     kind_of(stream.queue->kind())));
  return place->second;
}

std::uint64_t Recording::own_stream(std::uint64_t index) {
  const std::uint64_t queue = kOwnStreams + index;
  const auto [place, is_new] = streams_.try_emplace(queue, streams_.size() + 1);
  if (is_new && lines_ != nullptr)
    line(fmt::format(R"("do":"stream","stream":{},"kind":"free")", place->second));
  return place->second;
}

void Recording::allocated(std::uint64_t address, std::uint64_t bytes, cudaMemoryType type) {
  const std::lock_guard lock(Session::get().mutex);
  if (writes())
    line(fmt::format(R"("do":"alloc","stream":{},"address":{},"bytes":{},"type":"{}")", current(),
                     address, bytes, type_of(type)));
}

void Recording::freed(std::uint64_t address) {
  const std::lock_guard lock(Session::get().mutex);
  if (writes())
    line(fmt::format(R"("do":"free","stream":{},"address":{})", current(), address));
}

void Recording::write_module(std::uint64_t number, const vgpu::Program& program,
                             const std::vector<std::string>& texts) {
  std::string parts;
  for (const std::string& text : texts) {
    const auto [start, bytes] = data(std::as_bytes(std::span(text)));
    fmt::format_to(std::back_inserter(parts), "{}[{},{}]", parts.empty() ? "" : ",", start, bytes);
  }
  std::string globals;
  if (const auto variables = Session::get().machine().variables(program))
    for (const auto& variable : *variables)
      fmt::format_to(std::back_inserter(globals), "{}[{},{},{}]", globals.empty() ? "" : ",",
                     json_of(variable.name), variable.address, variable.bytes);
  line(fmt::format(R"("do":"module","stream":0,"module":{},"texts":[{}],"globals":[{}])", number,
                   parts, globals));
}

std::uint64_t Recording::module_of(const PreparedLaunch& launch) {
  const auto [place, is_new] = modules_.try_emplace(launch.program->id, modules_.size() + 1);
  if (is_new)
    write_module(place->second, *launch.program, *launch.source);
  return place->second;
}

void Recording::launch(const PreparedLaunch& launch) {
  const std::lock_guard lock(Session::get().mutex);
  if (!writes())
    return;
  const vgpu::LaunchConfig& config = launch.config;
  // What the host writes there in between nobody sees.
  for (std::size_t i = 0; i + 8 <= config.parameters.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, config.parameters.data() + i, sizeof word);
    const auto type = type_at(reinterpret_cast<const void*>(word)); // NOLINT
    if (type == cudaMemoryTypeHost || type == cudaMemoryTypeManaged)
      refuse("memory of the host that a kernel is given");
  }
  const std::uint64_t module = module_of(launch);
  line(fmt::format(
      R"("do":"launch","stream":{},"module":{},"kernel":{},"grid":{},"block":{},"shared":{},"cluster":{},"cooperative":{},"parameters":"{}")",
      current(), module, json_of(config.kernel), triple(config.grid), triple(config.block),
      config.dynamic_shared, triple(config.cluster), config.cooperative,
      hexadecimal(config.parameters)));
}

void Recording::copy(Plane to, Plane from, std::uint64_t width, std::uint64_t height) {
  const std::lock_guard lock(Session::get().mutex);
  if (width == 0 || height == 0)
    return;
  const cudaMemoryType target = type_at(to.data);
  const cudaMemoryType source = type_at(from.data);
  if (on_host(target) && on_host(source))
    return;
  if (on_host(target))
    read_back_ += width * height;
  if (!writes())
    return;
  const auto write = [&](std::string_view kind, std::string_view rest) {
    line(fmt::format(R"("do":"copy","stream":{},"kind":"{}","width":{},"height":{},{})", current(),
                     kind, width, height, rest));
  };
  if (on_host(target)) {
    write("out", fmt::format(R"("from":{},"from_pitch":{},"pinned":{})", address_of(from.data),
                             from.pitch, target == cudaMemoryTypeHost));
  } else if (on_host(source)) {
    const std::uint64_t start = at_;
    for (std::uint64_t row = 0; row < height; ++row)
      data({from.data + row * from.pitch, width});
    write("in",
          fmt::format(R"("to":{},"to_pitch":{},"data":[{},{}],"pinned":{})", address_of(to.data),
                      to.pitch, start, at_ - start, source == cudaMemoryTypeHost));
  } else {
    write("on", fmt::format(R"("to":{},"to_pitch":{},"from":{},"from_pitch":{})",
                            address_of(to.data), to.pitch, address_of(from.data), from.pitch));
  }
}

void Recording::fill(Plane to, unsigned value, std::uint64_t element, std::uint64_t width,
                     std::uint64_t height) {
  const std::lock_guard lock(Session::get().mutex);
  if (writes() && width != 0 && height != 0)
    line(fmt::format(
        R"("do":"fill","stream":{},"to":{},"pitch":{},"value":{},"element":{},"width":{},"height":{})",
        current(), address_of(to.data), to.pitch, value, element, width, height));
}

void Recording::call_operator(std::uint64_t stream, std::string_view fields) {
  const std::lock_guard lock(Session::get().mutex);
  if (writes())
    line(fmt::format(R"("do":"operator","stream":{},{})", here().inside ? current() : stream,
                     fields));
}

std::uint64_t Recording::record(std::uint64_t stream) {
  const std::lock_guard lock(Session::get().mutex);
  if (!writes())
    return 0;
  line(fmt::format(R"("do":"record","stream":{},"point":{})", stream, ++points_));
  return points_;
}

void Recording::wait(std::uint64_t stream, std::uint64_t point) {
  const std::lock_guard lock(Session::get().mutex);
  if (writes() && point > points_before_)
    line(fmt::format(R"("do":"wait","stream":{},"point":{})", stream, point));
}

void Recording::waited_for_stream(std::uint64_t stream) {
  const std::lock_guard lock(Session::get().mutex);
  if (writes())
    line(fmt::format(R"("do":"sync","stream":{},"of":"stream")", stream));
}

void Recording::waited_for_point(std::uint64_t point) {
  const std::lock_guard lock(Session::get().mutex);
  if (writes() && point > points_before_)
    line(fmt::format(R"("do":"sync","stream":0,"of":"point","point":{})", point));
}

void Recording::waited_for_all() {
  const std::lock_guard lock(Session::get().mutex);
  if (writes())
    line(R"("do":"sync","stream":0,"of":"all")");
}

void Recording::refuse(std::string_view what) {
  const std::lock_guard lock(Session::get().mutex);
  if (!is_on()) {
    if (AddressWindow::get() != nullptr && refused_.size() < 100)
      refused_.emplace(what);
    return;
  }
  if (writes())
    line(fmt::format(R"("do":"refused","stream":{},"what":{})", current(), json_of(what)));
}

} // namespace kernevo::cuda
