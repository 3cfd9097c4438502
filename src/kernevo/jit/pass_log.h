// Names, times and dumps of the steps of one compilation, for a CompileReport.
#pragma once

#include "kernevo/vgpu/tier/compiled.h"

#include <chrono>
#include <string>
#include <utility>

namespace kernevo::jit {

class PassLog {
public:
  explicit PassLog(vgpu::CompileReport* report) : report_(report) {}

  // Runs the step and records its time.
  template <class Step> decltype(auto) run(const char* name, Step&& step) {
    const Timer timer{*this, name, std::chrono::steady_clock::now()};
    return std::forward<Step>(step)();
  }
  bool wants_dump(const std::string& name) const {
    return report_ != nullptr && (report_->dump.contains("all") || report_->dump.contains(name));
  }
  void dump(const std::string& name, std::string text) {
    report_->dumps.emplace_back(name, std::move(text));
  }

private:
  struct Timer {
    PassLog& log;
    const char* name;
    std::chrono::steady_clock::time_point start;
    ~Timer() {
      if (log.report_ != nullptr)
        log.report_->passes.push_back(
            {name,
             std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()});
    }
  };

  vgpu::CompileReport* report_;
};

} // namespace kernevo::jit
