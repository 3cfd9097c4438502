// Broken sources: a rewrite may refuse, but never crash, and never answer with a file that does not
// parse.
#include "kernevo/base/files.h"
#include "places.h"
#include "rewriting.h"

#include <filesystem>
#include <random>

namespace kernevo::rewrite {
namespace {

std::vector<std::string> sources() {
  std::vector<std::string> all = {elementwise("y[i] = x[i];"),
                                  matmul("sum += A[row * K + k] * B[k * N + col];")};
  const std::filesystem::path examples = std::filesystem::path(source_folder()) / "examples";
  for (const char* name :
       {"matmul/register_tiled.cu", "softmax/online.cu", "bottlenecks/uncoalesced/before.cu",
        "bottlenecks/compute_bound/before.cu", "bottlenecks/spills/before.cu"})
    all.push_back(*read_text_file(examples / name));
  return all;
}

// False when the mutant is no kernel file at all.
bool try_everything(const std::string& source) {
  const auto kernel = parse_kernel_file(source, "mutant.cu");
  if (!kernel)
    return false;
  Task task;
  task.default_launch = "kernel<<<ceil_div(N, 256), 256>>>(x, y, N)";
  for (const Rewrite& rewrite : rewrites()) {
    const auto result = apply(rewrite, *kernel, {&task, true});
    if (!result) {
      ADD_FAILURE() << format_error(result.error()) << "\n" << source;
      continue;
    }
    if (!result->rewritten) {
      EXPECT_FALSE(result->why_not.empty()) << rewrite.name << "\n" << source;
      continue;
    }
    EXPECT_TRUE(parse_kernel_file(result->rewritten->source, "mutant.cu")) << rewrite.name << "\n"
                                                                           << source;
    EXPECT_FALSE(result->rewritten->note.empty());
  }
  return true;
}

TEST(Mutations, TruncatedSources) {
  int tried = 0;
  for (const std::string& source : sources())
    for (std::size_t length = 0; length < source.size(); length += 1 + source.size() / 40)
      tried += try_everything(source.substr(0, length)) ? 1 : 0;
  EXPECT_GT(tried, 50);
}

TEST(Mutations, ChangedSources) {
  static const std::vector<std::string> pieces = {"(",
                                                  ")",
                                                  "{",
                                                  "}",
                                                  "[",
                                                  "]",
                                                  "<",
                                                  ">",
                                                  ";",
                                                  ",",
                                                  "\"",
                                                  "'",
                                                  "/*",
                                                  "//",
                                                  "\\\n",
                                                  "#",
                                                  "for (",
                                                  "return;",
                                                  "threadIdx.x",
                                                  "i",
                                                  "__global__ void ",
                                                  "template <class T> ",
                                                  "<<<",
                                                  "0.5",
                                                  "double ",
                                                  "// @tune A 1\n",
                                                  "if (",
                                                  "R\"(",
                                                  "&",
                                                  "*",
                                                  "++",
                                                  "? :",
                                                  "static_cast<",
                                                  "\n#pragma unroll\n"};
  std::mt19937 random(7);
  const auto all = sources();
  int tried = 0;
  for (int round = 0; round < 400; ++round) {
    std::string source = all[static_cast<std::size_t>(round) % all.size()];
    for (int change = 0; change < 1 + round % 3; ++change) {
      const std::size_t at = random() % source.size();
      switch (random() % 3) {
      case 0: source.erase(at, 1 + random() % 8); break;
      case 1: source.insert(at, pieces[random() % pieces.size()]); break;
      default: std::swap(source[at], source[random() % source.size()]);
      }
    }
    tried += try_everything(source) ? 1 : 0;
  }
  EXPECT_GT(tried, 200);
}

TEST(Mutations, DeepNesting) {
  int tried = 0;
  for (const std::string piece :
       {"(", "{", "[", "-", "a[", "if (x) ", "f(", "1 + ", "x = ", "(int)"}) {
    std::string inside;
    for (int i = 0; i < 4000; ++i)
      inside += piece;
    tried += try_everything(elementwise(inside)) ? 1 : 0;
    tried += try_everything("__global__ void f() { " + inside) ? 1 : 0;
  }
  EXPECT_GT(tried, 0);
}

} // namespace
} // namespace kernevo::rewrite
