#include "scripted_run.h"

#include "kernevo/run/open_run.h"

#include <gtest/gtest.h>

namespace kernevo {
namespace {

// The kernel as a block of YAML.
std::string indented(const std::string& source) {
  std::string text = "  ";
  for (const char c : source)
    text += c == '\n' ? "\n  " : std::string(1, c);
  return text;
}

} // namespace

ScriptedRun::ScriptedRun(std::shared_ptr<FakeDevice> device) : device_(std::move(device)) {
  const std::string task = scripted_task("[[100000]]", "reference_kernel: |\n" +
                                                           indented(scripted_add("takes(20000);")));
  auto context = evolve::make_run_context(task, "task.yaml", device_);
  EXPECT_TRUE(context) << format_error(context.error());
  context_ = std::move(context).value();
  best_ = scripted_add("takes(THREADS == 256 ? 2000 : 4000);", "// @tune THREADS 128 256 512\n");
  script_.kernels["faster"] = {scripted_add("takes(9000);"), best_};
  script_.kernels["again"] = {scripted_add("takes(9000); // the same")};
  script_.kernels["slower"] = {scripted_add("takes(30000);")};
  // Each would be the best.
  script_.kernels["wrong"] = {
      scripted_add("takes(1000); wrong(1);"), scripted_add("takes(1100); wrong(N == 100000);"),
      scripted_add("takes(1200); faults(N == 100000);"), scripted_add("takes(1300); refuses(1);")};
}

evolve::Panel ScriptedRun::panel(store::Journal& journal) const {
  std::vector<std::unique_ptr<propose::Proposer>> proposers;
  proposers.push_back(std::make_unique<evolve::ScriptedProposer>(script_));
  return {std::move(proposers), journal};
}

Result<evolve::RunState> ScriptedRun::start(store::Journal& journal, unsigned jobs) const {
  RunSettings settings;
  settings.proposers = {"scripted"};
  settings.first_tuning = 3;
  settings.roofline = 10; // nothing gets there
  evolve::Panel people = panel(journal);
  evolve::OrchestratorOptions options;
  options.jobs = jobs;
  return evolve::start_run(context_, run::first_event(context_, settings, "task.yaml", "scripted"),
                           journal, people, options);
}

} // namespace kernevo
