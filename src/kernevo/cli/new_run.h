// What beginning a run takes: its name, its first event, and a folder that goes again if nothing
// comes of it.
#pragma once

#include "kernevo/evolve/run_context.h"
#include "kernevo/model/run_event.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kernevo::cli {

// Task files are often called task.yaml or task_fp16.yaml; their folder says more then.
std::string run_name(const std::string& task_name, const std::string& task_file);

RunStarted run_started(const evolve::RunContext& context, const RunSettings& settings,
                       const std::string& task_file, const std::string& name);

// Takes away what was made for a run that did not come to be: its files, and the folders that were
// not there before.
class FreshFolder {
public:
  explicit FreshFolder(const std::filesystem::path& folder);
  FreshFolder(const FreshFolder&) = delete;
  FreshFolder& operator=(const FreshFolder&) = delete;
  ~FreshFolder();
  void keep() { keep_ = true; }

private:
  std::filesystem::path folder_;
  std::vector<std::filesystem::path> missing_; // innermost first
  bool had_run_ = false;
  bool had_traces_ = false;
  bool keep_ = false;
};

} // namespace kernevo::cli
