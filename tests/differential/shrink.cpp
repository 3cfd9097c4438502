#include "compare.h"

#include <cstddef>
#include <fmt/format.h>
#include <fstream>
#include <utility>
#include <vector>

namespace kernevo::test {
namespace {

class Shrinker {
public:
  explicit Shrinker(RandomProgram program) : program_(std::move(program)) {}

  RandomProgram run() {
    bool smaller = true;
    while (smaller && attempts_ < kMostAttempts) {
      smaller = false;
      for (Piece& function : program_.functions)
        smaller |= reduce(function.first);
      smaller |= reduce(program_.kernel.first);
    }
    return program_;
  }

private:
  static constexpr int kMostAttempts = 600;

  bool differs() {
    ++attempts_;
    return compare_tiers(program_, program_.text()).difference.has_value();
  }

  bool reduce(std::vector<Piece>& pieces) {
    bool smaller = false;
    for (std::size_t size = pieces.size(); size > 0; size /= 2)
      for (std::size_t at = 0; at + size <= pieces.size() && attempts_ < kMostAttempts;) {
        const std::vector<Piece> before = pieces;
        pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(at),
                     pieces.begin() + static_cast<std::ptrdiff_t>(at + size));
        if (differs()) {
          smaller = true;
        } else {
          pieces = before;
          at += size;
        }
      }
    for (std::size_t i = 0; i < pieces.size() && attempts_ < kMostAttempts; ++i) {
      if (pieces[i].control) {
        const Piece before = pieces[i];
        Piece flat;
        flat.head = before.flat;
        flat.first = before.first;
        pieces[i] = flat;
        if (differs())
          smaller = true;
        else
          pieces[i] = before;
      }
      smaller |= reduce(pieces[i].first);
      smaller |= reduce(pieces[i].second);
    }
    return smaller;
  }

  RandomProgram program_;
  int attempts_ = 0;
};

} // namespace

std::string report_difference(const RandomProgram& program, const std::string& folder) {
  const RandomProgram small = Shrinker(program).run();
  const Comparison result = compare_tiers(small, small.text());
  const std::string path = fmt::format("{}/difference-{}.ptx", folder, program.seed);
  std::ofstream file(path);
  std::string why = result.difference.value_or("it does not show every time");
  for (std::size_t at = why.find('\n'); at != std::string::npos; at = why.find('\n', at + 4))
    why.replace(at, 1, "\n// ");
  file << fmt::format("// seed {}, grid {}, block {}\n// {}\n", small.seed,
                      fmt::join(small.grid, ","), fmt::join(small.block, ","), why)
       << small.text();
  return path;
}

} // namespace kernevo::test
