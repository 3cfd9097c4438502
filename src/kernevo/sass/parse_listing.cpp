#include "kernevo/sass/parse_listing.h"

#include "kernevo/sass/control_code.h"
#include "kernevo/sass/parse_instruction.h"

#include <charconv>
#include <fmt/format.h>
#include <map>
#include <set>

namespace kernevo::sass {

namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

template <class Number> std::optional<Number> number_in(std::string_view text, int base = 10) {
  Number number = 0;
  const auto [stop, problem] =
      std::from_chars(text.data(), text.data() + text.size(), number, base);
  return problem == std::errc() && stop != text.data() ? std::optional(number) : std::nullopt;
}

// The first "/* 0x... */" of the line.
std::optional<std::uint64_t> encoding_in(std::string_view line) {
  const std::size_t at = line.rfind("/* 0x");
  return at == std::string_view::npos ? std::nullopt
                                      : number_in<std::uint64_t>(line.substr(at + 5), 16);
}

bool transfers(const std::string& opcode) {
  for (const char* one : {"BRA", "BRX", "BRXU", "JMP", "JMX", "JMXU", "CALL", "BSSY", "WARPSYNC"})
    if (opcode == one)
      return true;
  return false;
}

class ListingParser {
public:
  Result<SassModule> parse(std::string_view listing) {
    while (!listing.empty()) {
      const std::size_t end = listing.find('\n');
      ++line_;
      KERNEVO_CHECK(take(listing.substr(0, end)));
      listing.remove_prefix(end == std::string_view::npos ? listing.size() : end + 1);
    }
    finish();
    return std::move(module_);
  }

private:
  Result<void> take(std::string_view raw) {
    const std::string_view line = trimmed(raw);
    if (line.starts_with("//## File"))
      take_line_mark(line);
    else if (line.starts_with("//") || line.empty())
      return {};
    else if (line.starts_with("/* 0x"))
      return take_upper_word(line);
    else if (line.starts_with("/*"))
      return take_instruction(line);
    else if (line.starts_with(".target"))
      module_.architecture = trimmed(line.substr(7));
    else if (line.starts_with(".sectioninfo") && current_ != nullptr)
      take_registers(line);
    else if (line.starts_with(".section"))
      take_section(trimmed(line.substr(8)));
    else if (line.starts_with(".type") && line.ends_with("@function"))
      functions_.emplace(trimmed(line.substr(5, line.find(',') - 5)));
    else if (line.starts_with(".other") && line.find("STO_CUDA_ENTRY") != std::string_view::npos)
      entries_.emplace(trimmed(line.substr(6, line.find(',') - 6)));
    else if (line.ends_with(':') && current_ != nullptr)
      take_label(std::string(line.substr(0, line.size() - 1)));
    return {};
  }

  void take_section(std::string_view rest) {
    finish();
    constexpr std::string_view text = ".text.";
    if (!rest.starts_with(text))
      return;
    module_.functions.emplace_back();
    current_ = &module_.functions.back();
    current_->name = rest.substr(text.size(), rest.find(',') - text.size());
    if (current_->name.ends_with('"'))
      current_->name.pop_back();
  }

  void take_registers(std::string_view line) {
    constexpr std::string_view mark = "SHI_REGISTERS=";
    if (const std::size_t at = line.find(mark); at != std::string_view::npos)
      current_->registers = number_in<int>(line.substr(at + mark.size()));
  }

  void take_label(std::string label) {
    const std::uint32_t offset = next_offset();
    if (functions_.contains(label))
      current_->symbols.push_back({label, offset});
    labels_[std::move(label)] = offset;
  }

  void take_line_mark(std::string_view line) {
    // Other files appear when the table also names CUDA source.
    constexpr std::string_view mark = "\", line ";
    const std::size_t at = line.find(mark);
    ptx_line_ =
        line.find(".nv_debug_ptx_txt") != std::string_view::npos && at != std::string_view::npos
            ? number_in<int>(line.substr(at + mark.size()))
            : std::nullopt;
  }

  // "/*0080*/   @P0 BRA `(.L_x_1) ;   /* 0x0000017000000947 */"
  Result<void> take_instruction(std::string_view line) {
    if (current_ == nullptr)
      return {};
    const std::size_t close = line.find("*/");
    const auto offset = number_in<std::uint32_t>(line.substr(2), 16);
    const std::size_t encoding = line.rfind("/* 0x");
    if (!offset || close == std::string_view::npos || encoding == std::string_view::npos ||
        encoding < close)
      return malformed(line);
    std::string_view text = trimmed(line.substr(close + 2, encoding - close - 2));
    if (text.ends_with(';'))
      text = trimmed(text.substr(0, text.size() - 1));
    // The disassembler's remark: (*"BRANCH_TARGETS .L_x_22,.L_x_23"*)
    std::string_view remark;
    if (const std::size_t at = text.find("(*\""); at != std::string_view::npos) {
      remark = text.substr(at + 3, text.find("\"*)", at) - at - 3);
      text = trimmed(text.substr(0, at));
    }
    if (text.empty())
      return malformed(line);
    SassInstruction instruction = parse_instruction(text);
    instruction.offset = *offset;
    instruction.ptx_line = ptx_line_;
    note_targets(instruction, remark);
    current_->instructions.push_back(std::move(instruction));
    upper_word_due_ = true;
    return {};
  }

  Result<void> take_upper_word(std::string_view line) {
    const auto word = encoding_in(line);
    if (current_ == nullptr || !upper_word_due_)
      return {};
    if (!word)
      return malformed(line);
    current_->instructions.back().control = decode_control(*word);
    upper_word_due_ = false;
    return {};
  }

  void note_targets(const SassInstruction& instruction, std::string_view remark) {
    const std::size_t index = current_->instructions.size();
    if (transfers(instruction.opcode))
      for (const std::string& operand : instruction.operands)
        if (operand.starts_with("`("))
          pending_.push_back({index, operand.substr(2, operand.size() - 3), false});
    constexpr std::string_view mark = "BRANCH_TARGETS ";
    if (remark.starts_with(mark))
      remark.remove_prefix(mark.size());
    else
      return;
    while (!remark.empty()) {
      const std::size_t comma = remark.find(',');
      pending_.push_back({index, std::string(trimmed(remark.substr(0, comma))), true});
      remark.remove_prefix(comma == std::string_view::npos ? remark.size() : comma + 1);
    }
  }

  // Labels may stand behind their use, so they are resolved at the end of the section.
  void finish() {
    if (current_ == nullptr)
      return;
    for (const Pending& pending : pending_) {
      SassInstruction& instruction = current_->instructions[pending.index];
      const auto found = labels_.find(pending.label);
      if (found == labels_.end()) {
        if (!pending.indirect)
          instruction.callee = pending.label;
      } else if (pending.indirect) {
        instruction.indirect_targets.push_back(found->second);
      } else {
        instruction.target = found->second;
      }
    }
    current_->is_kernel = entries_.contains(current_->name);
    pending_.clear();
    labels_.clear();
    ptx_line_.reset();
    current_ = nullptr;
  }

  std::uint32_t next_offset() const {
    constexpr std::uint32_t size = 16;
    return current_->instructions.empty() ? 0 : current_->instructions.back().offset + size;
  }

  tl::unexpected<Error> malformed(std::string_view line) const {
    return fail(ErrorCode::unsupported,
                fmt::format("line {} of nvdisasm's listing is not understood: {}", line_, line));
  }

  struct Pending {
    std::size_t index = 0;
    std::string label;
    bool indirect = false;
  };

  SassModule module_;
  SassFunction* current_ = nullptr;
  std::set<std::string> functions_;
  std::set<std::string> entries_;
  std::map<std::string, std::uint32_t> labels_;
  std::vector<Pending> pending_;
  std::optional<int> ptx_line_;
  bool upper_word_due_ = false;
  int line_ = 0;
};

} // namespace

Result<SassModule> parse_listing(std::string_view listing) {
  return ListingParser().parse(listing);
}

} // namespace kernevo::sass
