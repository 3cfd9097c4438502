#include "kernevo/programs/python_environment.h"

#include "kernevo/base/files.h"
#include "kernevo/programs/cuda_libraries.h"
#include "kernevo/programs/program_file.h"
#include "kernevo/toolchain/toolchain.h"

#include <cstdlib>
#include <fmt/format.h>

namespace kernevo {
namespace fs = std::filesystem;

namespace {

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

struct Source {
  fs::path folder;   // of environment.py
  fs::path nvcc;     // of the compiler's stand-in
  fs::path checkout; // empty when installed
};

Result<Source> find_source() {
  KERNEVO_TRY(share, share_folder());
  std::error_code ignored;
  if (fs::exists(share / "python" / "environment.py", ignored))
    return Source{share / "python", share / "nvcc", ""};
  const fs::path checkout = fs::weakly_canonical(share, ignored).parent_path();
  if (fs::exists(checkout / "python" / "environment.py", ignored))
    return Source{checkout / "python", checkout / "bench" / "coverage", checkout};
  return fail(ErrorCode::infrastructure,
              fmt::format("the folder 'python' is neither in nor beside '{}'", share.string()),
              std::nullopt, "reinstall kernevo");
}

// In a checkout beside the other things it was set up with, else the user's.
Result<fs::path> place_of(const Source& source) {
  if (const std::string named = setting("KERNEVO_PYTHON_PLACE"); !named.empty())
    return fs::absolute(named);
  if (!source.checkout.empty())
    return source.checkout / ".deps" / "python-venv";
  if (const std::string data = setting("XDG_DATA_HOME"); !data.empty())
    return fs::path(data) / "kernevo" / "python";
  if (const std::string home = setting("HOME"); !home.empty())
    return fs::path(home) / ".local" / "share" / "kernevo" / "python";
  return fail(ErrorCode::infrastructure, "there is no home folder to put the environment into",
              std::nullopt, "set KERNEVO_PYTHON_PLACE to a folder");
}

} // namespace

Result<std::vector<std::string>> environment_command(const std::string& what) {
  KERNEVO_TRY(source, find_source());
  KERNEVO_TRY(place, place_of(source));
  KERNEVO_TRY(libraries, find_cuda_libraries());
  KERNEVO_TRY(toolchain, find_toolchain());
  const auto python = find_program_file("python3");
  if (!python)
    return fail(ErrorCode::infrastructure, "python3 is missing", std::nullopt,
                "install it (Debian: apt-get install python3 python3-venv python3-dev)");
  return std::vector<std::string>{python->path.string(),
                                  (source.folder / "environment.py").string(),
                                  what,
                                  "--place",
                                  place.string(),
                                  "--libraries",
                                  libraries.string(),
                                  "--toolkit",
                                  fs::absolute(toolchain.root).string(),
                                  "--nvcc",
                                  source.nvcc.string()};
}

Result<fs::path> python_sources() {
  KERNEVO_TRY(source, find_source());
  return fs::absolute(source.folder);
}

std::optional<fs::path> environment_python() {
  if (const std::string named = setting("KERNEVO_PYTHON"); !named.empty())
    return named;
  const auto source = find_source();
  const auto place = source ? place_of(*source) : Result<fs::path>("");
  // The stamp is written last: what was begun and not ended is not used.
  const auto stamp = place ? read_text_file(*place / "kernevo-environment.json")
                           : Result<std::string>(tl::unexpected<Error>(place.error()));
  if (!stamp || stamp->find("\"layer\"") == std::string::npos)
    return std::nullopt;
  return *place / "bin" / "python";
}

} // namespace kernevo
