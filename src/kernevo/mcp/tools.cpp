#include "kernevo/mcp/tools.h"

#include "kernevo/model/json_fields.h"

#include <algorithm>

namespace kernevo::mcp {
namespace {

ToolArgument task_argument() {
  ToolArgument task;
  task.name = "task";
  task.description = "Path of the task file (YAML): the operation, its shapes and the GPU";
  task.required = true;
  task.task = true;
  task.endings = {".yaml", ".yml", ".json"};
  return task;
}

ToolArgument kernel_argument(std::string name, std::string text_name, const std::string& which) {
  ToolArgument kernel;
  kernel.name = std::move(name);
  kernel.kind = ArgumentKind::file;
  kernel.description = "Path of " + which + " (CUDA device code with // @ directives)";
  kernel.required = true;
  kernel.text_name = std::move(text_name);
  return kernel;
}

ToolArgument gpu_argument() {
  return {"gpu", ArgumentKind::text, "--gpu",
          "GPU to judge for, such as A100 or H100, instead of the task's"};
}

ToolArgument parameters_argument(std::string name = "parameters", std::string option = "--param",
                                 const std::string& of = "") {
  return {std::move(name), ArgumentKind::parameters, std::move(option),
          "Values of @tune parameters" + of +
              ", such as {\"BLOCK\": 256}; others keep their "
              "default"};
}

ToolArgument shapes_argument() {
  return {"shapes", ArgumentKind::texts, "--case",
          "Only these shapes of the task, by id, such as 512x1024"};
}

ToolArgument bounded(ToolArgument argument, double least, double most) {
  argument.least = least;
  argument.most = most;
  return argument;
}

ToolArgument count(std::string name, std::string option, std::string description) {
  return bounded(
      {std::move(name), ArgumentKind::integer, std::move(option), std::move(description)}, 1, 1e9);
}

ToolArgument run_argument() {
  ToolArgument run{"run", ArgumentKind::text, "", "Name or folder of a run, as `ask` gave it"};
  run.required = true;
  return run;
}

Tool check_tool() {
  return {"check",
          "check",
          {"--blind"},
          "Is this kernel right? Compiles it and runs it on a virtual GPU with every sanitizer "
          "(bounds, races, uninitialised memory, barriers) against an exact oracle, on shapes you "
          "see and on shapes you do not. Use it after every edit, before asking for times. "
          "`correct` says yes or no; `diagnosis` says what is wrong and where.",
          {task_argument(),
           kernel_argument("kernel", "source", "the kernel file"),
           gpu_argument(),
           parameters_argument(),
           {"small_only", ArgumentKind::flag, "--small-only",
            "Stop after small shapes: quicker, for a first look"}}};
}

Tool bench_tool() {
  return {"bench",
          "bench",
          {"--blind"},
          "How fast is this kernel? Checks it on small shapes, then predicts its time on the "
          "task's shapes, with what bounds it. `objective_ns` is the figure to bring down. Times "
          "are modelled: no GPU is used.",
          {task_argument(), kernel_argument("kernel", "source", "the kernel file"), gpu_argument(),
           parameters_argument(), shapes_argument()}};
}

Tool profile_tool() {
  return {"profile",
          "profile",
          {"--blind"},
          "Why does this kernel take as long as it does? Counters, place under the roofline, "
          "ranked bottlenecks with directions to try, and the source lines behind them. Use it "
          "before you decide what to change.",
          {task_argument(), kernel_argument("kernel", "source", "the kernel file"), gpu_argument(),
           parameters_argument(), shapes_argument()}};
}

Tool compare_tool() {
  return {"compare",
          "compare",
          {"--blind"},
          "Is kernel B faster than kernel A, and is the difference real? Checks both, then "
          "compares predicted times, counters and builds. Use it to decide whether a change is "
          "kept: `overall.standing` is faster, slower, same or ambiguous, of B against A.",
          {task_argument(), kernel_argument("a", "a_source", "kernel file A, the incumbent"),
           kernel_argument("b", "b_source", "kernel file B, the candidate"), gpu_argument(),
           parameters_argument("parameters", "--param", " of both"),
           parameters_argument("a_parameters", "--param-a", " of A"),
           parameters_argument("b_parameters", "--param-b", " of B"), shapes_argument()},
          1200};
}

Tool tune_tool() {
  ToolArgument seconds = bounded(
      {"seconds", ArgumentKind::number, "--seconds", "Begin nothing new after so many seconds"},
      0.1, kLongest);
  ToolArgument seed =
      bounded({"seed", ArgumentKind::integer, "--seed", "Seed of the search"}, 0, 9e15);
  ToolArgument write{"write", ArgumentKind::text, "--write",
                     "Write a copy of the kernel with the best values as its defaults to this new "
                     "file (.cu)"};
  write.endings = {".cu"};
  return {"tune",
          "tune",
          {"--blind"},
          "Which values of its @tune parameters make this kernel fastest? Searches under a budget "
          "and checks every new best. Use it when a kernel is right and has parameters. Asked "
          "again, it goes on from what it knows.",
          {task_argument(),
           kernel_argument("kernel", "source", "a kernel file with @tune lines"),
           gpu_argument(),
           count("evaluations", "--evaluations", "Try so many configurations (default: 100)"),
           seconds,
           {"strategy", ArgumentKind::text, "--strategy", "Name of the search strategy"},
           seed,
           write},
          3600,
          {},
          true};
}

Tool ask_tool() {
  ToolArgument run = run_argument();
  run.description = "Name or folder of a run: what is wanted next";
  run.required = false;
  ToolArgument task = task_argument();
  task.description = "Path of a task file: starts a new run. Give this or `run`";
  task.required = false;
  ToolArgument seconds = bounded(
      {"seconds", ArgumentKind::number, "--seconds", "Budget of a new run, in seconds"}, 0.1, 1e9);
  return {"ask",
          "ask",
          {},
          "What should be tried next? With `task` it starts a run, with `run` it asks again. The "
          "answer holds the kernel to start from (`parent`), what to try and why (`request`, "
          "`directive`), the best so far and the budget left. Write a kernel that follows it and "
          "give it to `tell`. `over` true: the run has ended.",
          {task,
           run,
           {"name", ArgumentKind::text, "--name", "Name of a new run"},
           {"out", ArgumentKind::text, "--out", "Folder of a new run"},
           gpu_argument(),
           count("evaluations", "--evaluations", "Budget of a new run: kernels timed"),
           count("rounds", "--rounds", "Budget of a new run: steps taken (default: 20)"),
           seconds,
           bounded({"repairs", ArgumentKind::integer, "--repairs",
                    "Of a new run: tries to mend a faulty kernel"},
                   0, 20),
           {"guide", ArgumentKind::flag, "--guide",
            "Also the task, the GPU and the kernel-file format; ask for it once, at the "
            "beginning"}},
          3600,
          {"task", "run"},
          true};
}

Tool tell_tool() {
  ToolArgument step = bounded(
      {"step", ArgumentKind::integer, "--step", "The step this kernel answers, as `ask` gave it"},
      0, 1e15);
  return {"tell",
          "tell",
          {},
          "Hands in a kernel for what `ask` wanted: it is checked, tuned and timed, and the answer "
          "says whether it is the new best, not better, or wrong with a diagnosis. While `open` "
          "is true, mend the kernel and tell the same step again; then `ask` for the next.",
          {run_argument(),
           kernel_argument("kernel", "source", "the kernel file"),
           step,
           {"title", ArgumentKind::text, "--title", "What it does differently, one line"}},
          3600,
          {},
          true};
}

Tool best_tool() {
  ToolArgument form{"as", ArgumentKind::text, "--as",
                    "json (default): everything about it; kernel: the kernel file with its best "
                    "parameters; cu: a program that runs it; torch: a PyTorch module"};
  form.choices = {"json", "kernel", "cu", "torch"};
  return {"best",
          "extract",
          {"--blind"},
          "The best kernel of a run, with the evidence for it. Use it when `ask` says that the run "
          "is over, or at any time before.",
          {run_argument(), form,
           bounded({"step", ArgumentKind::integer, "--iteration",
                    "What this step came to instead of the best; 0 is the reference"},
                   0, 1e15)}};
}

Json schema_of(const ToolArgument& argument) {
  Json schema;
  switch (argument.kind) {
  case ArgumentKind::text:
  case ArgumentKind::file: schema["type"] = "string"; break;
  case ArgumentKind::integer: schema["type"] = "integer"; break;
  case ArgumentKind::number: schema["type"] = "number"; break;
  case ArgumentKind::flag: schema["type"] = "boolean"; break;
  case ArgumentKind::texts:
    schema["type"] = "array";
    schema["items"] = {{"type", "string"}};
    break;
  case ArgumentKind::parameters:
    schema["type"] = "object";
    schema["additionalProperties"] = {{"type", "integer"}};
    break;
  }
  schema["description"] = argument.description;
  if (argument.least)
    schema["minimum"] = *argument.least;
  if (argument.most)
    schema["maximum"] = *argument.most;
  if (!argument.choices.empty())
    schema["enum"] = argument.choices;
  return schema;
}

} // namespace

const std::vector<Tool>& tools() {
  static const std::vector<Tool> all = {check_tool(), bench_tool(), profile_tool(), compare_tool(),
                                        tune_tool(),  ask_tool(),   tell_tool(),    best_tool()};
  return all;
}

const Tool* find_tool(std::string_view name) {
  const auto found = std::find_if(tools().begin(), tools().end(),
                                  [&](const Tool& tool) { return tool.name == name; });
  return found == tools().end() ? nullptr : &*found;
}

Json describe_tool(const Tool& tool, bool has_task) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const ToolArgument& argument : tool.arguments) {
    Json schema = schema_of(argument);
    if (!argument.text_name.empty()) {
      schema["description"] =
          argument.description + "; give this or `" + argument.text_name + "`, not both";
      properties[argument.text_name] = {
          {"type", "string"},
          {"description", "The text of that file instead of `" + argument.name + "`"}};
    } else if (argument.task && has_task && tool.either.empty()) {
      schema["description"] = argument.description + " (default: the server's)";
    } else if (argument.required) {
      required.push_back(argument.name);
    }
    properties[argument.name] = std::move(schema);
  }
  properties[std::string(kTimeLimit)] = {{"type", "number"},
                                         {"description", "End it after so many seconds"},
                                         {"minimum", 0.1},
                                         {"maximum", kLongest},
                                         {"default", tool.seconds}};
  return {
      {"name", tool.name},
      {"description", tool.description},
      {"inputSchema",
       {{"type", "object"},
        {"properties", std::move(properties)},
        {"required", std::move(required)},
        {"additionalProperties", false}}},
      {"annotations",
       {{"readOnlyHint", !tool.changes}, {"destructiveHint", false}, {"openWorldHint", false}}}};
}

} // namespace kernevo::mcp
