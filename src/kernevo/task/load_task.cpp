#include "kernevo/task/load_task.h"

#include "kernevo/base/files.h"
#include "kernevo/base/suggest.h"
#include "kernevo/hardware/gpu_table.h"
#include "kernevo/model/gpu.h"
#include "kernevo/task/feasibility.h"
#include "kernevo/task/load_parts.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kernevo {
namespace {

constexpr std::size_t kLargestFile = 1U << 20U;

const std::vector<std::string> kKeys = {"name",
                                        "op_name",
                                        "operation",
                                        "op_semantics",
                                        "semantics",
                                        "dtype",
                                        "dims",
                                        "shapes",
                                        "shape_cases",
                                        "check_shapes",
                                        "target_gpu",
                                        "gpu",
                                        "tolerance",
                                        "allow_tf32",
                                        "objective",
                                        "target_us",
                                        "target_perf_us",
                                        "target_metric_value",
                                        "baseline_perf_us",
                                        "max_rounds",
                                        "budget",
                                        "arguments",
                                        "scalars",
                                        "launch",
                                        "oracle",
                                        "work",
                                        "reference_kernel"};

// The error with this place, when it has none of its own.
template <class T> Result<T> at(Result<T> result, const Place& place) {
  if (!result && !result.error().place)
    result.error().place = place;
  return result;
}

class TaskReader {
public:
  TaskReader(const YamlNode& root, std::string path, const std::string* reference)
      : root_(root), path_(std::move(path)), reference_(reference) {}

  Result<LoadedTask> read() {
    KERNEVO_CHECK(expect_map(root_, "a task"));
    KERNEVO_CHECK(read_operation());
    KERNEVO_CHECK(read_basics());
    KERNEVO_CHECK(read_goal(root_, task_, loaded_.warnings));
    KERNEVO_CHECK(read_all_shapes());
    if (const YamlNode* reference = root_.find("reference_kernel"))
      KERNEVO_CHECK(take_reference(*reference));
    KERNEVO_CHECK(read_oracle());
    KERNEVO_CHECK(operation_ != nullptr ? read_catalogue_parts() : read_custom_parts());
    KERNEVO_CHECK(check_problems());
    if (const auto warning = target_warning(task_, gpu_))
      loaded_.warnings.push_back(*warning);
    return std::move(loaded_);
  }

private:
  tl::unexpected<Error> missing(const std::string& key, const std::string& fix) const {
    return fail(ErrorCode::input, fmt::format("the task has no {}", key), root_.place, fix);
  }

  Result<void> take_reference(const YamlNode& node) {
    if (reference_ == nullptr)
      return read_reference(node, path_, task_);
    task_.reference_kernel = *reference_;
    task_.reference_place = node.place;
    return {};
  }

  Result<void> read_operation() {
    KERNEVO_TRY(node, find_one(root_, {"op_name", "operation"}));
    if (node == nullptr) {
      KERNEVO_CHECK(check_keys(root_, kKeys, "the task"));
      return missing("op_name", "add 'op_name: matmul'");
    }
    KERNEVO_TRY(name, read_text(*node, "op_name"));
    operation_ = find_table_row(name);
    operation_place_ = node->place;
    operation_name_ = excerpt(name);
    task_.operation = operation_ != nullptr ? operation_->info.name : "custom";
    std::vector<std::string> keys = kKeys;
    if (operation_ != nullptr) {
      for (const DimensionSpec& dimension : operation_->info.dimensions)
        if (dimension.attribute)
          keys.push_back(dimension.name);
      for (const ScalarSpec& scalar : operation_->scalars)
        keys.push_back(scalar.name);
    }
    KERNEVO_CHECK(check_keys(root_, keys, "the task"));
    if (operation_ != nullptr)
      return {};
    std::vector<std::string> lacking;
    for (const char* key : {"arguments", "reference_kernel", "launch"})
      if (root_.find(key) == nullptr)
        lacking.emplace_back(key);
    if (lacking.empty())
      return {};
    std::vector<std::string> names;
    for (const Operation& op : operation_table()) {
      names.push_back(op.info.name);
      names.insert(names.end(), op.info.aliases.begin(), op.info.aliases.end());
    }
    return fail(ErrorCode::input,
                fmt::format("operation '{}' is not in the catalogue{}", operation_name_,
                            did_you_mean(operation_name_, names)),
                node->place,
                fmt::format("an operation of your own needs arguments, reference_kernel and "
                            "launch; missing: {}",
                            fmt::join(lacking, ", ")));
  }

  Result<void> read_basics() {
    task_.file = path_;
    task_.name = std::filesystem::path(path_).stem().string();
    if (const YamlNode* node = root_.find("name")) {
      KERNEVO_TRY(name, read_text(*node, "name"));
      task_.name = excerpt(name);
    }
    KERNEVO_TRY(semantics, find_one(root_, {"op_semantics", "semantics"}));
    if (semantics != nullptr) {
      KERNEVO_TRY(text, read_text(*semantics, "op_semantics"));
      task_.semantics = text;
    }
    const YamlNode* dtype = root_.find("dtype");
    if (dtype == nullptr)
      return missing("dtype", "add 'dtype: float32'");
    dtype_place_ = dtype->place;
    KERNEVO_TRY(value, read_dtype(*dtype, "dtype"));
    task_.dtype = value;
    KERNEVO_TRY(gpu, find_one(root_, {"target_gpu", "gpu"}));
    if (gpu != nullptr) {
      KERNEVO_TRY(name, read_text(*gpu, "target_gpu"));
      task_.target_gpu = excerpt(name);
    }
    KERNEVO_TRY(found, at(find_gpu(task_.target_gpu), gpu != nullptr ? gpu->place : root_.place));
    gpu_ = found;
    task_.target_gpu = gpu_.name;
    if (const YamlNode* node = root_.find("tolerance")) {
      KERNEVO_TRY(tolerance, read_number(*node, {"tolerance", "", 0.0, 1.0, true}));
      task_.tolerance = tolerance;
    }
    if (const YamlNode* node = root_.find("allow_tf32")) {
      KERNEVO_TRY(flag, read_flag(*node, "allow_tf32"));
      task_.allow_tf32 = flag;
    }
    return {};
  }

  Result<ShapeGrammar> read_grammar() {
    ShapeGrammar grammar;
    grammar.operation = operation_;
    const YamlNode* dims = root_.find("dims");
    if (operation_ == nullptr) {
      if (dims == nullptr)
        return grammar;
      KERNEVO_TRY(list, expect_list(*dims, "dims"));
      for (const auto& item : list->items) {
        KERNEVO_TRY(name, read_text(*item, "dims"));
        if (!is_identifier(name))
          return fail(ErrorCode::input, fmt::format("'{}' cannot name a size", excerpt(name)),
                      item->place, "use letters, digits and '_'");
        if (std::find(grammar.names.begin(), grammar.names.end(), name) != grammar.names.end())
          return fail(ErrorCode::input, fmt::format("size '{}' is named twice", name), item->place,
                      "remove one");
        grammar.names.push_back(name);
      }
      return grammar;
    }
    if (dims != nullptr)
      return fail(
          ErrorCode::input, fmt::format("{} names its sizes itself", task_.operation), dims->place,
          fmt::format("remove 'dims'; the order is {}", fmt::join(size_names(*operation_), ", ")));
    grammar.names = size_names(*operation_);
    for (const DimensionSpec& dimension : operation_->info.dimensions) {
      if (!dimension.attribute)
        continue;
      std::int64_t value = dimension.fallback;
      if (const YamlNode* node = root_.find(dimension.name)) {
        if (dimension.name == "causal" && node->kind == YamlNode::Kind::scalar) {
          KERNEVO_TRY(flag, read_flag(*node, "causal"));
          value = flag ? 1 : 0;
        } else {
          KERNEVO_TRY(number,
                      read_integer(*node, dimension.name, operation_->any_rank ? -16 : 0, 1 << 20));
          value = number;
        }
      }
      if (operation_->any_rank)
        grammar.axis = value;
      else
        grammar.attributes[dimension.name] = value;
    }
    return grammar;
  }

  Result<void> read_all_shapes() {
    KERNEVO_TRY(grammar, read_grammar());
    KERNEVO_TRY(node, find_one(root_, {"shapes", "shape_cases"}));
    if (node == nullptr)
      return missing("shapes", grammar.names.empty()
                                   ? "add 'shapes: [{N: 1024}]'"
                                   : fmt::format("add 'shapes: [[{}]]' with numbers",
                                                 fmt::join(grammar.names, ", ")));
    KERNEVO_TRY(shapes, read_shapes(*node, "shapes", grammar));
    if (shapes.empty())
      return fail(ErrorCode::input, "shapes is empty", node->place, "give at least one");
    KERNEVO_CHECK(take_shapes(shapes, task_.shapes));
    if (root_.find("shape_cases") != nullptr &&
        std::none_of(shapes.begin(), shapes.end(),
                     [](const PlacedShape& placed) { return placed.shape.profile; }))
      loaded_.warnings.emplace_back("no shape case asks for a profile; the first one is profiled");
    if (const YamlNode* checks = root_.find("check_shapes")) {
      KERNEVO_TRY(hidden, read_shapes(*checks, "check_shapes", grammar));
      KERNEVO_CHECK(take_shapes(hidden, task_.check_shapes));
      task_.check_shapes_given = true;
    }
    return {};
  }

  Result<void> take_shapes(const std::vector<PlacedShape>& shapes, std::vector<ShapeCase>& into) {
    for (const PlacedShape& placed : shapes) {
      ShapeCase shape = placed.shape;
      if (operation_ != nullptr)
        KERNEVO_CHECK(at(derive_dims(*operation_, shape.dims), placed.place));
      if (dimensions_.empty())
        for (const auto& [name, value] : shape.dims)
          dimensions_.push_back(name);
      for (const auto& [name, value] : shape.dims)
        if (std::find(dimensions_.begin(), dimensions_.end(), name) == dimensions_.end())
          return fail(ErrorCode::input, fmt::format("the first shape has no '{}'", name),
                      placed.place, "all shapes need the same names");
      if (shape.dims.size() != dimensions_.size())
        return fail(ErrorCode::input,
                    fmt::format("a shape without all of {}", fmt::join(dimensions_, ", ")),
                    placed.place, "all shapes need the same names");
      into.push_back(std::move(shape));
      (&into == &task_.shapes ? shape_places_ : check_places_).push_back(placed.place);
    }
    return {};
  }

  Result<void> read_oracle() {
    const YamlNode* node = root_.find("oracle");
    task_.oracle = operation_ != nullptr ? OracleKind::catalogue : OracleKind::reference_kernel;
    if (node == nullptr)
      return {};
    KERNEVO_TRY(choice, read_choice(*node, "oracle", {"catalogue", "reference"}));
    if (choice == "catalogue" && operation_ == nullptr)
      return fail(ErrorCode::input,
                  fmt::format("'{}' has no oracle in the catalogue", operation_name_), node->place,
                  "use 'oracle: reference'");
    if (choice == "reference") {
      if (task_.reference_kernel.empty())
        return fail(ErrorCode::input, "oracle: reference needs a reference_kernel", node->place,
                    "add one, or use 'oracle: catalogue'");
      task_.oracle = OracleKind::reference_kernel;
    }
    return {};
  }

  Result<void> read_launch_and_work() {
    if (const YamlNode* node = root_.find("launch")) {
      KERNEVO_TRY(text, read_text(*node, "launch"));
      std::string launch = text;
      while (!launch.empty() && (launch.back() == '\n' || launch.back() == ' '))
        launch.pop_back();
      if (launch.starts_with("@launch"))
        launch.erase(0, launch.find_first_not_of(' ', 7));
      const auto open = launch.find("<<<");
      const auto close = launch.find(">>>");
      if (open == std::string::npos || close == std::string::npos || close < open ||
          launch.find('(', close) == std::string::npos || launch.find('\n') != std::string::npos)
        return fail(ErrorCode::input, fmt::format("launch '{}' is not a launch", excerpt(launch)),
                    node->place, "write 'kernel<<<grid, block>>>(A, B, N)' on one line");
      task_.default_launch = launch;
    }
    const YamlNode* work = root_.find("work");
    if (work == nullptr)
      return {};
    KERNEVO_CHECK(expect_map(*work, "work"));
    KERNEVO_CHECK(check_keys(*work, {"flops", "bytes"}, "work"));
    if (const YamlNode* node = work->find("flops")) {
      KERNEVO_TRY(flops, read_expression(*node, "flops", dimensions_));
      task_.work.flops = flops;
    }
    if (const YamlNode* node = work->find("bytes")) {
      KERNEVO_TRY(bytes, read_expression(*node, "bytes", dimensions_));
      task_.work.bytes = bytes;
    }
    return {};
  }

  Result<void> read_catalogue_parts() {
    KERNEVO_CHECK(read_launch_and_work());
    KERNEVO_CHECK(at(complete_from_catalogue(task_), dtype_place_));
    if (const YamlNode* node = root_.find("arguments"))
      KERNEVO_CHECK(override_arguments(*node, task_.arguments));
    if (const YamlNode* node = root_.find("scalars")) {
      KERNEVO_TRY(given, read_scalars(*node, task_.dtype));
      for (const ScalarSpec& scalar : given)
        KERNEVO_CHECK(set_scalar(scalar.name, scalar.value, node->place));
    }
    for (const ScalarSpec& scalar : operation_->scalars)
      if (const YamlNode* node = root_.find(scalar.name)) {
        KERNEVO_TRY(value, read_number(*node, {scalar.name, "", -1e30, 1e30}));
        KERNEVO_CHECK(set_scalar(scalar.name, value, node->place));
      }
    return {};
  }

  Result<void> set_scalar(const std::string& name, double value, const Place& place) {
    std::vector<std::string> names;
    for (ScalarSpec& scalar : task_.scalars) {
      names.push_back(scalar.name);
      if (scalar.name != name)
        continue;
      if (name == "eps" && value <= 0)
        return fail(ErrorCode::input, fmt::format("eps is {}", value), place,
                    "it must be greater than 0");
      scalar.value = value;
      return {};
    }
    return fail(
        ErrorCode::input, fmt::format("{} has no scalar '{}'", task_.operation, name), place,
        names.empty() ? "remove it" : fmt::format("its scalars are {}", fmt::join(names, ", ")));
  }

  Result<void> read_custom_parts() {
    KERNEVO_CHECK(read_launch_and_work());
    const YamlNode* arguments = root_.find("arguments");
    KERNEVO_TRY(read, read_arguments(*arguments, task_.dtype, dimensions_));
    task_.arguments = read;
    if (const YamlNode* node = root_.find("scalars")) {
      KERNEVO_TRY(scalars, read_scalars(*node, task_.dtype));
      for (const ScalarSpec& scalar : scalars)
        if (is_taken(scalar.name))
          return fail(ErrorCode::input, fmt::format("'{}' names two things", scalar.name),
                      node->place, "every scalar, argument and dimension needs a name of its own");
      task_.scalars = scalars;
    }
    return check_used_dimensions();
  }

  bool is_taken(const std::string& name) const {
    return std::find(dimensions_.begin(), dimensions_.end(), name) != dimensions_.end() ||
           std::any_of(task_.arguments.begin(), task_.arguments.end(),
                       [&](const ArgumentSpec& argument) { return argument.name == name; });
  }

  Result<void> check_used_dimensions() const {
    std::vector<std::string> used;
    for (const ArgumentSpec& argument : task_.arguments)
      for (const Expression& extent : argument.shape)
        for (const std::string& name : extent.names())
          used.push_back(name);
    for (const std::string& name : dimensions_)
      if (std::find(used.begin(), used.end(), name) == used.end() && !launch_mentions(name))
        return fail(ErrorCode::input,
                    fmt::format("no argument and no launch uses dimension '{}'", name),
                    shape_places_.front(), "remove it from the shapes, or use it");
    return {};
  }

  bool launch_mentions(const std::string& name) const {
    const std::string& text = task_.default_launch;
    const auto part_of_name = [&](std::size_t i) {
      return i < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_');
    };
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
      if ((at == 0 || !part_of_name(at - 1)) && !part_of_name(at + name.size()))
        return true;
    return false;
  }

  Result<void> check_problems() const {
    for (std::size_t i = 0; i < task_.shapes.size(); ++i)
      KERNEVO_CHECK(check_problem(task_.shapes[i], shape_places_[i]));
    for (std::size_t i = 0; i < check_places_.size(); ++i)
      KERNEVO_CHECK(check_problem(task_.check_shapes[i], check_places_[i]));
    return {};
  }

  Result<void> check_problem(const ShapeCase& shape, const Place& place) const {
    auto problem = make_problem(task_, shape);
    if (!problem) {
      // A catalogue expression has no line of its own: the shape is what the user wrote.
      if (!problem.error().place || problem.error().place->file.empty())
        problem.error().place = place;
      return tl::unexpected<Error>(problem.error());
    }
    for (const auto* work : {&task_.work.flops, &task_.work.bytes})
      if (*work) {
        const auto value = (*work)->evaluate(shape.dims);
        if (value && *value >= 0)
          continue;
        return fail(ErrorCode::input,
                    value ? fmt::format("work of shape '{}' is negative", shape.id)
                          : fmt::format("work of shape '{}': {}", shape.id, value.error().message),
                    place, "use a smaller shape, or another expression");
      }
    return {};
  }

  const YamlNode& root_;
  std::string path_;
  const std::string* reference_ = nullptr; // known already
  LoadedTask loaded_;
  Task& task_ = loaded_.task;
  const Operation* operation_ = nullptr;
  std::string operation_name_;
  Place operation_place_;
  Place dtype_place_;
  Gpu gpu_;
  std::vector<std::string> dimensions_;
  std::vector<Place> shape_places_;
  std::vector<Place> check_places_;
};

} // namespace

Result<LoadedTask> parse_task(std::string_view text, const std::string& path,
                              const std::string* reference) {
  if (text.size() > kLargestFile)
    return fail(ErrorCode::input, fmt::format("is {} bytes long", text.size()), Place{path},
                "a task file may have 1 MiB; keep the kernel in a .cu file beside it");
  KERNEVO_TRY(root, parse_yaml(text, path));
  return TaskReader(*root, path, reference).read();
}

Result<LoadedTask> load_task(const std::string& path) {
  if (path.ends_with(".py"))
    return fail(ErrorCode::unsupported, "Python tasks are not supported", Place{path},
                "give a YAML task file");
  KERNEVO_TRY(text, read_text_file(path, kLargestFile));
  return parse_task(text, path);
}

} // namespace kernevo
