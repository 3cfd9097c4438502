// Any text must load as a task or be refused with an error, never crash; what loads must hold
// together: every shape, hidden and small ones included, makes a problem.
#include "kernevo/task/catalogue.h"
#include "kernevo/task/load_task.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Paths lead out of the fuzzer into the machine's files.
  if (text.find("file://") != std::string_view::npos)
    return 0;
  const auto loaded = kernevo::parse_task(text, "fuzz.yaml");
  if (!loaded) {
    if (loaded.error().message.empty() || !loaded.error().place)
      std::abort();
    return 0;
  }
  const kernevo::Task& task = loaded->task;
  for (const auto& shape : task.shapes)
    if (!kernevo::make_problem(task, shape))
      std::abort();
  for (const auto& shape : task.check_shapes)
    if (!kernevo::make_problem(task, shape))
      std::abort();
  for (const auto& shape : kernevo::small_shapes(task))
    if (!kernevo::make_problem(task, shape))
      std::abort();
  return 0;
}
