// The tree of an expression, between the file that parses it and the one that evaluates it.
#pragma once

#include "kernevo/base/expression.h"

#include <string>
#include <vector>

namespace kernevo {

enum class ExpressionOp {
  number, // value
  name,   // text
  add,
  subtract,
  multiply,
  divide,
  modulo,
  shift_left,
  shift_right,
  bit_and,
  bit_or,
  bit_xor,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  logical_and,
  logical_or,
  negate,
  complement,
  logical_not,
  conditional,
  ceil_div,
  minimum,
  maximum,
  next_pow2,
};

struct Expression::Node {
  ExpressionOp op = ExpressionOp::number;
  std::int64_t value = 0;
  std::string text;
  int offset = 0; // of the operator, from the start of the expression
  std::vector<Node> children;
};

// Of a node, when the expression starts there.
inline Place place_in_expression(const Place& start, int offset) {
  Place place = start;
  place.column = (start.column > 0 ? start.column : 1) + offset;
  return place;
}

} // namespace kernevo
