#include "kernevo/programs/same_work.h"

#include "kernevo/model/dtype.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace kernevo {
namespace {

// A kernel's name without what its compiler made of the sizes.
std::set<std::string> kernels_of(const ProgramReport& report) {
  std::set<std::string> names;
  for (const KernelUse& use : report.kernels)
    names.insert(use.kernel.substr(0, use.kernel.find('<')));
  return names;
}

std::set<std::string> operators_of(const ProgramReport& report) {
  std::set<std::string> names;
  for (const OperatorUse& use : report.operators)
    names.insert(use.name);
  return names;
}

std::string first_missing(const std::set<std::string>& from, const std::set<std::string>& in) {
  for (const std::string& name : from)
    if (!in.contains(name))
      return name;
  return "";
}

// Of kernels and operators, without what a launch costs however little it does.
double working_ns(const ProgramReport& report) {
  constexpr double launch_ns = 3000;
  double ns = 0;
  double calls = 0;
  for (const KernelUse& use : report.kernels) {
    ns += use.time.value;
    calls += static_cast<double>(use.calls);
  }
  for (const OperatorUse& use : report.operators) {
    ns += use.time.value;
    calls += static_cast<double>(use.calls);
  }
  return std::max(0.0, ns - launch_ns * calls);
}

} // namespace

std::string why_not_same_work(const PricedCase& judged, const PricedCase& larger, const Gpu& gpu,
                              bool narrow) {
  const ProgramReport& small = judged.price->report;
  const ProgramReport& large = larger.price->report;
  for (const auto& [from, in, how] :
       {std::tuple(kernels_of(small), kernels_of(large), "no longer launches"),
        std::tuple(kernels_of(large), kernels_of(small), "also launches"),
        std::tuple(operators_of(small), operators_of(large), "no longer calls"),
        std::tuple(operators_of(large), operators_of(small), "also calls")})
    if (const std::string name = first_missing(from, in); !name.empty())
      return fmt::format("at the task's own sizes it {} '{}'", how, name);
  // Half of what moving the result or the arithmetic takes: some of a result may stay in the cache,
  // and there are ways to the same numbers with less arithmetic.
  const double written =
      static_cast<double>(larger.sizes->output_bytes) - static_cast<double>(gpu.l2_cache.value);
  const double rate = gpu.peak_operations_per_second(narrow ? DType::float16 : DType::float32);
  const double least_ns =
      0.5 * std::max(written / gpu.dram_gbps, rate > 0 ? larger.sizes->flops / rate * 1e9 : 0);
  if (larger.price->time.value < least_ns)
    return fmt::format("at the task's own sizes it takes {:.1f} us, less than an {} can",
                       larger.price->time.value / 1e3, gpu.name);
  // Larger work fills a GPU better, how much better nobody can say; but it does not come for
  // nothing.
  const double bytes = static_cast<double>(larger.sizes->bytes()) /
                       static_cast<double>(std::max<std::uint64_t>(1, judged.sizes->bytes()));
  const double flops = judged.sizes->flops > 0 ? larger.sizes->flops / judged.sizes->flops : bytes;
  const double work = std::min(bytes, flops);
  if (work > 8 && working_ns(large) < 1.5 * working_ns(small))
    return fmt::format("at the task's own sizes it does {:.0f} times the work in {:.1f} times the "
                       "time",
                       work, working_ns(large) / std::max(1.0, working_ns(small)));
  return "";
}

} // namespace kernevo
