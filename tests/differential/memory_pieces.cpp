// Loads, stores and atomics whose order does not show.
#include "generator.h"

#include <fmt/format.h>

namespace kernevo::test {

namespace {

std::uint32_t size_of_file(char file) {
  for (const auto& [name, count] : kFiles)
    if (name == file)
      return count;
  return 0;
}

} // namespace

std::string Generator::input_address(std::vector<std::string>& text, const Context& context,
                                     int bytes) {
  const int room = 16384 / bytes;
  switch (dice_.below(4)) {
  case 0:
  case 1:
    text.push_back(fmt::format("mad.lo.u32 %t0, %tid_, {}, {};", dice_.below(4), dice_.below(90)));
    if (!context.counters.empty() && dice_.chance(60))
      text.push_back(
          fmt::format("mad.lo.u32 %t0, {}, {}, %t0;", context.counters.back(), dice_.below(3)));
    break;
  case 2:
    text.push_back(fmt::format("and.b32 %t0, %r{}, {};", dice_.below(kWords), room - 1));
    break;
  default: text.push_back(fmt::format("and.b32 %t0, %u{}, {};", dice_.below(3), 63));
  }
  if (dice_.chance(40)) {
    text.push_back(fmt::format("mad.wide.u32 %td0, %t0, {}, %in;", bytes));
  } else if (dice_.chance(50)) {
    text.push_back(fmt::format("mul.wide.s32 %td0, %t0, {};", bytes));
    text.push_back("add.s64 %td0, %in, %td0;");
  } else {
    text.push_back("cvt.u64.u32 %td0, %t0;");
    text.push_back(fmt::format("mad.lo.s64 %td0, %td0, {}, %in;", bytes));
  }
  const std::uint32_t offset = dice_.chance(50)
                                   ? 0
                                   : dice_.below(128 / static_cast<std::uint32_t>(bytes)) *
                                         static_cast<std::uint32_t>(bytes);
  return fmt::format("[%td0+{}]", offset);
}

std::string Generator::registers(char file, int count) {
  const std::uint32_t files = size_of_file(file);
  const std::uint32_t start = dice_.below(files);
  std::string text;
  for (int i = 0; i < count; ++i)
    text += fmt::format("{}%{}{}", i == 0 ? "" : ", ", file,
                        (start + static_cast<std::uint32_t>(i)) % files);
  return count == 1 ? text : "{" + text + "}";
}

std::string Generator::guard() {
  return dice_.chance(20)
             ? fmt::format("@{}%p{} ", dice_.chance(40) ? "!" : "", dice_.below(kPredicates))
             : "";
}

std::string Generator::load(const Type& type, int count, const std::string& space,
                            const std::string& address) {
  const std::string files = type.files;
  const char file = files[dice_.below(static_cast<std::uint32_t>(files.size()))];
  const std::string to = registers(file, count);
  return fmt::format("{}ld{}{}.{} {}, {};", guard(), space,
                     count == 1 ? "" : fmt::format(".v{}", count), type.name, to, address);
}

void Generator::store(std::vector<std::string>& text, const Type& type, int count,
                      const std::string& space, const std::string& address) {
  const std::string files = type.files;
  const char file = files[dice_.below(static_cast<std::uint32_t>(files.size()))];
  std::string from = registers(file, file == 'e' ? 1 : count);
  if (file == 'e') {
    text.push_back(fmt::format("testp.notanumber.f64 %pt, {};", from));
    text.push_back(fmt::format("selp.f64 %et, 0d7FF8000000000000, {}, %pt;", from));
    from = count == 1 ? "%et" : "{%et, %et}";
  }
  text.push_back(fmt::format("{}st{}{}.{} {}, {};", guard(), space,
                             count == 1 ? "" : fmt::format(".v{}", count), type.name, address,
                             from));
}

Piece Generator::regular_piece(const Context& context) {
  if (context.uniform && dice_.chance(50))
    return lines({fmt::format("{}.u32 %u{}, %u{}, {};", dice_.chance(50) ? "add" : "mul.lo",
                              1 + dice_.below(2), dice_.below(3), 1 + dice_.below(9))});
  switch (dice_.below(4)) {
  case 0:
    return lines(
        {fmt::format("add.s32 %a{}, %a{}, %u{};", dice_.below(3), dice_.below(3), dice_.below(3))});
  case 1:
    return lines({fmt::format("mad.lo.s32 %a{}, %tid_, {}, %u{};", dice_.below(3), dice_.below(40),
                              dice_.below(3))});
  case 2:
    return lines(
        {fmt::format("shl.b32 %a{}, %a{}, {};", dice_.below(3), dice_.below(3), dice_.below(5))});
  default:
    return lines(
        {fmt::format("sub.s32 %a{}, %a{}, %a{};", dice_.below(3), dice_.below(3), dice_.below(3))});
  }
}

Piece Generator::memory_piece(const Context& context) {
  std::vector<std::string> text;
  const Type& type = kTypes[dice_.below(kTypes.size())];
  int count = dice_.chance(70) ? 1 : dice_.chance(50) ? 2 : 4;
  if (type.bytes * count > 16)
    count = 2;
  const int bytes = type.bytes * count;
  switch (dice_.below(context.function ? 2 : 7)) {
  case 0: { // local
    std::string address =
        fmt::format("[mine+{}]", dice_.below(64 / static_cast<std::uint32_t>(bytes)) *
                                     static_cast<std::uint32_t>(bytes));
    bool generic = false;
    if (dice_.chance(40)) {
      generic = dice_.chance(30);
      text.push_back(fmt::format("and.b32 %t0, %r{}, {};", dice_.below(kWords), 64 / bytes - 1));
      text.push_back("mov.u64 %td0, mine;");
      if (generic)
        text.push_back("cvta.local.u64 %td0, %td0;");
      text.push_back(fmt::format("mad.wide.u32 %td0, %t0, {}, %td0;", bytes));
      address = "[%td0]";
    }
    const std::string space = generic ? "" : ".local";
    if (dice_.chance(50))
      store(text, type, count, space, address);
    else
      text.push_back(load(type, count, space, address));
    break;
  }
  case 1: { // constant
    std::string address =
        fmt::format("[table+{}]", dice_.below(256 / static_cast<std::uint32_t>(bytes)) *
                                      static_cast<std::uint32_t>(bytes));
    if (dice_.chance(60)) {
      text.push_back(fmt::format("and.b32 %t0, %r{}, {};", dice_.below(kWords), 256 / bytes - 1));
      text.push_back("mov.u64 %td0, table;");
      text.push_back(fmt::format("mad.wide.u32 %td0, %t0, {}, %td0;", bytes));
      address = "[%td0]";
    }
    text.push_back(load(type, count, ".const", address));
    break;
  }
  case 2:
  case 3:
  case 4: { // input
    const std::string address = input_address(text, context, bytes);
    static const std::vector<std::string> spaces = {".global", ".global", ".global.nc", "",
                                                    ".volatile.global"};
    text.push_back(load(type, count, dice_.pick(spaces), address));
    break;
  }
  case 5: { // the thread's own bytes
    std::string address =
        fmt::format("[%own+{}]", dice_.below(64 / static_cast<std::uint32_t>(bytes)) *
                                     static_cast<std::uint32_t>(bytes));
    if (dice_.chance(30)) {
      text.push_back(fmt::format("and.b32 %t0, %r{}, {};", dice_.below(kWords), 64 / bytes - 1));
      text.push_back(fmt::format("mad.wide.u32 %td0, %t0, {}, %own;", bytes));
      address = "[%td0]";
    }
    const std::string space = dice_.chance(80) ? ".global" : "";
    if (dice_.chance(60))
      store(text, type, count, space, address);
    else
      text.push_back(load(type, count, space, address));
    break;
  }
  default: { // side by side with the neighbours'
    const std::uint32_t region = bytes == 1   ? 0U
                                 : bytes == 2 ? 1U
                                 : bytes == 4 ? 2U
                                 : bytes == 8 ? 3U
                                              : 4U;
    text.push_back(fmt::format("mad.wide.u32 %td0, %gid, {}, %soa;", bytes));
    const std::string address = fmt::format("[%td0+{}]", region * 16 * program_.threads());
    if (dice_.chance(60))
      store(text, type, count, ".global", address);
    else
      text.push_back(load(type, count, ".global", address));
  }
  }
  return lines(std::move(text));
}

Piece Generator::atomic_piece() {
  static const std::vector<std::string> words = {"add.u32", "min.s32", "max.u32", "and.b32",
                                                 "or.b32",  "xor.b32", "max.s32", "add.s32"};
  static const std::vector<std::string> doubles = {"add.u64", "min.s64", "max.u64", "and.b64",
                                                   "or.b64",  "xor.b64", "max.s64", "min.u64"};
  const std::uint32_t which = dice_.below(8);
  const bool wide = dice_.chance(30);
  const int bytes = wide ? 8 : 4;
  std::vector<std::string> text = {
      fmt::format("and.b32 %t0, {}, 3;",
                  dice_.chance(50) ? "%tid_" : fmt::format("%r{}", dice_.below(kWords))),
      fmt::format("mad.lo.u32 %t0, %t0, 8, {};", which),
      fmt::format("mad.wide.u32 %td0, %t0, {}, %atomics;", bytes)};
  const std::string address = fmt::format("[%td0+{}]", wide ? 256 : 0);
  const std::string& operation = (wide ? doubles : words)[which];
  const std::string value = wide ? fmt::format("%d{}", dice_.below(kDoubleWords))
                                 : fmt::format("%r{}", dice_.below(kWords));
  const std::string space = dice_.chance(80) ? ".global" : "";
  if (dice_.chance(50))
    text.push_back(fmt::format("{}red{}.{} {}, {};", guard(), space, operation, address, value));
  else
    text.push_back(fmt::format("{}atom{}.{} {}, {}, {};", guard(), space, operation,
                               wide ? "%junk64" : "%junk", address, value));
  return lines(std::move(text));
}

} // namespace kernevo::test
