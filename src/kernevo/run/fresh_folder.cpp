#include "kernevo/run/fresh_folder.h"

#include "kernevo/run/stored_run.h"
#include "kernevo/store/open_journal.h"

namespace kernevo::run {

namespace fs = std::filesystem;

FreshFolder::FreshFolder(const fs::path& folder) : folder_(folder) {
  std::error_code ignored;
  had_run_ = store::holds_run(folder);
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
    store::discard_journal(folder_);
  if (missing_.empty() && !had_traces_)
    fs::remove_all(folder_ / kTraces, ignored);
  if (!missing_.empty())
    fs::remove_all(missing_.front(), ignored);
  for (const fs::path& path : missing_)
    fs::remove(path, ignored); // stays when somebody else put something there
}

} // namespace kernevo::run
