#include "kernevo/kernel/compiler_flags.h"

#include "kernevo/base/suggest.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <vector>

namespace kernevo {

namespace {

struct Flag {
  std::string_view name;   // without leading dashes
  std::string_view values; // "|a|b|" or empty for a plain switch
};

constexpr std::string_view kSwitch = "|true|false|";

constexpr std::array kFlags = {
    Flag{"use_fast_math", ""},      Flag{"extra-device-vectorization", ""},
    Flag{"restrict", ""},           Flag{"lineinfo", ""},
    Flag{"ftz", kSwitch},           Flag{"prec-div", kSwitch},
    Flag{"prec-sqrt", kSwitch},     Flag{"fmad", kSwitch},
    Flag{"maxrregcount", "number"}, Flag{"std", "|c++17|c++20|"},
};

} // namespace

Result<std::string> canonical_flag(std::string_view flag, const Place& place) {
  if (flag == "-O0" || flag == "-O1" || flag == "-O2" || flag == "-O3")
    return std::string(flag);
  std::string_view body = flag;
  while (body.starts_with('-'))
    body.remove_prefix(1);
  const std::size_t dashes = flag.size() - body.size();
  const std::size_t equals = body.find('=');
  const std::string_view name = body.substr(0, equals);
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view() : body.substr(equals + 1);
  const auto* const known =
      std::find_if(kFlags.begin(), kFlags.end(), [&](const Flag& f) { return f.name == name; });
  if (known == kFlags.end() || dashes < 1 || dashes > 2) {
    std::vector<std::string> names;
    names.reserve(kFlags.size());
    for (const Flag& f : kFlags)
      names.push_back(fmt::format("--{}", f.name));
    return fail(ErrorCode::input,
                fmt::format("flag '{}' is not allowed{}", flag, did_you_mean(flag, names)), place,
                fmt::format("allowed are {} and -O0 to -O3", fmt::join(names, ", ")));
  }
  bool good = false;
  if (known->values.empty())
    good = equals == std::string_view::npos;
  else if (known->values == "number")
    good = !value.empty() && value.size() <= 3 &&
           std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; });
  else
    good = !value.empty() && value.find('|') == std::string_view::npos &&
           known->values.find(fmt::format("|{}|", value)) != std::string_view::npos;
  if (!good) {
    std::string wanted = "takes no value";
    if (known->values == "number")
      wanted = "wants a number, as in --maxrregcount=128";
    else if (!known->values.empty())
      wanted = fmt::format("wants one of {}", known->values.substr(1, known->values.size() - 2));
    return fail(ErrorCode::input, fmt::format("flag '--{}' {}", name, wanted), place);
  }
  return equals == std::string_view::npos ? fmt::format("--{}", name)
                                          : fmt::format("--{}={}", name, value);
}

} // namespace kernevo
