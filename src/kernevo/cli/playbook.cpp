// kernevo playbook TASK: what would the playbook propose?
#include "kernevo/base/files.h"
#include "kernevo/cli/command.h"
#include "kernevo/model/json_fields.h"
#include "kernevo/propose/recipe.h"
#include "kernevo/task/load_task.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>

namespace kernevo::cli {
namespace {

namespace fs = std::filesystem;
using propose::Recipe;

struct Options {
  CommonOptions common;
  std::string task;
  std::string gpu;
  std::string write;
};

struct Offer {
  const Recipe* recipe = nullptr;
  std::string source;
  std::string written; // the file; empty when none was asked for
};

Result<std::vector<Offer>> make_offers(const std::vector<Recipe>& recipes, const Task& task,
                                       const Gpu& gpu) {
  std::vector<Offer> offers;
  for (const Recipe& recipe : recipes) {
    KERNEVO_TRY(reason, propose::unfit(recipe, task, gpu));
    if (reason)
      continue;
    KERNEVO_TRY(source, propose::expand_recipe(recipe, task));
    offers.push_back({&recipe, source, {}});
  }
  return offers;
}

Result<void> write_offers(std::vector<Offer>& offers, const fs::path& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem)
    return fail(ErrorCode::infrastructure, "cannot be made: " + problem.message(),
                Place{folder.string()}, "give --write a folder you may write");
  for (Offer& offer : offers) {
    const fs::path file = folder / (offer.recipe->name + ".cu");
    KERNEVO_CHECK(write_file_atomically(file, offer.source));
    offer.written = file.string();
  }
  return {};
}

void print_json(const std::vector<Offer>& offers) {
  Json list = Json::array();
  for (const Offer& offer : offers)
    list.push_back(Json{{"name", offer.recipe->name},
                        {"title", offer.recipe->title},
                        {"answers", offer.recipe->answers},
                        {"source", offer.source}});
  fmt::print("{}\n", Json{{"recipes", list}}.dump(2, ' ', false, Json::error_handler_t::replace));
}

Result<int> run(const Options& options) {
  KERNEVO_TRY(task, load_task(options.task));
  KERNEVO_TRY(gpu, find_gpu(options.gpu.empty() ? task.task.target_gpu : options.gpu));
  KERNEVO_TRY(recipes, propose::load_recipes());
  KERNEVO_TRY(offers, make_offers(recipes, task.task, gpu));
  if (!options.write.empty())
    KERNEVO_CHECK(write_offers(offers, options.write));
  if (options.common.json) {
    print_json(offers);
    return offers.empty() ? kNo : kYes;
  }
  if (offers.empty())
    fmt::print("no recipe of the playbook serves {} on the {}\n", task.task.operation, gpu.name);
  for (const Offer& offer : offers)
    fmt::print("{}  {}\n  answers {}\n{}", paint(offer.recipe->name, Tone::strong),
               offer.recipe->title, fmt::join(offer.recipe->answers, ", "),
               offer.written.empty() ? "" : fmt::format("  written {}\n", offer.written));
  return offers.empty() ? kNo : kYes;
}

} // namespace

Command add_playbook(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "playbook", "What would the playbook propose for this task? Lists its recipes, and writes "
                  "their kernels if asked");
  command->add_option("TASK", options->task, "Task file (YAML)")->required();
  command->add_option("--gpu", options->gpu, "Named GPU instead of the task's target");
  command->add_option("--write", options->write, "Write each kernel into this folder");
  add_common(*command, options->common);
  return {[options] {
    const auto code = run(*options);
    return code ? *code : report_error(code.error(), options->common);
  }};
}

} // namespace kernevo::cli
