#include "source_tree.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <regex>
#include <sstream>

namespace kernevo::structure {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string without_comments(const std::string& cmake) {
  return std::regex_replace(cmake, std::regex("#[^\n]*"), "");
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

void read_includes(const fs::path& root, const fs::path& path, std::vector<Include>& includes) {
  static const std::regex pattern(R"re(^\s*#\s*include\s*["<]([^">]+)[">].*)re");
  std::ifstream file(path);
  std::string line;
  std::smatch match;
  for (int number = 1; std::getline(file, line); ++number)
    if (std::regex_match(line, match, pattern))
      includes.push_back({fs::relative(path, root).string(), number, match[1]});
}

// Targets a CMakeLists.txt makes, and all it names.
struct Targets {
  std::set<std::string> made;
  std::set<std::string> named;
};

Targets targets_of(const std::string& cmake) {
  Targets targets;
  const std::regex made(R"((kernevo_library|add_library|add_executable)\(\s*(\w+))");
  for (std::sregex_iterator at(cmake.begin(), cmake.end(), made), end; at != end; ++at)
    targets.made.insert((*at)[1] == "kernevo_library" ? "kernevo_" + (*at)[2].str()
                                                      : (*at)[2].str());
  const std::regex named(R"(\bkernevo_\w+)");
  for (std::sregex_iterator at(cmake.begin(), cmake.end(), named), end; at != end; ++at)
    targets.named.insert(at->str());
  return targets;
}

std::string folder_of(const std::string& path) {
  return path.substr(0, path.find('/'));
}

std::set<std::string> reached(const SourceTree& tree, const std::string& folder) {
  std::set<std::string> all;
  std::vector<std::string> open = {folder};
  while (!open.empty()) {
    const std::string at = open.back();
    open.pop_back();
    const auto links = tree.links.find(at);
    if (links == tree.links.end())
      continue;
    for (const std::string& next : links->second)
      if (all.insert(next).second)
        open.push_back(next);
  }
  return all;
}

} // namespace

SourceTree read_source_tree(const fs::path& root) {
  SourceTree tree;
  const std::string cmake = without_comments(read(root / "CMakeLists.txt"));
  std::smatch match;
  if (std::regex_search(cmake, match, std::regex(R"(foreach\(\s*folder\s+([^)]*)\))")))
    tree.order = words(match[1]);
  std::map<std::string, std::string> maker; // of a target
  std::map<std::string, Targets> targets;
  for (const std::string& folder : tree.order) {
    targets[folder] = targets_of(without_comments(read(root / folder / "CMakeLists.txt")));
    for (const std::string& target : targets[folder].made)
      maker[target] = folder;
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
      if (entry.path().extension() == ".h" || entry.path().extension() == ".cpp")
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files)
      read_includes(root, file, tree.includes);
  }
  for (const auto& [folder, all] : targets)
    for (const std::string& target : all.named)
      if (const auto found = maker.find(target); found != maker.end() && found->second != folder)
        tree.links[folder].insert(found->second);
  return tree;
}

std::vector<std::string> folders_of_page(const std::string& text, const std::string& section) {
  std::vector<std::string> folders;
  const auto start = text.find("## " + section);
  if (start == std::string::npos)
    return folders;
  const std::string part = text.substr(start, text.find("\n## ", start + 1) - start);
  const std::regex point("\n- `(\\w+)/`");
  for (std::sregex_iterator at(part.begin(), part.end(), point), end; at != end; ++at)
    folders.push_back((*at)[1]);
  return folders;
}

std::vector<std::string> broken_order(const SourceTree& tree) {
  std::vector<std::string> broken;
  const auto place = [&](const std::string& folder) {
    return std::find(tree.order.begin(), tree.order.end(), folder) - tree.order.begin();
  };
  const auto count = static_cast<std::ptrdiff_t>(tree.order.size());
  for (const auto& [folder, links] : tree.links)
    for (const std::string& other : links)
      if (place(other) > place(folder))
        broken.push_back(fmt::format("{} links {}, which stands below it", folder, other));
  for (const Include& include : tree.includes) {
    if (!include.header.starts_with("kernevo/"))
      continue;
    const std::string folder = folder_of(include.file);
    const std::string other = folder_of(include.header.substr(std::string("kernevo/").size()));
    if (other == folder)
      continue;
    const std::string what =
        fmt::format("{}:{} includes {}", include.file, include.line, include.header);
    if (place(other) == count)
      broken.push_back(what + ", of no folder in the list");
    else if (place(other) > place(folder))
      broken.push_back(fmt::format("{}, but {} stands below {}", what, other, folder));
    else if (!reached(tree, folder).contains(other))
      broken.push_back(fmt::format("{}, but {} does not link {}", what, folder, other));
  }
  return broken;
}

std::vector<std::string> broken_doors(const SourceTree& tree, const std::vector<Door>& doors) {
  std::vector<std::string> broken;
  for (const Include& include : tree.includes)
    for (const Door& door : doors)
      if (include.header.starts_with(door.header) &&
          std::none_of(door.open.begin(), door.open.end(), [&](const std::string& open) {
            return include.file.starts_with(open) || include.file.ends_with(open);
          }))
        broken.push_back(fmt::format("{}:{} includes {}, which is not for it", include.file,
                                     include.line, include.header));
  return broken;
}

} // namespace kernevo::structure
