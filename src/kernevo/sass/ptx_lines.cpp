#include "kernevo/sass/ptx_lines.h"

#include <algorithm>
#include <map>

namespace kernevo::sass {

namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

bool ends_block(std::string_view mnemonic) {
  return mnemonic == "bra" || mnemonic == "bra.uni" || mnemonic.starts_with("brx") ||
         mnemonic == "ret" || mnemonic == "ret.uni" || mnemonic == "exit" || mnemonic == "trap";
}

class Reader {
public:
  PtxLines read(std::string_view ptx) {
    result_.lines.emplace_back();
    while (!ptx.empty()) {
      const std::size_t end = ptx.find('\n');
      result_.lines.emplace_back();
      take(ptx.substr(0, end));
      ptx.remove_prefix(end == std::string_view::npos ? ptx.size() : end + 1);
    }
    for (PtxBlock& block : result_.blocks)
      if (const auto found =
              labels_.find({block_function_[&block - result_.blocks.data()], block.branch});
          found != labels_.end() && found->second < result_.blocks.size())
        block.target = found->second;
    return std::move(result_);
  }

private:
  void take(std::string_view text) {
    if (const std::size_t comment = text.find("//"); comment != std::string_view::npos)
      text = text.substr(0, comment);
    text = trimmed(text);
    if (text.find(".entry") != std::string_view::npos ||
        text.find(".func") != std::string_view::npos) {
      ++function_;
      open_ = false;
      return;
    }
    while (text.starts_with('{') || text.starts_with('}'))
      text = trimmed(text.substr(1));
    while (text.ends_with('}') && text.find(';') != std::string_view::npos &&
           text.rfind(';') < text.size() - 1)
      text = trimmed(text.substr(0, text.size() - 1));
    // A label: "$L__BB0_2:"
    if (const std::size_t colon = text.find(':'); colon != std::string_view::npos &&
                                                  text.find_first_of(" \t.;[") > colon &&
                                                  colon + 1 == text.size()) {
      open_ = false;
      labels_[{function_, std::string(text.substr(0, colon))}] = result_.blocks.size();
      return;
    }
    if (text.empty() || text.starts_with('.') || text.starts_with(')') ||
        text.find(';') == std::string_view::npos)
      return;
    take_instruction(text);
  }

  void take_instruction(std::string_view text) {
    PtxLine& line = result_.lines.back();
    const int number = static_cast<int>(result_.lines.size()) - 1;
    if (!open_) {
      result_.blocks.push_back({number, number, "", std::nullopt});
      block_function_.push_back(function_);
      open_ = true;
    }
    PtxBlock& block = result_.blocks.back();
    block.last = number;
    line.block = result_.blocks.size() - 1;
    if (text.starts_with('@')) {
      line.guarded = true;
      text = trimmed(text.substr(std::min(text.find_first_of(" \t"), text.size())));
    }
    const std::size_t end = text.find_first_of(" \t;");
    const std::string_view mnemonic = text.substr(0, end);
    if (std::count(text.begin(), text.end(), ';') == 1)
      line.mnemonic = mnemonic;
    if (!ends_block(mnemonic))
      return;
    open_ = false;
    if (mnemonic.starts_with("bra")) {
      const std::string_view rest = trimmed(text.substr(end));
      block.branch = trimmed(rest.substr(0, rest.find(';')));
    }
  }

  PtxLines result_;
  std::map<std::pair<int, std::string>, std::size_t> labels_;
  std::vector<int> block_function_;
  int function_ = 0;
  bool open_ = false;
};

} // namespace

std::optional<PtxLines::Loop> PtxLines::loop_around(std::size_t block) const {
  std::optional<Loop> best;
  for (std::size_t latch = block; latch < blocks.size(); ++latch) {
    const auto header = blocks[latch].target;
    if (header && *header <= block && (!best || *header > best->header))
      best = Loop{*header, latch};
    else if (header && best && *header == best->header)
      best->latch = latch;
  }
  return best;
}

PtxLines read_ptx_lines(std::string_view ptx) {
  return Reader().read(ptx);
}

} // namespace kernevo::sass
