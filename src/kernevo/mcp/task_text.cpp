#include "kernevo/mcp/task_text.h"

#include "kernevo/base/files.h"
#include "kernevo/task/yaml_tree.h"

#include <algorithm>
#include <cstddef>

namespace kernevo::mcp {
namespace {

constexpr std::string_view kSecret = "check_shapes";

// Where a line and a column, both from 1, stand in the text.
std::size_t offset_of(std::string_view text, const Place& place) {
  std::size_t at = 0;
  for (int line = 1; line < place.line && at < text.size(); ++line) {
    const std::size_t end = text.find('\n', at);
    at = end == std::string_view::npos ? text.size() : end + 1;
  }
  return std::min(text.size(), at + static_cast<std::size_t>(std::max(0, place.column - 1)));
}

} // namespace

Result<std::string> visible_task_text(std::string_view text, const std::string& file) {
  KERNEVO_TRY(root, parse_yaml(text, file));
  if (root->kind != YamlNode::Kind::map)
    return fail(ErrorCode::input, "is not a task file", Place{file});
  std::string visible(text);
  // From the last key to the first, so that places before it stay what they are. What stands
  // between the key and the next one goes with it, comments included.
  for (std::size_t i = root->entries.size(); i-- > 0;) {
    if (root->entries[i].first->text != kSecret)
      continue;
    const std::size_t begin = offset_of(text, root->entries[i].first->place);
    const bool last = i + 1 == root->entries.size();
    const std::size_t end = last ? text.size() : offset_of(text, root->entries[i + 1].first->place);
    visible.erase(begin, end - begin);
    if (last && root->place.line == 1 && text.starts_with('{'))
      visible += "}\n";
  }
  return visible;
}

Result<std::string> read_visible_task(const std::filesystem::path& file) {
  KERNEVO_TRY(text, read_text_file(file, 1U << 20U));
  return visible_task_text(text, file.string());
}

} // namespace kernevo::mcp
