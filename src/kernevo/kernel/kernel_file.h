// Kernel files: CUDA device code with directives in comments (docs/kernels.md).
#pragma once

#include "kernevo/base/expression.h"
#include "kernevo/base/result.h"
#include "kernevo/model/kernel_language.h"
#include "kernevo/model/launch.h"
#include "kernevo/model/task.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

struct TuneParameter {
  std::string name;
  std::vector<std::int64_t> values; // the first is the default
  Place place;
};

struct Constraint {
  Expression condition;
  Place place;
};

struct ScratchDirective {
  std::string name;
  DType dtype = DType::float32;
  std::vector<Expression> shape;
  Place place;
};

struct LaunchDirective {
  std::string kernel;
  // name<BM, 32>: values and parameters are evaluated, type names are taken as they are.
  std::vector<std::string> template_arguments;
  std::vector<Place> template_places;
  std::vector<Expression> grid;       // 1 to 3
  std::vector<Expression> block;      // 1 to 3
  Expression shared;                  // "0" when not given
  bool cooperative = false;           // @launch cooperative name<<<...>>>(...)
  std::vector<std::string> arguments; // names, or expressions (kept as text) when not a plain name
  std::vector<Place> argument_places;
  Place place;
};

struct KernelFile {
  std::string path;
  std::string source; // the whole file
  KernelLanguage language = KernelLanguage::cuda;
  std::vector<TuneParameter> parameters;
  std::vector<Constraint> constraints;
  std::vector<ScratchDirective> scratch;
  std::vector<LaunchDirective> launches;     // empty: the task's default launch
  std::vector<std::string> flags;            // @flags, only those on the allow list
  std::optional<int> max_registers;          // @maxregs
  std::optional<std::string> architecture;   // @arch sm_90a
  std::vector<std::string> kernels;          // names of the __global__ functions, in order
  std::vector<std::string> template_kernels; // those of them that are templates
  int first_line = 1;                        // line of `path` where the source begins
};

inline constexpr std::size_t kMaxKernelFileSize = 1U << 20U;

// The language follows the extension: .py is Triton, anything else CUDA. A kernel that stands
// inside another file (a task's reference_kernel) gives the line where it begins.
Result<KernelFile> parse_kernel_file(std::string_view text, const std::string& path,
                                     int first_line = 1);
Result<KernelFile> load_kernel_file(const std::string& path);

using ParameterValues = std::map<std::string, std::int64_t>;

// Default values (the first combination, in directive order, that meets every constraint), with the
// given ones put in place. A value not listed by its @tune, an unknown name or a violated @where is
// an input error.
Result<ParameterValues> choose_parameters(const KernelFile& file,
                                          const ParameterValues& chosen = {});

// The launches of a file in order, with their expressions: its own, or the task's default with the
// kernel's own name put in.
Result<std::vector<LaunchDirective>> launch_directives(const KernelFile& file,
                                                       const std::string& default_launch,
                                                       const Place& default_launch_place);

// The launches at one problem: every expression evaluated, every argument resolved.
// `default_launch` is the task's; it is used when the file has no @launch, with the kernel's own
// name put in. A
// @where that names dimensions is checked here. Launch::kernel of a template is its instantiation,
// "name<64, 32>", which Build::lowered_names translates.
Result<LaunchPlan> make_launch_plan(const KernelFile& file, const ParameterValues& parameters,
                                    const Problem& problem, const std::string& default_launch,
                                    const Place& default_launch_place);

} // namespace kernevo
