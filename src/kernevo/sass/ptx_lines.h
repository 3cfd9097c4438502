// PTX as lines: what stands on each, and the basic blocks they form. Enough to tell which machine
// instruction stands for which PTX instruction; the parser proper is in ptx/.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo::sass {

struct PtxLine {
  std::string mnemonic; // "ld.global.f32"; empty when the line holds no instruction or several
  bool guarded = false;
  std::optional<std::size_t> block;
};

struct PtxBlock {
  int first = 0; // lines, both included
  int last = 0;
  std::string branch; // label its last instruction names; empty when it falls through or leaves
  std::optional<std::size_t> target;
};

struct PtxLines {
  std::vector<PtxLine> lines; // by line number; [0] is unused
  std::vector<PtxBlock> blocks;

  // The innermost loop around a block, as the blocks between a header and the last branch back to
  // it in the text; compilers lay loops out so.
  struct Loop {
    std::size_t header = 0;
    std::size_t latch = 0;
  };
  std::optional<Loop> loop_around(std::size_t block) const;
};

PtxLines read_ptx_lines(std::string_view ptx);

} // namespace kernevo::sass
