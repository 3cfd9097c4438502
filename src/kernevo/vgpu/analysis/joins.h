// Where lanes that a branch has parted come together again, and what differs between them there.
#pragma once

#include "kernevo/vgpu/analysis/flow.h"
#include "kernevo/vgpu/analysis/liveness.h"

#include <cstdint>
#include <vector>

namespace kernevo::vgpu::analysis {

// Lanes run in schedule order (vgpu/order.h), so they meet at the first block that both parts
// reach, which may come before the postdominator; lanes that leave a loop early wait for the
// others. What was written on the way since the branch, or anywhere in the loop, may differ.
class Joins {
public:
  Joins(const Code& code, const Flow& flow, const Liveness& liveness);

  // Registers that vary from somewhere on, because the branch that ends the block parts the lanes.
  // Those in `known` are left out.
  std::vector<std::uint32_t> registers_parted_by(std::uint32_t block, const RegisterSet& known);

private:
  struct Loop {
    std::uint32_t head = 0; // positions [head, last]
    std::uint32_t last = 0;
  };
  struct Place { // per block, by position; valid if `stamp` is the current one
    std::uint32_t stamp = 0;
    std::uint32_t label = 0; // the block from which on all lanes came together
    bool join = false;
    bool passed = false;
  };

  void visit(std::uint32_t from, std::uint32_t to, std::uint32_t label);
  void visit_loop(std::uint32_t head, std::uint32_t label);
  void push(std::uint32_t position);
  std::uint32_t pop();
  Place& place(std::uint32_t position);
  void collect(std::uint32_t join, std::uint32_t limit);
  bool defined_since_branch(std::uint32_t reg, std::uint32_t join, std::uint32_t limit) const;
  bool in_open_loop(std::uint32_t position) const;

  const Flow& flow_;
  const Liveness& liveness_;
  std::vector<std::uint32_t> block_at_;              // by position
  std::vector<std::uint32_t> position_;              // by block
  std::vector<std::uint32_t> loop_last_;             // by position of the head, or kNone
  std::vector<bool> idle_;                           // by position: returns, and reads nothing
  std::vector<std::vector<std::uint32_t>> defining_; // by register: positions
  std::vector<Place> places_;                        // by position
  std::vector<std::uint32_t> waiting_;               // a heap, lowest position first
  std::vector<Loop> continued_;                      // loops that some lanes go round again
  std::vector<std::uint32_t> found_;
  const RegisterSet* known_ = nullptr;
  RegisterSet taken_;
  std::uint32_t stamp_ = 0;
  std::uint32_t branch_ = 0; // position
};

} // namespace kernevo::vgpu::analysis
