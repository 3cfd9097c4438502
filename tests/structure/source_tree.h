// What the folders of src/kernevo include and link, read from the files themselves.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace kernevo::structure {

struct Include {
  std::string file; // relative to the root, "task/inputs.cpp"
  int line = 0;
  std::string header; // as written, without brackets or quotes
};

struct SourceTree {
  std::vector<std::string> order; // of the folders, from the root's CMakeLists.txt
  std::vector<Include> includes;
  // By folder: the other folders its CMakeLists.txt links.
  std::map<std::string, std::set<std::string>> links;
};

// `root` is src/kernevo, or a folder made like it.
SourceTree read_source_tree(const std::filesystem::path& root);

// The folders named at the start of the points of a page's section, in order.
std::vector<std::string> folders_of_page(const std::string& text, const std::string& section);

// What breaks the order, one line each: who includes or links a folder below it or an unknown one,
// and who includes a folder without linking it, directly or through others.
std::vector<std::string> broken_order(const SourceTree& tree);

// A header that only some files may include.
struct Door {
  std::string header;            // the start of its name
  std::vector<std::string> open; // starts or ends of file names: "jit/", ".cpp"
};
std::vector<std::string> broken_doors(const SourceTree& tree, const std::vector<Door>& doors);

} // namespace kernevo::structure
