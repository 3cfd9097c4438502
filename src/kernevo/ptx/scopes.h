// The names of one function body: registers, local variables and labels, block by block.
#pragma once

#include "kernevo/ptx/module.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kernevo::ptx {

// A name used before it is known what it stands for: a label further down, a function. It is looked
// for in each enclosing block as that block closes.
struct PendingName {
  enum class Where : std::uint8_t { operand, branch_target };
  Where where = Where::operand;
  std::uint32_t instruction = 0;
  std::uint32_t operand = 0;
  std::int32_t element = -1; // within the operand; -1 = the operand itself
  std::string table;         // branch_target: unique name of the table
  std::string_view name;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

struct LocalName {
  enum class Kind : std::uint8_t { reg, variable };
  Kind kind = Kind::reg;
  RegisterId reg = 0;
  int width = 1;      // of a vector register: `reg` and those after it
  std::string unique; // of a variable, as are those below
  Space space = Space::generic;
  bool read_only = false; // parameter of an entry
};

class Scopes {
public:
  static constexpr std::size_t kDeepest = 64;

  explicit Scopes(std::vector<Register>& registers) : registers_(registers) {}

  void open();
  // Closes the innermost block. Names it could resolve are appended to `resolved` with their unique
  // label name; the rest wait in the enclosing block, or for the outermost one in left().
  struct Resolved {
    PendingName pending;
    std::string label;
  };
  void close(std::vector<Resolved>& resolved);
  std::vector<PendingName>& left() { return left_; }
  std::size_t depth() const { return scopes_.size(); }
  std::uint32_t id() const { return scopes_.back().id; }

  // False when this block already has the name.
  bool declare_register(std::string_view name, Type type, int width = 1);
  bool declare_registers(std::string_view prefix, std::uint64_t count, Type type, int width = 1);
  bool declare_variable(std::string_view name, std::string unique, Space space,
                        bool read_only = false);
  bool declare_label(std::string_view name, std::string unique);
  void wait_for(PendingName pending) { scopes_.back().pending.push_back(std::move(pending)); }
  // Instructions were put in front of this one: names in it wait at another index.
  void move_waiting(std::uint32_t instruction, std::uint32_t by) {
    for (PendingName& pending : scopes_.back().pending)
      if (pending.where == PendingName::Where::operand && pending.instruction == instruction)
        pending.instruction += by;
  }
  // Whether the last name made to wait is this one.
  bool waits_for(std::string_view name) const {
    const auto& pending = scopes_.back().pending;
    return !pending.empty() && pending.back().name == name;
  }

  // A register gets its id when it is first named: a range of millions costs nothing.
  const LocalName* find(std::string_view name); // until the next declaration
  // A name no other variable or label of this function has.
  std::string make_unique(std::string_view name, bool taken);

private:
  struct Range {
    std::uint64_t count = 0;
    Type type = Type::none;
    int width = 1;
  };
  struct Scope {
    std::uint32_t id = 0;
    std::unordered_map<std::string_view, LocalName> names;
    std::unordered_map<std::string_view, Range> ranges;
    std::unordered_map<std::string_view, std::string> labels;
    std::vector<PendingName> pending;
  };
  const LocalName* find_in(Scope& scope, std::string_view name);
  RegisterId make_register(std::string_view name, Type type, int width);

  std::vector<Register>& registers_;
  std::vector<Scope> scopes_;
  std::vector<PendingName> left_;
  std::unordered_map<std::string_view, std::uint32_t> uses_;
  std::uint32_t next_id_ = 0;
};

} // namespace kernevo::ptx
