#include "kernevo/device/cupti.h"

#include "kernevo/base/printable.h"

#include <cmath>
#include <dlfcn.h>
#include <fmt/format.h>
#include <string_view>
#include <type_traits>
#include <utility>

namespace kernevo {
namespace {

namespace status = cupti::status;

constexpr std::string_view kUseNcu = "count with Nsight Compute elsewhere: --counters FILE.csv";

template <class P> P sized() {
  P parameters;
  parameters.size = cupti::size_of(parameters);
  return parameters;
}

std::string permission_remedy() {
  return fmt::format(
      "let everybody count: 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' "
      "in /etc/modprobe.d and a restart (a container needs --cap-add=SYS_ADMIN), or {}",
      kUseNcu);
}

tl::unexpected<CounterRefusal> refused(std::string why, std::string remedy) {
  return tl::unexpected<CounterRefusal>(CounterRefusal{std::move(why), std::move(remedy)});
}

} // namespace

CounterRefusal Cupti::refusal(cupti::Status value, const std::string& doing) const {
  switch (value) {
  case status::insufficient_privileges:
  case status::virtualized_insufficient_privileges:
    return {"the driver lets only administrators read counters (ERR_NVGPUCTRPERM)",
            permission_remedy()};
  case status::mig_device:
    return {"parts of a GPU (MIG) have no counters of their own", std::string(kUseNcu)};
  default: break;
  }
  const char* text = nullptr;
  if (calls_.error_text == nullptr || calls_.error_text(value, &text) != status::success)
    text = nullptr;
  return {fmt::format("CUPTI cannot {}: {} ({})", doing,
                      text == nullptr ? std::string("error") : printable(text), value),
          value == status::hardware_busy || value == status::multiple_subscribers
              ? "end the other profiler (nsys, ncu, dcgm), or " + std::string(kUseNcu)
              : "update driver and CUPTI, or " + std::string(kUseNcu)};
}

namespace {

// CUPTI asks for these by name, and its own folder is no place the system looks in.
void load_helpers_of(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  if (slash == std::string::npos)
    return;
  for (const char* helper : {"libnvperf_host.so", "libnvperf_target.so"})
    dlopen((file.substr(0, slash + 1) + helper).c_str(), RTLD_NOW | RTLD_LOCAL);
}

} // namespace

Granted<Cupti> Cupti::open(const std::vector<std::string>& files, bool plays) {
  CounterRefusal last{
      files.size() == 1 ? fmt::format("there is no CUPTI library {}", files.front())
                        : std::string("no CUPTI library was found"),
      fmt::format("install it (it is in the CUDA toolkit, and pip's nvidia-cuda-cupti) and name it "
                  "with KERNEVO_LIBCUPTI, or {}",
                  kUseNcu)};
  for (const std::string& file : files) {
    load_helpers_of(file);
    void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      // A place it may be in is no complaint, a file that does not load is.
      const std::string why = printable(dlerror());
      if (why.find("No such file") == std::string::npos)
        last.why = fmt::format("CUPTI does not load: {}", why);
      continue;
    }
    Cupti made;
    made.file_ = file;
    std::string missing;
    const auto bind = [&](const char* name, auto& function) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>( // NOLINT
          dlsym(handle, name));
      return function != nullptr;
    };
#define KERNEVO_BIND(member, name, parameters)                                                     \
  if (!bind(name, made.calls_.member) && missing.empty())                                          \
    missing = name;
    KERNEVO_CUPTI_FUNCTIONS(KERNEVO_BIND)
#undef KERNEVO_BIND
    bind("cuptiGetVersion", made.calls_.version);
    bind("cuptiGetResultString", made.calls_.error_text);
    bind("kernevoStandIn", made.calls_.stand_in);
    if (!missing.empty()) {
      std::uint32_t version = 0;
      if (made.calls_.version != nullptr)
        made.calls_.version(&version);
      last = {fmt::format("the CUPTI in {} is too old: it has no {} (its version is {})", file,
                          missing, version),
              "install that of CUDA 12.6 or newer, or name one with KERNEVO_LIBCUPTI"};
      continue;
    }
    if ((made.calls_.stand_in != nullptr) != plays) {
      last = {plays ? fmt::format("{} counts on GPUs, and the driver only plays one", file)
                    : fmt::format("{} only plays counters, and the GPU is a real one", file),
              "name another library with KERNEVO_LIBCUPTI"};
      continue;
    }
    auto parameters = sized<cupti::Initialize>();
    if (const auto done = made.calls_.initialize(&parameters); done != status::success) {
      last = made.refusal(done, fmt::format("start ({})", file));
      continue;
    }
    return made;
  }
  return tl::unexpected<CounterRefusal>(std::move(last));
}

// A name may be known to the chip and still have no place in a pass. Tried on an object of its own,
// because nothing says what a failure leaves behind.
bool Cupti::can_schedule(const std::vector<std::string>& names, cupti::HostInitialize host) const {
  host.object = nullptr;
  if (calls_.host_initialize(&host) != status::success)
    return false;
  std::vector<const char*> pointers;
  for (const std::string& name : names)
    pointers.push_back(name.c_str());
  auto add = sized<cupti::AddMetrics>();
  add.object = host.object;
  add.names = pointers.data();
  add.count = pointers.size();
  const bool can = calls_.add_metrics(&add) == status::success;
  auto end = sized<cupti::HostDeinitialize>();
  end.object = host.object;
  calls_.host_deinitialize(&end);
  return can;
}

Granted<std::unique_ptr<Cupti::Session>> Cupti::count(driver::Context context, int ordinal,
                                                      const std::vector<std::string>& counters,
                                                      std::size_t ranges) const {
  std::unique_ptr<Session> session(new Session(*this));
  auto chip = sized<cupti::ChipName>();
  chip.device = static_cast<std::size_t>(ordinal);
  if (const auto done = calls_.chip_name(&chip); done != status::success)
    return tl::unexpected<CounterRefusal>(refusal(done, "tell the GPU's chip"));
  auto available = sized<cupti::Availability>();
  available.context = context;
  if (const auto done = calls_.availability(&available); done != status::success)
    return tl::unexpected<CounterRefusal>(refusal(done, "tell which counters there are"));
  session->availability_.resize(available.bytes);
  available.image = session->availability_.data();
  if (const auto done = calls_.availability(&available); done != status::success)
    return tl::unexpected<CounterRefusal>(refusal(done, "tell which counters there are"));
  auto host = sized<cupti::HostInitialize>();
  host.chip = chip.name;
  host.availability = session->availability_.data();
  if (const auto done = calls_.host_initialize(&host); done != status::success)
    return tl::unexpected<CounterRefusal>(
        refusal(done, fmt::format("know the chip {}", chip.name == nullptr ? "" : chip.name)));
  session->host_ = host.object;
  for (const std::string& counter : counters) {
    auto known = sized<cupti::MetricProperties>();
    known.object = host.object;
    known.name = counter.c_str();
    if (calls_.properties(&known) == status::success)
      session->names_.push_back(counter);
  }
  if (!session->names_.empty() && !can_schedule(session->names_, host))
    std::erase_if(session->names_,
                  [&](const std::string& name) { return !can_schedule({name}, host); });
  if (session->names_.empty())
    return refused("this GPU has none of the counters", std::string(kUseNcu));
  for (const std::string& name : session->names_)
    session->pointers_.push_back(name.c_str());
  auto enable = sized<cupti::Enable>();
  enable.context = context;
  if (const auto done = calls_.enable(&enable); done != status::success)
    return tl::unexpected<CounterRefusal>(refusal(done, "take hold of the context"));
  session->object_ = enable.object;
  if (auto ready = session->configure(ranges); !ready)
    return tl::unexpected<CounterRefusal>(std::move(ready).error());
  return session;
}

Granted<void> Cupti::Session::configure(std::size_t ranges) {
  const cupti::Functions& calls = cupti_.calls_;
  const auto no = [&](cupti::Status value, const char* doing) {
    return tl::unexpected<CounterRefusal>(cupti_.refusal(value, doing));
  };
  auto add = sized<cupti::AddMetrics>();
  add.object = host_;
  add.names = pointers_.data();
  add.count = pointers_.size();
  if (const auto done = calls.add_metrics(&add); done != status::success)
    return no(done, "schedule the counters");
  auto size = sized<cupti::ConfigSize>();
  size.object = host_;
  if (const auto done = calls.config_size(&size); done != status::success)
    return no(done, "schedule the counters");
  config_.resize(size.bytes);
  auto config = sized<cupti::Config>();
  config.object = host_;
  config.bytes = config_.size();
  config.image = config_.data();
  if (const auto done = calls.config(&config); done != status::success)
    return no(done, "schedule the counters");
  auto passes = sized<cupti::PassCount>();
  passes.bytes = config_.size();
  passes.image = config_.data();
  if (const auto done = calls.pass_count(&passes); done != status::success)
    return no(done, "tell the number of passes");
  passes_ = static_cast<int>(passes.passes);
  auto room = sized<cupti::DataSize>();
  room.object = object_;
  room.names = pointers_.data();
  room.count = pointers_.size();
  room.ranges = ranges;
  room.nodes = static_cast<std::uint32_t>(ranges);
  if (const auto done = calls.data_size(&room); done != status::success)
    return no(done, "tell how much it counts");
  data_.resize(room.bytes);
  auto data = sized<cupti::DataInitialize>();
  data.object = object_;
  data.bytes = data_.size();
  data.data = data_.data();
  if (const auto done = calls.data_initialize(&data); done != status::success)
    return no(done, "prepare its memory");
  auto set = sized<cupti::SetConfig>();
  set.object = object_;
  set.config_bytes = config_.size();
  set.config = config_.data();
  set.data_bytes = data_.size();
  set.data = data_.data();
  set.ranges = ranges;
  if (const auto done = calls.set_config(&set); done != status::success)
    return no(done, "take its configuration");
  return {};
}

Cupti::Session::~Session() {
  const cupti::Functions& calls = cupti_.calls_;
  if (started_) {
    auto stop = sized<cupti::Stop>();
    stop.object = object_;
    calls.stop(&stop);
  }
  if (object_ != nullptr) {
    auto disable = sized<cupti::Disable>();
    disable.object = object_;
    calls.disable(&disable);
  }
  if (host_ != nullptr) {
    auto end = sized<cupti::HostDeinitialize>();
    end.object = host_;
    calls.host_deinitialize(&end);
  }
}

Granted<void> Cupti::Session::begin() {
  auto start = sized<cupti::Start>();
  start.object = object_;
  if (const auto done = cupti_.calls_.start(&start); done != status::success)
    return tl::unexpected<CounterRefusal>(cupti_.refusal(done, "start counting"));
  started_ = true;
  return {};
}

Granted<void> Cupti::Session::begin_range(const std::string& name) {
  auto push = sized<cupti::PushRange>();
  push.object = object_;
  push.name = name.c_str();
  if (const auto done = cupti_.calls_.push_range(&push); done != status::success)
    return tl::unexpected<CounterRefusal>(cupti_.refusal(done, "begin a range"));
  return {};
}

Granted<void> Cupti::Session::end_range() {
  auto pop = sized<cupti::PopRange>();
  pop.object = object_;
  if (const auto done = cupti_.calls_.pop_range(&pop); done != status::success)
    return tl::unexpected<CounterRefusal>(cupti_.refusal(done, "end a range"));
  return {};
}

Granted<bool> Cupti::Session::end() {
  auto stop = sized<cupti::Stop>();
  stop.object = object_;
  const auto done = cupti_.calls_.stop(&stop);
  started_ = false;
  if (done != status::success)
    return tl::unexpected<CounterRefusal>(cupti_.refusal(done, "stop counting"));
  return stop.all_passes != 0;
}

Granted<std::map<std::string, std::map<std::string, double>>> Cupti::Session::values() {
  const cupti::Functions& calls = cupti_.calls_;
  const auto no = [&](cupti::Status value, const char* doing) {
    return tl::unexpected<CounterRefusal>(cupti_.refusal(value, doing));
  };
  auto decode = sized<cupti::Decode>();
  decode.object = object_;
  if (const auto done = calls.decode(&decode); done != status::success)
    return no(done, "decode what it counted");
  if (decode.dropped != 0)
    return refused(fmt::format("CUPTI lost {} ranges", decode.dropped), std::string(kUseNcu));
  auto info = sized<cupti::DataInfo>();
  info.data = data_.data();
  info.bytes = data_.size();
  if (const auto done = calls.data_info(&info); done != status::success)
    return no(done, "tell what it counted");
  std::map<std::string, std::map<std::string, double>> all;
  for (std::size_t range = 0; range < info.ranges; ++range) {
    auto name = sized<cupti::RangeInfo>();
    name.data = data_.data();
    name.bytes = data_.size();
    name.range = range;
    if (const auto done = calls.range_info(&name); done != status::success || name.name == nullptr)
      return no(done, "name what it counted");
    std::vector<double> values(names_.size(), std::nan(""));
    auto evaluate = sized<cupti::Evaluate>();
    evaluate.object = host_;
    evaluate.data = data_.data();
    evaluate.bytes = data_.size();
    evaluate.range = range;
    evaluate.names = pointers_.data();
    evaluate.count = pointers_.size();
    evaluate.values = values.data();
    if (const auto done = calls.evaluate(&evaluate); done != status::success)
      return no(done, "evaluate what it counted");
    auto& of_range = all[name.name];
    for (std::size_t i = 0; i < values.size(); ++i)
      if (std::isfinite(values[i]))
        of_range[names_[i]] = values[i];
  }
  return all;
}

} // namespace kernevo
