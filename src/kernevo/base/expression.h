// Integer C expressions over named dimensions and parameters: + - * / % << >> & | ^ ~ ! comparisons
// && || ?: and ceil_div, min, max, next_pow2. 64-bit signed; overflow and division by zero are
// errors.
#pragma once

#include "kernevo/base/result.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace kernevo {

class Expression {
public:
  // `place` is where the text begins, so that errors name the right column.
  static Result<Expression> parse(std::string_view text, Place place = {});

  Result<std::int64_t> evaluate(const std::map<std::string, std::int64_t>& names) const;
  std::set<std::string> names() const;
  const std::string& text() const { return text_; }
  const Place& place() const { return place_; }

  struct Node;

private:
  std::string text_;
  Place place_;
  std::shared_ptr<const Node> root_;
};

} // namespace kernevo
