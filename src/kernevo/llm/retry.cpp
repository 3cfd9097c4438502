#include "kernevo/llm/retry.h"

#include "kernevo/base/random.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <thread>

namespace kernevo::llm {
namespace {

std::optional<double> number_in(const HttpResponse& response, const char* name) {
  const auto found = response.headers.find(name);
  if (found == response.headers.end())
    return std::nullopt;
  double value = 0;
  const std::string& text = found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0))
    return std::nullopt;
  return value;
}

// FNV-1a: the same on every machine.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return hash;
}

} // namespace

std::optional<std::time_t> parse_http_date(std::string_view text) {
  static constexpr std::array<std::string_view, 12> kMonths = {
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm time{};
  std::array<char, 4> month{};
  const std::string copy(text);
  if (std::sscanf(copy.c_str(), "%*3s, %2d %3s %4d %2d:%2d:%2d GMT", &time.tm_mday, month.data(),
                  &time.tm_year, &time.tm_hour, &time.tm_min, &time.tm_sec) != 6)
    return std::nullopt;
  const auto* found = std::find(kMonths.begin(), kMonths.end(), std::string_view(month.data()));
  if (found == kMonths.end())
    return std::nullopt;
  time.tm_mon = static_cast<int>(found - kMonths.begin());
  time.tm_year -= 1900;
  const std::time_t value = timegm(&time);
  return value < 0 ? std::nullopt : std::optional(value);
}

std::optional<double> wanted_wait(const HttpResponse& response, const ErrorBody& error,
                                  std::time_t now) {
  if (const auto milliseconds = number_in(response, "retry-after-ms"))
    return *milliseconds / 1000;
  if (const auto seconds = number_in(response, "retry-after"))
    return seconds;
  if (const auto found = response.headers.find("retry-after"); found != response.headers.end())
    if (const auto date = parse_http_date(found->second))
      return std::max(0.0, static_cast<double>(*date - now));
  return error.retry_after;
}

double backoff_seconds(std::string_view id, std::uint32_t failures) {
  const double full = std::min(0.5 * std::pow(2.0, std::min(failures, 10U)), 8.0);
  return full * (1 - 0.25 * CounterRandom(hash_of(id)).uniform(failures));
}

bool sleep_for(double seconds, const std::function<bool()>& cancelled) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(seconds));
  while (true) {
    if (cancelled && cancelled())
      return false;
    const auto now = Clock::now();
    if (now >= end)
      return true;
    std::this_thread::sleep_for(
        std::min<Clock::duration>(end - now, std::chrono::milliseconds(50)));
  }
}

} // namespace kernevo::llm
