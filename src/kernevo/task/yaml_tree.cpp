#include "kernevo/task/yaml_tree.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <sstream>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

namespace kernevo {
namespace {

constexpr std::size_t kDeepest = 16;
constexpr std::size_t kMostNodes = 50'000;
constexpr std::size_t kMostKeys = 256; // of one map: looking for duplicates is quadratic

using Node = std::shared_ptr<YamlNode>;

class TreeBuilder : public YAML::EventHandler {
public:
  TreeBuilder(std::string file, std::string_view text) : file_(std::move(file)), text_(text) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    attach(make(mark, YamlNode::Kind::null), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end() || is_open(found->second))
      stop(mark, "alias to something that contains it", "remove the alias");
    count(mark);
    place_child(found->second, mark);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Node node = make(mark, YamlNode::Kind::scalar);
    node->text = value;
    node->plain = tag == "?";
    node->block = !node->plain && starts_block(mark);
    attach(node, anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, YamlNode::Kind::sequence, anchor);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, YamlNode::Kind::map, anchor);
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapEnd() override { open_.pop_back(); }

  const Node& root() const { return root_; }
  const std::optional<Error>& error() const { return error_; }
  Place place(const YAML::Mark& mark) const { return {file_, mark.line + 1, mark.column + 1}; }

private:
  struct Open {
    Node node;
    std::shared_ptr<const YamlNode> key; // waiting for its value
  };

  [[noreturn]] void stop(const YAML::Mark& mark, std::string message, std::string fix) {
    error_ = Error{ErrorCode::input, std::move(message), place(mark), std::move(fix)};
    throw YAML::ParserException(mark, "stopped"); // leaves yaml-cpp; parse_yaml reads error_
  }

  void count(const YAML::Mark& mark) {
    if (++nodes_ > kMostNodes)
      stop(mark, fmt::format("more than {} values", kMostNodes), "a task file is a short text");
  }

  Node make(const YAML::Mark& mark, YamlNode::Kind kind) {
    count(mark);
    auto node = std::make_shared<YamlNode>();
    node->kind = kind;
    node->place = place(mark);
    return node;
  }

  void open(const YAML::Mark& mark, YamlNode::Kind kind, YAML::anchor_t anchor) {
    if (open_.size() >= kDeepest)
      stop(mark, fmt::format("nested more than {} levels deep", kDeepest),
           "a task file needs no more than five");
    Node node = make(mark, kind);
    attach(node, anchor);
    open_.push_back({node, nullptr});
  }

  void attach(const Node& node, YAML::anchor_t anchor) {
    if (anchor != 0)
      anchors_[anchor] = node;
    place_child(node, {});
  }

  void place_child(const Node& node, std::optional<YAML::Mark> mark) {
    if (open_.empty()) {
      root_ = node;
      return;
    }
    Open& parent = open_.back();
    if (parent.node->kind == YamlNode::Kind::sequence) {
      parent.node->items.push_back(node);
    } else if (parent.key != nullptr) {
      parent.node->entries.emplace_back(std::move(parent.key), node);
      parent.key = nullptr;
    } else {
      add_key(parent, node, mark);
    }
  }

  void add_key(Open& parent, const Node& key, const std::optional<YAML::Mark>& mark) {
    YAML::Mark at = mark.value_or(YAML::Mark::null_mark());
    if (!mark) {
      at.line = key->place.line - 1;
      at.column = key->place.column - 1;
    }
    if (key->kind != YamlNode::Kind::scalar)
      stop(at, fmt::format("a key must be a word, not {}", describe(*key)), "write 'key: value'");
    if (parent.node->entries.size() >= kMostKeys)
      stop(at, fmt::format("more than {} keys in one map", kMostKeys), "a task has a few dozen");
    for (const auto& [earlier, value] : parent.node->entries)
      if (earlier->text == key->text)
        stop(at,
             fmt::format("key '{}' is given twice, first in line {}", excerpt(key->text),
                         earlier->place.line),
             "remove one");
    parent.key = key;
  }

  bool is_open(const Node& node) const {
    return std::any_of(open_.begin(), open_.end(),
                       [&](const Open& entry) { return entry.node == node; });
  }

  bool starts_block(const YAML::Mark& mark) const {
    const auto at = static_cast<std::size_t>(std::max(mark.pos, 0));
    return at < text_.size() && (text_[at] == '|' || text_[at] == '>');
  }

  std::string file_;
  std::string_view text_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Node> anchors_;
  Node root_;
  std::size_t nodes_ = 0;
  std::optional<Error> error_;
};

} // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
  for (const auto& [name, value] : entries)
    if (name->text == key)
      return value.get();
  return nullptr;
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::string shown;
  for (const char c : text.substr(0, longest))
    shown += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  return text.size() > longest ? shown + "..." : shown;
}

std::string describe(const YamlNode& node) {
  switch (node.kind) {
  case YamlNode::Kind::null: return "nothing";
  case YamlNode::Kind::scalar: return fmt::format("'{}'", excerpt(node.text));
  case YamlNode::Kind::sequence: return "a list";
  case YamlNode::Kind::map: return "a map";
  }
  return "something";
}

Result<std::shared_ptr<const YamlNode>> parse_yaml(std::string_view text, const std::string& file) {
  TreeBuilder builder(file, text);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder) || builder.root() == nullptr)
      return fail(ErrorCode::input, "the file is empty", Place{file},
                  "a task needs at least op_name, shapes and dtype");
    std::shared_ptr<const YamlNode> root = builder.root();
    TreeBuilder rest(file, text);
    if (parser.HandleNextDocument(rest))
      return fail(ErrorCode::input, "more than one YAML document",
                  rest.root() == nullptr ? Place{file} : rest.root()->place,
                  "keep one task per file");
    return root;
  } catch (const YAML::Exception& error) {
    if (builder.error())
      return tl::unexpected<Error>(*builder.error());
    return fail(ErrorCode::input, fmt::format("not valid YAML: {}", excerpt(error.msg)),
                builder.place(error.mark));
  } catch (const std::exception& error) {
    return fail(ErrorCode::input, fmt::format("not valid YAML: {}", excerpt(error.what())),
                Place{file});
  }
}

} // namespace kernevo
