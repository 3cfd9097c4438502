#include "kernevo/propose/recipe.h"

#include "kernevo/base/files.h"
#include "kernevo/base/suggest.h"
#include "kernevo/evaluate/visible.h"
#include "kernevo/propose/directions.h"
#include "kernevo/task/catalogue.h"
#include "kernevo/task/kernel_template.h"
#include "kernevo/task/yaml_fields.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace kernevo::propose {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> operation_names() {
  std::vector<std::string> names;
  for (const OperationInfo& operation : operations())
    names.push_back(operation.name);
  return names;
}

class RecipeReader {
public:
  RecipeReader(const YamlNode& map, fs::path folder, const std::vector<std::string>& directions)
      : map_(map), folder_(std::move(folder)), directions_(directions) {}

  Result<Recipe> read() {
    KERNEVO_CHECK(expect_map(map_, "a recipe"));
    KERNEVO_CHECK(check_keys(
        map_, {"name", "title", "file", "operations", "dtypes", "answers", "when"}, "a recipe"));
    Recipe recipe;
    recipe.place = map_.place;
    KERNEVO_TRY(name, text("name"));
    recipe.name = std::move(name);
    KERNEVO_TRY(title, text("title"));
    recipe.title = std::move(title);
    KERNEVO_TRY(file, text("file"));
    recipe.file = (folder_ / file).string();
    std::error_code ignored;
    if (!fs::is_regular_file(recipe.file, ignored))
      return fail(ErrorCode::input, fmt::format("there is no template '{}'", file),
                  map_.find("file")->place, "name a file beside recipes.yaml");
    KERNEVO_TRY(operations, names("operations", operation_names()));
    recipe.operations = {operations.begin(), operations.end()};
    KERNEVO_TRY(answers, names("answers", directions_));
    recipe.answers = std::move(answers);
    if (const YamlNode* dtypes = map_.find("dtypes")) {
      KERNEVO_TRY(wanted, list(*dtypes, "dtypes"));
      for (const auto& [type, place] : wanted) {
        const auto found = parse_dtype(type);
        if (!found)
          return fail(ErrorCode::input, fmt::format("unknown type '{}'", type), place);
        recipe.dtypes.insert(*found);
      }
    }
    if (const YamlNode* when = map_.find("when")) {
      KERNEVO_TRY(written, read_text(*when, "when"));
      KERNEVO_TRY(condition, Expression::parse(written, when->place));
      recipe.when = std::move(condition);
    }
    return recipe;
  }

private:
  Result<std::string> text(const char* key) const {
    const YamlNode* found = map_.find(key);
    if (found == nullptr)
      return fail(ErrorCode::input, fmt::format("'{}' is missing", key), map_.place,
                  fmt::format("add '{}: ...'", key));
    return read_text(*found, key);
  }

  static Result<std::vector<std::pair<std::string, Place>>> list(const YamlNode& node,
                                                                 const char* key) {
    KERNEVO_CHECK(expect_list(node, key));
    std::vector<std::pair<std::string, Place>> entries;
    for (const auto& item : node.items) {
      KERNEVO_TRY(entry, read_text(*item, key));
      entries.emplace_back(entry, item->place);
    }
    if (entries.empty())
      return fail(ErrorCode::input, fmt::format("'{}' is empty", key), node.place);
    return entries;
  }

  Result<std::vector<std::string>> names(const char* key,
                                         const std::vector<std::string>& known) const {
    const YamlNode* node = map_.find(key);
    if (node == nullptr)
      return fail(ErrorCode::input, fmt::format("'{}' is missing", key), map_.place,
                  fmt::format("add '{}: [...]'", key));
    KERNEVO_TRY(entries, list(*node, key));
    std::vector<std::string> result;
    for (const auto& [name, place] : entries) {
      if (std::find(known.begin(), known.end(), name) == known.end())
        return fail(
            ErrorCode::input,
            fmt::format("unknown name '{}' in '{}'{}", name, key, did_you_mean(name, known)), place,
            fmt::format("use one of {}", fmt::join(known, ", ")));
      result.push_back(name);
    }
    return result;
  }

  const YamlNode& map_;
  fs::path folder_;
  const std::vector<std::string>& directions_;
};

// The catalogue's own interface: a task that changed the arguments is another operation.
bool has_catalogue_arguments(const Task& task) {
  Task plain;
  plain.operation = task.operation;
  plain.dtype = task.dtype;
  plain.shapes = task.shapes;
  if (!complete_from_catalogue(plain))
    return false;
  const auto alike = [](const ArgumentSpec& a, const ArgumentSpec& b) {
    return a.name == b.name && a.direction == b.direction && a.dtype == b.dtype &&
           std::equal(
               a.shape.begin(), a.shape.end(), b.shape.begin(), b.shape.end(),
               [](const Expression& x, const Expression& y) { return x.text() == y.text(); });
  };
  return std::equal(task.arguments.begin(), task.arguments.end(), plain.arguments.begin(),
                    plain.arguments.end(), alike);
}

std::map<std::string, std::string> constant_sizes(const Task& task) {
  std::map<std::string, std::string> constants;
  for (const auto& [name, value] : sizes_in_common(task))
    constants["dim." + name] = std::to_string(value);
  return constants;
}

Result<TemplateContext> context_for(const Recipe& recipe, const Task& task) {
  KERNEVO_TRY(context, template_context(task.operation, task.dtype, recipe.name));
  context.values.merge(constant_sizes(task));
  return context;
}

// A size the template takes as a constant must be one: why it is not, or nothing.
Result<std::optional<std::string>> varying_constant(const Recipe& recipe, const Task& task) {
  KERNEVO_TRY(text, read_text_file(recipe.file));
  KERNEVO_TRY(context, context_for(recipe, task));
  // What is missing is seen by filling the template with something else in its place: only lines
  // that are kept count.
  std::map<std::string, std::string> missing;
  for (const OperationInfo& operation : operations())
    for (const DimensionSpec& dimension : operation.dimensions)
      if (const std::string key = "dim." + dimension.name; !context.values.contains(key))
        missing[key] = "\x01" + dimension.name + "\x01";
  context.values.merge(missing);
  KERNEVO_TRY(filled, expand_template(text, context, recipe.file));
  const std::size_t at = filled.find('\x01');
  if (at == std::string::npos)
    return std::optional<std::string>();
  return std::optional(fmt::format("{} is not the same in every shape",
                                   filled.substr(at + 1, filled.find('\x01', at + 1) - at - 1)));
}

} // namespace

Result<std::vector<Recipe>> parse_recipes(std::string_view text, const std::string& file,
                                          const std::vector<std::string>& directions) {
  KERNEVO_TRY(root, parse_yaml(text, file));
  KERNEVO_CHECK(expect_list(*root, "the recipes"));
  std::vector<Recipe> recipes;
  for (const auto& item : root->items) {
    KERNEVO_TRY(recipe, RecipeReader(*item, fs::path(file).parent_path(), directions).read());
    recipes.push_back(std::move(recipe));
  }
  return recipes;
}

Result<std::vector<Recipe>> load_recipes() {
  KERNEVO_TRY(share, share_folder());
  KERNEVO_TRY(directions, direction_names());
  std::vector<Recipe> recipes;
  std::error_code problem;
  for (const auto& folder : fs::directory_iterator(share / "playbook", problem)) {
    const fs::path file = folder.path() / "recipes.yaml";
    if (!fs::exists(file, problem))
      continue;
    KERNEVO_TRY(text, read_text_file(file));
    KERNEVO_TRY(found, parse_recipes(text, file.string(), directions));
    recipes.insert(recipes.end(), found.begin(), found.end());
  }
  if (problem)
    return fail(ErrorCode::infrastructure, "cannot be listed: " + problem.message(),
                Place{(share / "playbook").string()}, "install kernevo with its share folder");
  std::sort(recipes.begin(), recipes.end(),
            [](const Recipe& a, const Recipe& b) { return a.name < b.name; });
  const auto twice =
      std::adjacent_find(recipes.begin(), recipes.end(),
                         [](const Recipe& a, const Recipe& b) { return a.name == b.name; });
  if (twice != recipes.end())
    return fail(ErrorCode::input, fmt::format("two recipes are called '{}'", twice->name),
                twice->place, "rename one of them");
  return recipes;
}

Result<std::optional<std::string>> unfit(const Recipe& recipe, const Task& task, const Gpu& gpu) {
  using Reason = std::optional<std::string>;
  if (!recipe.operations.contains(task.operation))
    return Reason("it is for another operation");
  if (!has_catalogue_arguments(task))
    return Reason("the task has arguments of its own");
  if (!recipe.dtypes.empty() && !recipe.dtypes.contains(task.dtype))
    return Reason(fmt::format("it is not for {}", name_of(task.dtype)));
  if (!recipe.when)
    return varying_constant(recipe, task);
  for (const ShapeCase& shape : task.shapes) {
    Dims names = shape.dims;
    names["sm"] = gpu.compute_capability;
    names["element_bytes"] = static_cast<std::int64_t>(size_of(task.dtype));
    names["allow_tf32"] = task.allow_tf32 ? 1 : 0;
    KERNEVO_TRY(holds, recipe.when->evaluate(names));
    if (holds == 0)
      return Reason(fmt::format("{} does not hold for {}", recipe.when->text(), shape.id));
  }
  return varying_constant(recipe, task);
}

Result<std::string> expand_recipe(const Recipe& recipe, const Task& task) {
  KERNEVO_TRY(text, read_text_file(recipe.file));
  KERNEVO_TRY(context, context_for(recipe, task));
  return expand_template(text, context, recipe.file);
}

} // namespace kernevo::propose
