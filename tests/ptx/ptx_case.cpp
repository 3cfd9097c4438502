#include "ptx_case.h"

#include "kernevo/base/small_floats.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <string_view>

namespace kernevo::test {
namespace {

constexpr std::array<std::pair<std::string_view, Element>, 16> kElements = {{
    {"u8", Element::u8},
    {"s8", Element::s8},
    {"u16", Element::u16},
    {"s16", Element::s16},
    {"u32", Element::u32},
    {"s32", Element::s32},
    {"u64", Element::u64},
    {"s64", Element::s64},
    {"f16", Element::f16},
    {"bf16", Element::bf16},
    {"f32", Element::f32},
    {"f64", Element::f64},
    {"b8", Element::u8},
    {"b16", Element::u16},
    {"b32", Element::u32},
    {"b64", Element::u64},
}};

bool is_float(Element element) {
  return element >= Element::f16;
}

bool is_signed(Element element) {
  return element == Element::s8 || element == Element::s16 || element == Element::s32 ||
         element == Element::s64;
}

std::uint64_t mask_of(Element element) {
  const std::size_t bits = 8 * size_of(element);
  return bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

std::uint64_t encode(Element element, double value, const char* text) {
  switch (element) {
  case Element::f16: return double_to_half(value);
  case Element::bf16: return double_to_bfloat(value);
  case Element::f32: // straight from the text: a detour through double would round twice
    return std::bit_cast<std::uint32_t>(std::strtof(text, nullptr));
  default: return std::bit_cast<std::uint64_t>(value);
  }
}

double decode(Element element, std::uint64_t bits) {
  switch (element) {
  case Element::f16: return half_to_float(static_cast<std::uint16_t>(bits));
  case Element::bf16: return bfloat_to_float(static_cast<std::uint16_t>(bits));
  case Element::f32: return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  case Element::f64: return std::bit_cast<double>(bits);
  default: {
    const int unused = 64 - static_cast<int>(8 * size_of(element));
    if (is_signed(element))
      return static_cast<double>(static_cast<std::int64_t>(bits << unused) >> unused);
    return static_cast<double>(bits);
  }
  }
}

// Distance in units in the last place: how many representable numbers lie between.
double ulp_distance(Element element, std::uint64_t a, std::uint64_t b) {
  const std::uint64_t sign = (mask_of(element) >> 1) + 1;
  const auto ordered = [sign](std::uint64_t bits) {
    const auto magnitude = static_cast<double>(bits & (sign - 1));
    return (bits & sign) != 0 ? -magnitude : magnitude;
  };
  return std::abs(ordered(a) - ordered(b));
}

std::string trim(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos)
    return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1));
}

class Reader {
public:
  explicit Reader(PtxFile& file) : file_(file) {}

  Result<void> run() {
    std::istringstream lines(file_.text);
    std::string text;
    while (std::getline(lines, text)) {
      ++line_;
      if (!text.starts_with("//"))
        continue;
      KERNEVO_CHECK(comment(trim(text.substr(2))));
    }
    if (!open_ && (!current_.arguments.empty() || current_.fault || current_.load_error))
      open_ = true; // directives without a `kernel` line: the module's only entry
    if (open_)
      file_.cases.push_back(current_);
    if (file_.cases.empty())
      return error(
          "the file has no test directives; add `// kernel:`, `// in:` and `// out:` lines");
    for (const Case& test : file_.cases) {
      const bool checks = test.fault || test.prints || test.load_error ||
                          std::any_of(test.arguments.begin(), test.arguments.end(),
                                      [](const Argument& a) { return !a.expected.empty(); });
      if (!checks)
        return error(fmt::format("kernel '{}' checks nothing; add an `// out:` line", test.kernel));
    }
    return {};
  }

private:
  tl::unexpected<Error> error(std::string message) const {
    return fail(ErrorCode::input, std::move(message), Place{file_.path, line_, 0});
  }

  // "keyword: rest" or "keyword name: rest"; anything else is prose.
  Result<void> comment(const std::string& text) {
    if (text.starts_with("+ "))
      return more_values(text.substr(2));
    const auto colon = text.find(':');
    if (colon == std::string::npos)
      return {};
    std::istringstream head(text.substr(0, colon));
    std::string keyword;
    std::string name;
    std::string surplus;
    head >> keyword >> name >> surplus;
    if (!surplus.empty())
      return {};
    return directive(keyword, name, trim(text.substr(colon + 1)));
  }

  Result<void> directive(const std::string& keyword, const std::string& name,
                         const std::string& rest) {
    if (keyword == "kernel") {
      if (open_)
        file_.cases.push_back(current_);
      else
        defaults_ = current_;
      open_ = true;
      current_ = defaults_;
      current_.kernel = rest;
      current_.line = line_;
      return {};
    }
    if (keyword == "in" || keyword == "out" || keyword == "inout" || keyword == "value")
      return argument(keyword, name, rest);
    if (keyword == "texture" || keyword == "surface")
      return image(keyword, name, rest);
    if (keyword == "expect")
      return expect(name, rest);
    if (keyword == "launch")
      return launch(rest);
    if (keyword == "tolerance")
      return tolerance(name, rest);
    if (keyword == "gpu")
      current_.gpu = rest;
    else if (keyword == "sanitize")
      current_.sanitize = rest == "on";
    else if (keyword == "expect-fault")
      current_.fault = rest;
    else if (keyword == "expect-print")
      current_.prints = unescape(rest);
    else if (keyword == "expect-error")
      current_.load_error = rest;
    else
      return error(fmt::format("unknown directive '{}'; see tests/ptx/README.md, or reword the "
                               "comment so that it does not start with one word and a colon",
                               keyword));
    return {};
  }

  static std::string unescape(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == 'n') {
        out += '\n';
        ++i;
      } else {
        out += text[i];
      }
    }
    return out;
  }

  Result<void> argument(const std::string& keyword, const std::string& name,
                        const std::string& rest) {
    Argument made;
    made.role = keyword == "in"      ? Role::in
                : keyword == "out"   ? Role::out
                : keyword == "value" ? Role::scalar
                                     : Role::inout;
    made.name = name.empty() ? fmt::format("{}{}", keyword, current_.arguments.size()) : name;
    made.line = line_;
    const auto space = rest.find(' ');
    const std::string type = rest.substr(0, space);
    const auto known = std::find_if(kElements.begin(), kElements.end(),
                                    [&](const auto& entry) { return entry.first == type; });
    if (known == kElements.end())
      return error(fmt::format("unknown element type '{}'", type));
    made.element = known->second;
    current_.arguments.push_back(made);
    filling_ = Filling{current_.arguments.size() - 1, made.role == Role::out};
    return more_values(space == std::string::npos ? "" : rest.substr(space + 1));
  }

  // "f32 size 4,4 filter linear = 0..15": settings, then the texels.
  Result<void> image(const std::string& keyword, const std::string& name, const std::string& rest) {
    const auto equals = rest.find('=');
    if (equals == std::string::npos)
      return error("the texels are missing; write '= 1 2 3' after the settings");
    std::istringstream words(rest.substr(0, equals));
    std::string type;
    words >> type;
    KERNEVO_CHECK(argument("in", name, type));
    Argument& made = current_.arguments.back();
    made.role = keyword == "texture" ? Role::texture : Role::surface;
    vgpu::ChannelFormat& format = made.texture.image.format;
    format.bits = static_cast<std::uint32_t>(8 * size_of(made.element));
    format.kind = is_float(made.element)    ? vgpu::ChannelKind::floating
                  : is_signed(made.element) ? vgpu::ChannelKind::signed_integer
                                            : vgpu::ChannelKind::unsigned_integer;
    std::string word;
    std::string value;
    while (words >> word >> value)
      KERNEVO_CHECK(image_setting(made, word, value));
    return more_values(rest.substr(equals + 1));
  }

  static std::vector<std::string> commas(const std::string& text) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    std::string part;
    while (std::getline(stream, part, ','))
      parts.push_back(part);
    return parts;
  }

  static std::uint32_t whole(const std::string& text) {
    return static_cast<std::uint32_t>(std::strtoul(text.c_str(), nullptr, 10));
  }

  Result<void> image_setting(Argument& made, const std::string& word, const std::string& value) {
    using vgpu::AddressMode;
    using Layout = vgpu::ImageDescription::Layout;
    vgpu::ImageDescription& image = made.texture.image;
    vgpu::SamplerDescription& sampler = made.texture.sampler;
    const std::vector<std::string> parts = commas(value);
    if (word == "size") {
      image.width = whole(parts[0]);
      image.height = parts.size() > 1 ? whole(parts[1]) : 0;
      image.depth = parts.size() > 2 ? whole(parts[2]) : 0;
    } else if (word == "address") {
      for (std::size_t i = 0; i < 3; ++i) {
        const std::string& mode = parts[std::min(i, parts.size() - 1)];
        sampler.address[i] = mode == "wrap"     ? AddressMode::wrap
                             : mode == "mirror" ? AddressMode::mirror
                             : mode == "border" ? AddressMode::border
                                                : AddressMode::clamp;
      }
    } else if (word == "border") {
      for (std::size_t i = 0; i < std::min<std::size_t>(parts.size(), 4); ++i)
        sampler.border[i] = std::strtof(parts[i].c_str(), nullptr);
    } else if (word == "channels") {
      image.format.channels = whole(value);
    } else if (word == "layers") {
      image.layers = whole(value);
    } else if (word == "cubes") {
      image.layers = 6 * whole(value);
      image.cubemap = true;
    } else if (word == "levels") {
      image.levels = whole(value);
    } else if (word == "layout") {
      image.layout = value == "linear" ? Layout::linear : Layout::array;
    } else if (word == "pitch") {
      image.layout = Layout::pitch;
      image.pitch = whole(value);
    } else if (word == "filter") {
      sampler.filter = value == "linear" ? vgpu::FilterMode::linear : vgpu::FilterMode::point;
    } else if (word == "mip") {
      sampler.mip_filter = value == "linear" ? vgpu::FilterMode::linear : vgpu::FilterMode::point;
    } else if (word == "coordinates") {
      sampler.normalized = value == "normalized";
    } else if (word == "read") {
      made.texture.read =
          value == "float" ? vgpu::ReadMode::normalized_float : vgpu::ReadMode::element;
    } else if (word == "bind") {
      made.bound = value;
    } else {
      return error(fmt::format("unknown texture setting '{}'", word));
    }
    return {};
  }

  // "expect x: ..." gives an inout argument's values after the launch.
  Result<void> expect(const std::string& name, const std::string& rest) {
    for (std::size_t i = 0; i < current_.arguments.size(); ++i)
      if (current_.arguments[i].name == name && (current_.arguments[i].role == Role::inout ||
                                                 current_.arguments[i].role == Role::surface)) {
        filling_ = Filling{i, true};
        return more_values(rest);
      }
    return error(fmt::format("no inout argument or surface '{}' above this line", name));
  }

  Result<void> more_values(const std::string& text) {
    if (!filling_)
      return error("a `+` line must follow the argument it continues");
    Argument& target = current_.arguments[filling_->index];
    auto& values = filling_->expected ? target.expected : target.initial;
    std::istringstream words(text);
    std::string word;
    while (words >> word)
      KERNEVO_CHECK(add_word(target.element, word, values));
    return {};
  }

  // "7", "7*32" (32 sevens), "0..31", "?", "nan", "0x7f800000" (raw bits), "1.5", "0x1p-3".
  Result<void> add_word(Element element, const std::string& word, std::vector<Value>& values) {
    if (const auto star = word.find('*'); star != std::string::npos) {
      std::vector<Value> one;
      KERNEVO_CHECK(add_word(element, word.substr(0, star), one));
      const auto count = std::strtoul(word.c_str() + star + 1, nullptr, 10);
      if (count == 0 || count > kMostRepeats)
        return error(fmt::format("bad repeat count in '{}'", word));
      for (std::size_t i = 0; i < count; ++i)
        values.insert(values.end(), one.begin(), one.end());
      return {};
    }
    if (const auto dots = word.find(".."); dots != std::string::npos) {
      const long long first = std::strtoll(word.c_str(), nullptr, 0);
      const long long last = std::strtoll(word.c_str() + dots + 2, nullptr, 0);
      if (last < first || last - first > static_cast<long long>(kMostRepeats))
        return error(fmt::format("bad range '{}'", word));
      for (long long i = first; i <= last; ++i) {
        const std::string text = std::to_string(i);
        values.push_back(Value{is_float(element)
                                   ? encode(element, static_cast<double>(i), text.c_str())
                                   : static_cast<std::uint64_t>(i) & mask_of(element)});
      }
      return {};
    }
    Value value;
    char* end = nullptr;
    errno = 0;
    const bool raw = word.starts_with("0x") && word.find_first_of("pP.") == std::string::npos;
    if (word == "?") {
      value.any = true;
      values.push_back(value);
      return {};
    }
    if (raw || !is_float(element)) {
      value.bits = word.starts_with("-")
                       ? static_cast<std::uint64_t>(std::strtoll(word.c_str(), &end, 0))
                       : std::strtoull(word.c_str(), &end, 0);
      const std::uint64_t mask = mask_of(element);
      const bool fits =
          word.starts_with("-") ? (~value.bits & ~(mask >> 1)) == 0 : (value.bits & ~mask) == 0;
      if (!fits || errno != 0)
        return error(fmt::format("'{}' does not fit its type", word));
      value.bits &= mask;
    } else {
      const double number = std::strtod(word.c_str(), &end);
      value.bits = encode(element, number, word.c_str());
      value.any_nan = std::isnan(number);
    }
    if (end == nullptr || *end != '\0')
      return error(fmt::format("'{}' is not a number", word));
    values.push_back(value);
    return {};
  }

  Result<void> launch(const std::string& rest) {
    std::istringstream words(rest);
    std::string word;
    while (words >> word) {
      if (word == "cooperative") {
        current_.cooperative = true;
        continue;
      }
      std::string number;
      words >> number;
      std::array<std::uint32_t, 3> size = {1, 1, 1};
      std::istringstream parts(number);
      std::string part;
      std::size_t count = 0;
      while (count < 3 && std::getline(parts, part, ','))
        size[count++] = static_cast<std::uint32_t>(std::strtoul(part.c_str(), nullptr, 10));
      if (count == 0)
        return error(fmt::format("'{}' needs a number", word));
      if (word == "grid")
        current_.grid = size;
      else if (word == "block")
        current_.block = size;
      else if (word == "shared")
        current_.shared = size[0];
      else
        return error(fmt::format("unknown launch setting '{}'", word));
    }
    return {};
  }

  Result<void> tolerance(const std::string& name, const std::string& rest) {
    Tolerance made;
    std::istringstream words(rest);
    std::string word;
    std::string number;
    while (words >> word >> number) {
      const double value = std::strtod(number.c_str(), nullptr);
      if (word == "ulp")
        made.ulp = value;
      else if (word == "abs")
        made.abs = value;
      else if (word == "rel")
        made.rel = value;
      else
        return error(fmt::format("unknown tolerance '{}'; use ulp, abs or rel", word));
    }
    if (name.empty()) {
      current_.tolerance = made;
      return {};
    }
    for (Argument& argument : current_.arguments)
      if (argument.name == name) {
        argument.tolerance = made;
        return {};
      }
    return error(fmt::format("no argument named '{}' above this line", name));
  }

  static constexpr std::size_t kMostRepeats = 1U << 20U;

  struct Filling {
    std::size_t index = 0;
    bool expected = false;
  };

  PtxFile& file_;
  Case defaults_;
  Case current_;
  bool open_ = false;
  std::optional<Filling> filling_;
  int line_ = 0;
};

} // namespace

std::size_t size_of(Element element) {
  switch (element) {
  case Element::u8:
  case Element::s8: return 1;
  case Element::u16:
  case Element::s16:
  case Element::f16:
  case Element::bf16: return 2;
  case Element::u32:
  case Element::s32:
  case Element::f32: return 4;
  default: return 8;
  }
}

Result<PtxFile> read_ptx_file(const std::string& path) {
  std::ifstream stream(path);
  if (!stream)
    return fail(ErrorCode::infrastructure, "cannot read the test file", Place{path, 0, 0});
  std::ostringstream text;
  text << stream.rdbuf();
  PtxFile file{path, text.str(), {}};
  KERNEVO_CHECK(Reader(file).run());
  return file;
}

std::string show(Element element, std::uint64_t bits) {
  if (is_float(element))
    return fmt::format("{:.9g} (0x{:0{}x})", decode(element, bits), bits, 2 * size_of(element));
  const int unused = 64 - static_cast<int>(8 * size_of(element));
  if (is_signed(element))
    return fmt::format("{} (0x{:x})", static_cast<std::int64_t>(bits << unused) >> unused, bits);
  return fmt::format("{} (0x{:x})", bits, bits);
}

bool matches(Element element, const Value& expected, std::uint64_t actual,
             const Tolerance& tolerance) {
  if (expected.any || expected.bits == actual)
    return true;
  const double wanted = decode(element, expected.bits);
  const double got = decode(element, actual);
  if (expected.any_nan)
    return std::isnan(got);
  if (std::isnan(wanted) || std::isnan(got) || std::isinf(wanted) || std::isinf(got))
    return false;
  if (tolerance.ulp > 0 && is_float(element) &&
      ulp_distance(element, expected.bits, actual) <= tolerance.ulp)
    return true;
  const double difference = std::abs(wanted - got);
  return (tolerance.abs > 0 && difference <= tolerance.abs) ||
         (tolerance.rel > 0 && difference <= tolerance.rel * std::abs(wanted));
}

} // namespace kernevo::test
