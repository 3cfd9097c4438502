#include "kernevo/propose/prompt_files.h"

#include "kernevo/base/files.h"
#include "kernevo/base/suggest.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

namespace kernevo::propose {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLargestPrompt = 256U << 10U;

struct Vocabulary {
  std::vector<std::string> values;
  std::vector<std::string> flags;
};

const std::map<std::string, Vocabulary>& vocabularies() {
  static const std::map<std::string, Vocabulary> known = {
      {"system", {{"format"}, {}}},
      {"format", {{}, {}}},
      {"task",
       {{"operation", "semantics", "arguments", "scalars", "call", "shapes", "objective", "target",
         "precision", "tolerance", "gpu", "roofline", "dtype"},
        {"semantics", "scalars", "target", "roofline"}}},
      {"request",
       {{"standing", "parameters", "source", "mate_standing", "mate_parameters", "mate_source",
         "finding", "lessons", "history", "avoid", "direction"},
        {"parameters", "mate", "mate_parameters", "finding", "lessons", "history", "avoid"}}},
      {"plan", {{}, {"mate"}}},
      {"code", {{"plan", "following", "edit"}, {"plan", "edits"}}},
      {"edit", {{}, {}}},
      {"recombine", {{"plan"}, {"plan"}}},
      {"repair", {{"source", "direction", "diagnosis", "edit"}, {"source", "edits"}}},
      {"insights",
       {{"title", "standing", "parameters", "source", "finding"}, {"parameters", "finding"}}},
      {"lineage", {{"title", "before", "standing", "delta", "diff", "finding"}, {"finding"}}},
  };
  return known;
}

std::vector<std::string> file_names() {
  std::vector<std::string> names;
  for (const auto& [name, words] : vocabularies())
    names.push_back(name + ".md");
  return names;
}

// The texts of a folder; hidden files are nobody's business.
Result<std::vector<fs::path>> texts_in(const fs::path& folder) {
  std::error_code problem;
  std::vector<fs::path> paths;
  for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    std::error_code ignored;
    if (!entry->is_directory(ignored) && !entry->path().filename().string().starts_with('.'))
      paths.push_back(entry->path());
  }
  if (problem)
    return fail(ErrorCode::input, fmt::format("cannot be listed: {}", problem.message()),
                Place{folder.string()}, "name a folder of prompt files");
  std::sort(paths.begin(), paths.end());
  return paths;
}

} // namespace

TemplateContext PromptFiles::blank(const std::string& name) {
  TemplateContext context;
  const auto found = vocabularies().find(name);
  if (found == vocabularies().end())
    return context;
  for (const std::string& value : found->second.values)
    context.values[value] = "";
  for (const std::string& flag : found->second.flags)
    context.flags[flag] = false;
  return context;
}

// Every combination of flags is filled: lines that are dropped now are checked, too.
Result<void> PromptFiles::check(const std::string& name, const File& file) {
  const std::vector<std::string>& flags = vocabularies().at(name).flags;
  TemplateContext context = blank(name);
  for (unsigned set = 0; set < 1U << flags.size(); ++set) {
    for (std::size_t i = 0; i < flags.size(); ++i)
      context.flags[flags[i]] = (set >> i & 1U) != 0;
    KERNEVO_CHECK(expand_template(file.text, context, file.path));
  }
  return {};
}

Result<PromptFiles> PromptFiles::load(const std::string& backend, const std::string& overrides) {
  KERNEVO_TRY(share, share_folder());
  PromptFiles prompts;
  std::vector<fs::path> folders = {share / "prompts", share / "prompts" / backend};
  if (!overrides.empty())
    folders.emplace_back(overrides);
  const std::vector<std::string> known = file_names();
  for (const fs::path& folder : folders) {
    KERNEVO_TRY(paths, texts_in(folder));
    for (const fs::path& path : paths) {
      const std::string file = path.filename().string();
      if (std::find(known.begin(), known.end(), file) == known.end())
        return fail(ErrorCode::input,
                    fmt::format("'{}' is not a prompt{}", file, did_you_mean(file, known)),
                    Place{path.string()}, fmt::format("prompts are {}", fmt::join(known, ", ")));
      KERNEVO_TRY(text, read_text_file(path, kLargestPrompt));
      const std::string name = path.stem().string();
      prompts.files_[name] = {path.string(), std::move(text)};
      KERNEVO_CHECK(check(name, prompts.files_[name]));
    }
  }
  for (const auto& [name, words] : vocabularies())
    if (!prompts.files_.contains(name))
      return fail(ErrorCode::infrastructure, fmt::format("the prompt '{}.md' is missing", name),
                  Place{(share / "prompts").string()}, "install kernevo with its share folder");
  return prompts;
}

Result<std::string> PromptFiles::fill(const std::string& name,
                                      const TemplateContext& context) const {
  const auto found = files_.find(name);
  if (found == files_.end())
    return fail(ErrorCode::infrastructure, fmt::format("there is no prompt '{}'", name));
  return expand_template(found->second.text, context, found->second.path);
}

} // namespace kernevo::propose
