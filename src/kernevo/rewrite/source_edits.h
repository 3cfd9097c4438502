#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo::rewrite {

// Changes to a text, gathered by offset and made all at once; the rest stays byte for byte.
class SourceEdits {
public:
  void insert(std::size_t offset, std::string text) { replace(offset, offset, std::move(text)); }
  void replace(std::size_t begin, std::size_t end, std::string text);
  bool empty() const { return edits_.empty(); }

  // Insertions at one place stand in the order they were asked for. Edits that overlap are an
  // error of the caller; the later one is left out.
  std::string apply(std::string_view source) const;
  // The part [begin, end) with the edits inside it made.
  std::string apply(std::string_view source, std::size_t begin, std::size_t end) const;

private:
  struct Edit {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string text;
  };
  std::vector<Edit> edits_;
};

} // namespace kernevo::rewrite
