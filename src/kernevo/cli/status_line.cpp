#include "kernevo/cli/status_line.h"

#include "kernevo/cli/screen.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <utility>

namespace kernevo::cli {
namespace {

constexpr std::chrono::seconds kRedraw{1};

std::string text_of(const CheckProgress& progress) {
  if (!progress.shape.empty())
    return fmt::format("real shape {}, run {} of {}", progress.shape, progress.run, progress.runs);
  std::string rung(name_of(progress.rung));
  std::replace(rung.begin(), rung.end(), '_', ' ');
  return rung;
}

} // namespace

StatusLine::StatusLine(const CommonOptions& options)
    : shown_(!options.json && !options.quiet && is_terminal()) {
  if (shown_)
    ticker_ = std::thread([this] { tick(); });
}

StatusLine::~StatusLine() {
  if (!shown_)
    return;
  clear();
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  ticker_.join();
}

void StatusLine::show(std::string text, std::optional<double> seconds_left) {
  if (!shown_)
    return;
  const std::lock_guard lock(mutex_);
  text_ = std::move(text);
  seconds_left_ = seconds_left;
  begin_ = Clock::now();
  draw();
}

void StatusLine::clear() {
  if (!shown_)
    return;
  const std::lock_guard lock(mutex_);
  if (text_.empty())
    return;
  text_.clear();
  fmt::print("\r\x1b[2K");
  std::fflush(stdout);
}

void StatusLine::draw() {
  const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
  std::string line = text_ + ", " + seconds_text(seconds);
  if (seconds_left_ && *seconds_left_ >= 1)
    line += fmt::format(" of about {}", seconds_text(std::ceil(*seconds_left_)));
  fmt::print("\r\x1b[2K{}", cut(line, terminal_width() - 1));
  std::fflush(stdout);
}

void StatusLine::tick() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    changed_.wait_for(lock, kRedraw);
    if (!ended_ && !text_.empty())
      draw();
  }
}

CheckObserver show_check(StatusLine& line) {
  return [&line](const CheckProgress& progress) {
    line.show(text_of(progress), progress.seconds_left);
  };
}

} // namespace kernevo::cli
