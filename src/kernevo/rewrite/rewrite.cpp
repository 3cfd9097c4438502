#include "kernevo/rewrite/rewrite.h"

#include "kernevo/rewrite/rewrite_list.h"

#include <algorithm>
#include <array>
#include <fmt/ranges.h>

namespace kernevo::rewrite {
namespace {

struct Row {
  Rewrite rewrite;
  Outcome (*of_kernel)(Draft&, const Function&) = nullptr; // one of the two
  Outcome (*of_file)(Draft&) = nullptr;
};

// Structure first, then what a thread does, then hints to the compiler.
const std::vector<Row>& rows() {
  static const std::vector<Row> table = {
      {{"tile_shared",
        "Stage tiles of both factors of a product in shared memory and keep several sums per "
        "thread",
        {"stage_in_shared", "share_in_block", "reuse_on_chip", "register_tile"}},
       tile_shared,
       nullptr},
      {{"swap_thread_roles",
        "Exchange the roles of threadIdx.x and threadIdx.y so that neighbours touch neighbouring "
        "addresses",
        {"coalesce"}},
       swap_thread_roles,
       nullptr},
      {{"vectorise",
        "Access several elements at a time, 16 bytes in one instruction",
        {"more_in_flight", "fewer_instructions", "more_per_block"}},
       vectorise,
       nullptr},
      {{"coarsen",
        "Let each thread do several elements, a block apart",
        {"more_per_block", "more_in_flight", "fewer_instructions"}},
       coarsen,
       nullptr},
      {{"grid_stride",
        "Let a bounded number of blocks loop over the work",
        {"even_waves", "more_per_block"}},
       grid_stride,
       nullptr},
      {{"block_shape",
        "Make the shape of a block a parameter",
        {"block_size_that_fits", "larger_blocks", "more_blocks", "even_waves", "whole_warps",
         "more_warps"}},
       block_shape,
       nullptr},
      {{"independent_accumulators",
        "Sum into several independent accumulators",
        {"more_in_flight"}},
       nullptr,
       independent_accumulators},
      {{"unroll",
        "Unroll innermost loops by a parameter",
        {"fewer_instructions", "more_in_flight", "constant_indices", "fewer_live_values"}},
       nullptr,
       unroll},
      {{"restrict",
        "Promise the compiler that pointers do not overlap and which data is only read",
        {"more_in_flight", "fewer_instructions"}},
       nullptr,
       restrict_pointers},
      {{"read_only",
        "Load data that is only read through the read-only path",
        {"more_in_flight", "reuse_on_chip"}},
       nullptr,
       read_only},
      {{"cheaper_arithmetic",
        "Use float literals, functions and reciprocals where double ones and divisions stand",
        {"cheaper_arithmetic"}},
       nullptr,
       cheaper_arithmetic},
      {{"fast_math",
        "Compile with fast, less exact functions and divisions",
        {"cheaper_arithmetic", "fewer_instructions"}},
       nullptr,
       fast_math},
      {{"launch_bounds",
        "Tell the compiler the block size and how many blocks should share a multiprocessor",
        {"fewer_registers", "allow_more_registers"}},
       launch_bounds,
       nullptr},
      {{"register_cap",
        "Make the number of registers a thread may use a parameter",
        {"allow_more_registers", "fewer_registers"}},
       register_cap,
       nullptr},
  };
  return table;
}

// What came out must be a kernel file with the directives that were added, and nothing lost.
std::string flaw(const std::string& source, const KernelFile& before) {
  const auto after = parse_kernel_file(source, before.path, before.first_line);
  if (!after)
    return after.error().message;
  if (after->kernels != before.kernels)
    return "the kernels are no longer found";
  if (after->parameters.size() < before.parameters.size() ||
      after->launches.size() < before.launches.size())
    return "directives were lost";
  if (const auto values = choose_parameters(*after); !values)
    return values.error().message;
  return {};
}

RewriteResult attempt(const Row& row, const KernelFile& kernel, const RewriteContext& context) {
  RewriteResult result;
  const auto finish = [&](Draft& draft, const Outcome& outcome) {
    if (!outcome) {
      if (result.why_not.empty())
        result.why_not = outcome.error().why;
      return false;
    }
    std::string source = draft.finish();
    if (const std::string problem = flaw(source, kernel); !problem.empty()) {
      result.why_not = fmt::format("the file's layout does not allow it: {}", problem);
      return false;
    }
    result.why_not.clear();
    result.rewritten = Rewritten{std::move(source), *outcome};
    return true;
  };
  if (row.of_file != nullptr) {
    Draft draft(kernel, context);
    finish(draft, row.of_file(draft));
    return result;
  }
  for (std::size_t i = 0;; ++i) {
    Draft draft(kernel, context); // a fresh one: a refused attempt leaves nothing behind
    const auto& kernels = draft.code().kernels();
    if (i >= kernels.size() || finish(draft, row.of_kernel(draft, kernels[i])))
      break;
  }
  if (!result.rewritten && result.why_not.empty())
    result.why_not = "no kernel was found whose code can be followed";
  return result;
}

} // namespace

std::span<const Rewrite> rewrites() {
  static const std::vector<Rewrite> list = [] {
    std::vector<Rewrite> all;
    for (const Row& row : rows())
      all.push_back(row.rewrite);
    return all;
  }();
  return list;
}

Result<RewriteResult> apply(const Rewrite& rewrite, const KernelFile& kernel,
                            const RewriteContext& context) {
  const auto row = std::find_if(rows().begin(), rows().end(), [&](const Row& candidate) {
    return candidate.rewrite.name == rewrite.name;
  });
  if (row == rows().end())
    return fail(ErrorCode::usage, fmt::format("there is no rewrite '{}'", rewrite.name));
  if (kernel.language != KernelLanguage::cuda)
    return RewriteResult{std::nullopt, "it is for CUDA kernels"};
  return attempt(*row, kernel, context);
}

} // namespace kernevo::rewrite
