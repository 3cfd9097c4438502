// The text of one directive, which may be spread over several comment lines, with the place of
// every character.
#pragma once

#include "kernevo/base/expression.h"
#include "kernevo/base/identifier.h"
#include "kernevo/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

class DirectiveText {
public:
  DirectiveText(std::string file, std::string_view text, int line, int column);
  // One line of plain text that begins at `place`: a launch given by a task.
  DirectiveText(std::string_view text, const Place& place);

  // Joins a further comment line, with a space between.
  void append(std::string_view text, int line, int column);

  const std::string& text() const { return text_; }
  Place place(std::size_t offset) const;
  tl::unexpected<Error> error(std::size_t offset, std::string message, std::string fix = "") const;

  // A range of the text, [begin, end), without the space around it.
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  Range trimmed(Range range) const;
  std::string_view view(Range range) const {
    return std::string_view(text_).substr(range.begin, range.end - range.begin);
  }
  // Words separated by space (or commas, when asked).
  std::vector<Range> words(Range range, bool commas = false) const;
  // Parts between commas that are not inside brackets. An empty range has no parts.
  std::vector<Range> split_commas(Range range) const;
  // The offset of the bracket that closes the one at `open`; npos when it is missing.
  std::size_t closing(std::size_t open, std::size_t end) const;

  Result<Expression> expression(Range range) const;

private:
  struct Segment {
    std::size_t offset = 0;
    int line = 0;
    int column = 0;
  };

  std::string file_;
  std::string text_;
  std::vector<Segment> segments_;
};

} // namespace kernevo
