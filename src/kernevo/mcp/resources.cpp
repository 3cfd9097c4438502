#include "kernevo/mcp/resources.h"

#include "kernevo/base/files.h"
#include "kernevo/evaluate/visible.h"
#include "kernevo/model/json_fields.h"

#include <array>
#include <charconv>

namespace kernevo::mcp {
namespace {

constexpr std::string_view kTask = "kernevo://task";
constexpr const char* kMarkdown = "text/markdown";
constexpr const char* kYaml = "application/yaml";
constexpr std::size_t kLargestTask = 1U << 20U;

struct Page {
  const char* address;
  const char* name;
  const char* file; // in share/agent
  const char* description;
};

constexpr std::array<Page, 2> kPages = {
    Page{"kernevo://guide", "guide", "SKILL.md",
         "How to find a faster kernel with these tools: the loop, the verdicts, the rules"},
    Page{"kernevo://kernel-format", "kernel-format", "kernel-format.md",
         "What a kernel file is: device code, directives, launches, parameters"}};

Json entry(std::string_view address, const char* name, const char* description, const char* type) {
  return {{"uri", address}, {"name", name}, {"description", description}, {"mimeType", type}};
}

// "%20" -> " ", as addresses write what may not stand in them.
Result<std::string> decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    unsigned code = 0;
    const char* begin = text.data() + i + 1;
    if (i + 2 >= text.size() || std::from_chars(begin, begin + 2, code, 16).ptr != begin + 2 ||
        code == 0)
      return fail(ErrorCode::input, "has a '%' that two hexadecimal digits do not follow");
    plain += static_cast<char>(code);
    i += 2;
  }
  return plain;
}

Result<Resource> read_task(const std::string& path) {
  KERNEVO_TRY(text, read_text_file(path, kLargestTask));
  KERNEVO_TRY(visible, visible_task_text(text, path, Audience::proposer));
  return Resource{kYaml, std::move(visible)};
}

} // namespace

Json list_resources(const std::string& task) {
  Json list = Json::array();
  for (const Page& page : kPages)
    list.push_back(entry(page.address, page.name, page.description, kMarkdown));
  if (!task.empty())
    list.push_back(entry(kTask, "task", "The task kernels are written for", kYaml));
  return list;
}

Json list_resource_templates() {
  return Json::array({{{"uriTemplate", "kernevo://task/{+path}"},
                       {"name", "task file"},
                       {"description", "A task file, by its path; of an absolute one the path "
                                       "begins with a slash of its own: kernevo://task//home/..."},
                       {"mimeType", kYaml}}});
}

Result<Resource> read_resource(const std::string& address, const std::string& task) {
  for (const Page& page : kPages) {
    if (address != page.address)
      continue;
    KERNEVO_TRY(share, share_folder());
    KERNEVO_TRY(text, read_text_file(share / "agent" / page.file));
    return Resource{kMarkdown, std::move(text)};
  }
  if (address == kTask && !task.empty())
    return read_task(task);
  if (address.starts_with(fmt::format("{}/", kTask)) && address.size() > kTask.size() + 1) {
    KERNEVO_TRY(path, decoded(std::string_view(address).substr(kTask.size() + 1)));
    return read_task(path);
  }
  return fail(ErrorCode::input, fmt::format("there is no resource '{}'", address));
}

} // namespace kernevo::mcp
