// Source -> module: NVRTC (loaded at run time) or nvcc to PTX, ptxas for resources.
#pragma once

#include "kernevo/base/result.h"
#include "kernevo/model/build.h"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kernevo {

// Where the CUDA pieces are. Found by find_toolchain(): $KERNEVO_CUDA (a toolkit folder), the
// project's own wheels (.deps/cuda/nvidia/cu13 beside the program's source or install prefix),
// $CUDA_HOME, /usr/local/cuda, in that order.
struct Toolchain {
  std::filesystem::path root;
  std::filesystem::path nvrtc;    // shared library; empty when absent
  std::filesystem::path nvcc;     // empty when absent
  std::filesystem::path ptxas;    // empty when absent
  std::filesystem::path nvdisasm; // empty when absent
  std::filesystem::path include;  // cuda_fp16.h and friends
  std::string version;            // "13.2"
  std::string origin;             // for people: "wheels", "KERNEVO_CUDA", "/usr/local/cuda"
};
Result<Toolchain> find_toolchain();

struct CompileRequest {
  std::string source;
  std::string file;                   // name used in diagnostics and .loc
  int first_line = 1;                 // line of `file` where the source begins
  std::string architecture = "sm_80"; // or sm_90a
  std::vector<std::pair<std::string, std::string>> macros;
  std::vector<std::string> flags; // from @flags
  std::optional<int> max_registers;
  std::vector<std::string> name_expressions; // template instantiations to emit: "reduce<256>"
  bool resources = true;                     // run ptxas
  bool with_nvcc = false;                    // and not with what $KERNEVO_COMPILER says
};

// What a compiler could read while it made a build.
enum class CompilerReach {
  everything, // it ran in this process
  toolkit,    // it ran in a cage
};

// A build that was just made, and what of it is worth keeping.
struct FreshBuild {
  Build build;
  bool lasting = false; // it depends on nothing but the key of the build cache
  std::string cubin;    // what ptxas made of it; empty when it made nothing
};

// Compiles. A source that does not compile is a Build with ok = false and its diagnostics; Result
// errors are the machine's. Runs the compiler in this process and keeps nothing: callers who do not
// trust the source call it in a worker. $KERNEVO_COMPILER=nvcc asks for nvcc.
// Build::lowered_names gives the PTX name of every name expression and of every kernel whose plain
// name is unique.
Result<FreshBuild> compile_afresh(const Toolchain& toolchain, const CompileRequest& request);
// What the build cache has for the request.
std::optional<Build> find_build(const Toolchain& toolchain, const CompileRequest& request,
                                CompilerReach reach);
// Puts a build that lasts into the caches.
Build keep_build(const Toolchain& toolchain, const CompileRequest& request, FreshBuild fresh,
                 CompilerReach reach);
// The three in turn, in this process.
Result<Build> compile(const Toolchain& toolchain, const CompileRequest& request);
bool wants_nvcc(const Toolchain& toolchain, const CompileRequest& request);
// Loads the compiler and has it compile something, so that the next compilation is quick.
void warm_up_compiler(const Toolchain& toolchain);

// The plain name of a mangled entry ("_Z6matmulPKf" -> "matmul").
std::string plain_kernel_name(const std::string& mangled);

// Oldest architecture the toolchain can compile for, at or above the wanted one: CUDA 13 has no
// sm_70, so a V100's kernels are compiled for sm_75.
std::string nearest_architecture(const Toolchain& toolchain, int compute_capability);

} // namespace kernevo
