#include "kernevo/cli/new_run.h"

#include "kernevo/base/hash.h"
#include "kernevo/cli/run_parts.h"
#include "kernevo/store/journal.h"

namespace kernevo::cli {

namespace fs = std::filesystem;

std::string run_name(const std::string& task_name, const std::string& task_file) {
  if (!task_name.starts_with("task"))
    return task_name;
  std::error_code ignored;
  const std::string folder = fs::absolute(task_file, ignored).parent_path().filename().string();
  return folder.empty() ? task_name : folder;
}

RunStarted run_started(const evolve::RunContext& context, const RunSettings& settings,
                       const std::string& task_file, const std::string& name) {
  return {name,
          task_file,
          sha256_hex(context.task_text),
          context.task.name,
          context.task.operation,
          context.gpu.name,
          "modelled",
          KERNEVO_VERSION,
          context.identity,
          settings};
}

FreshFolder::FreshFolder(const fs::path& folder) : folder_(folder) {
  std::error_code ignored;
  had_run_ = fs::exists(folder / store::kJournalFile, ignored);
  had_traces_ = fs::exists(folder / kTraces, ignored);
  for (fs::path path = fs::absolute(folder, ignored); !path.empty() && !fs::exists(path, ignored);
       path = path.parent_path())
    missing_.push_back(path);
}

FreshFolder::~FreshFolder() {
  if (keep_ || had_run_)
    return;
  std::error_code ignored;
  if (missing_.empty()) // the user's own folder
    for (const char* file : {store::kJournalFile, store::kFreshFile, "lock"})
      for (const char* suffix : {"", "-wal", "-shm", "-journal"})
        fs::remove(folder_ / (std::string(file) + suffix), ignored);
  if (missing_.empty() && !had_traces_)
    fs::remove_all(folder_ / kTraces, ignored);
  if (!missing_.empty())
    fs::remove_all(missing_.front(), ignored);
  for (const fs::path& path : missing_)
    fs::remove(path, ignored); // stays when somebody else put something there
}

} // namespace kernevo::cli
