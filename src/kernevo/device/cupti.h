// CUPTI's range profiler, found and bound at run time: counters of launches on a context, several
// passes over the same work. Only worker processes come here.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/device/cupti_api.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kernevo {

// The GPU, its driver or the library gives no counters. This is an answer and no trouble.
struct CounterRefusal {
  std::string why;
  std::string remedy;
};
template <class T> using Granted = tl::expected<T, CounterRefusal>;

class Cupti {
public:
  // The first of the files that is there and serves this driver. `plays`: the driver only plays a
  // GPU, and so must the library.
  static Granted<Cupti> open(const std::vector<std::string>& files, bool plays);

  // Counts ranges of work; for one thread at a time, and one session on a context.
  class Session {
  public:
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session();

    int passes() const { return passes_; } // that the counters take
    // One pass: begin, all ranges in the same order each time, end. True when no pass is left.
    Granted<void> begin();
    Granted<void> begin_range(const std::string& name);
    Granted<void> end_range();
    Granted<bool> end();
    // By range and counter, after the last pass; a counter without a value is left out.
    Granted<std::map<std::string, std::map<std::string, double>>> values();

  private:
    friend class Cupti;
    explicit Session(const Cupti& cupti) : cupti_(cupti) {}
    Granted<void> configure(std::size_t ranges);

    const Cupti& cupti_;
    cupti::HostObject host_ = nullptr;
    cupti::RangeObject object_ = nullptr;
    std::vector<std::uint8_t> availability_;
    std::vector<std::string> names_;
    std::vector<const char*> pointers_; // into names_
    std::vector<std::uint8_t> config_;
    std::vector<std::uint8_t> data_;
    int passes_ = 0;
    bool started_ = false;
  };
  // Of those counters that this GPU has. It must be the current context of GPU number `ordinal`.
  Granted<std::unique_ptr<Session>> count(driver::Context context, int ordinal,
                                          const std::vector<std::string>& counters,
                                          std::size_t ranges) const;

private:
  bool can_schedule(const std::vector<std::string>& names, cupti::HostInitialize host) const;
  CounterRefusal refusal(cupti::Status status, const std::string& doing) const;

  cupti::Functions calls_;
  std::string file_;
};

} // namespace kernevo
