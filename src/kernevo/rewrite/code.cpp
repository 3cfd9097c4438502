#include "kernevo/rewrite/code.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace kernevo::rewrite {
namespace {

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

constexpr std::array<std::string_view, 22> kOperators = {
    "<<=", ">>=", "...", "++", "--", "<<", ">>", "<=", ">=", "==", "!=",
    "&&",  "||",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^=", "->"};

struct PlainType {
  std::string_view name;
  int bytes;
  bool floating;
};

constexpr std::array kPlainTypes = {
    PlainType{"float", 4, true},          PlainType{"double", 8, true},
    PlainType{"half", 2, true},           PlainType{"__half", 2, true},
    PlainType{"nv_bfloat16", 2, true},    PlainType{"__nv_bfloat16", 2, true},
    PlainType{"bool", 1, false},          PlainType{"char", 1, false},
    PlainType{"signed char", 1, false},   PlainType{"unsigned char", 1, false},
    PlainType{"short", 2, false},         PlainType{"unsigned short", 2, false},
    PlainType{"int", 4, false},           PlainType{"unsigned", 4, false},
    PlainType{"unsigned int", 4, false},  PlainType{"signed", 4, false},
    PlainType{"long", 8, false},          PlainType{"unsigned long", 8, false},
    PlainType{"long long", 8, false},     PlainType{"long int", 8, false},
    PlainType{"long long int", 8, false}, PlainType{"unsigned long long", 8, false},
    PlainType{"size_t", 8, false},        PlainType{"ptrdiff_t", 8, false},
    PlainType{"int8_t", 1, false},        PlainType{"uint8_t", 1, false},
    PlainType{"int16_t", 2, false},       PlainType{"uint16_t", 2, false},
    PlainType{"int32_t", 4, false},       PlainType{"uint32_t", 4, false},
    PlainType{"int64_t", 8, false},       PlainType{"uint64_t", 8, false},
    PlainType{"uint", 4, false},
};

constexpr std::array<std::string_view, 29> kTypeNames = {
    "void",   "float",  "double", "bool",    "char",         "short",       "int",    "long",
    "signed", "half",   "__half", "half2",   "__half2",      "nv_bfloat16", "size_t", "unsigned",
    "float2", "float3", "float4", "double2", "int2",         "int3",        "int4",   "uint2",
    "uint3",  "uint4",  "dim3",   "auto",    "__nv_bfloat16"};

bool is_attribute(std::string_view name) {
  static constexpr std::array<std::string_view, 6> attributes = {
      "__launch_bounds__", "__maxnreg__",   "__cluster_dims__",
      "__block_size__",    "__attribute__", "alignas"};
  return std::find(attributes.begin(), attributes.end(), name) != attributes.end();
}

const PlainType* find_plain(std::string_view name) {
  const auto* const found = std::find_if(kPlainTypes.begin(), kPlainTypes.end(),
                                         [&](const PlainType& type) { return type.name == name; });
  return found == kPlainTypes.end() ? nullptr : found;
}

} // namespace

std::vector<Token> tokenise(std::string_view source) {
  const SourceScan scan = scan_cuda_source(source);
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < scan.tokens.size(); ++i) {
    const SourceToken& token = scan.tokens[i];
    if (token.preprocessor)
      continue;
    const auto begin = static_cast<std::size_t>(token.text.data() - source.data());
    std::size_t length = token.text.size();
    // 1e-3 comes in three parts.
    if (token.kind == SourceToken::Kind::number && i + 2 < scan.tokens.size() &&
        (token.text.ends_with('e') || token.text.ends_with('E')) && !token.text.starts_with("0x") &&
        !token.text.starts_with("0X") &&
        (scan.tokens[i + 1].text == "-" || scan.tokens[i + 1].text == "+") &&
        scan.tokens[i + 1].text.data() == token.text.data() + length &&
        scan.tokens[i + 2].kind == SourceToken::Kind::number &&
        scan.tokens[i + 2].text.data() == token.text.data() + length + 1) {
      length += 1 + scan.tokens[i + 2].text.size();
      i += 2;
    }
    if (token.kind == SourceToken::Kind::punctuation && length == 1)
      for (const std::string_view op : kOperators) {
        if (!source.substr(begin).starts_with(op))
          continue;
        // Only what the scanner cut into single characters, so that no comment is swallowed.
        std::size_t count = 0;
        while (count < op.size() && i + count < scan.tokens.size() &&
               scan.tokens[i + count].text.data() == source.data() + begin + count &&
               scan.tokens[i + count].text.size() == 1)
          ++count;
        if (count != op.size())
          continue;
        length = op.size();
        i += count - 1;
        break;
      }
    tokens.push_back({token.kind, source.substr(begin, length), begin});
  }
  return tokens;
}

const Parameter* Function::find_parameter(std::string_view wanted) const {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const Parameter& p) { return p.name == wanted; });
  return found == parameters.end() ? nullptr : &*found;
}

Code::Code(const KernelFile& file) : source_(file.source), tokens_(tokenise(file.source)) {
  match_brackets();
  find_names(scan_cuda_source(source_));
  find_kernels();
}

std::optional<std::size_t> Code::closing(std::size_t open) const {
  if (open >= closing_.size() || closing_[open] == kNowhere)
    return std::nullopt;
  return closing_[open];
}

void Code::match_brackets() {
  closing_.assign(tokens_.size(), kNowhere);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (tokens_[i].kind != SourceToken::Kind::punctuation)
      continue;
    const std::string_view text = tokens_[i].text;
    if (text == "(" || text == "[" || text == "{") {
      open.push_back(i);
    } else if (text == ")" || text == "]" || text == "}") {
      const char wanted = text == ")" ? '(' : (text == "]" ? '[' : '{');
      if (open.empty() || tokens_[open.back()].text[0] != wanted)
        return; // unbalanced from here on: nothing further is closed
      closing_[open.back()] = i;
      open.pop_back();
    }
  }
}

void Code::find_names(const SourceScan& scan) {
  for (const SourceToken& token : scan.tokens)
    if (token.kind == SourceToken::Kind::identifier)
      identifiers_.emplace(token.text);
  const auto offset_of = [&](const SourceToken& token) {
    return static_cast<std::size_t>(token.text.data() - source_.data());
  };
  const auto is_defined_name = [&](const SourceToken& token) {
    if (!token.defines)
      return false;
    const std::size_t begin = line_start(offset_of(token));
    const std::string_view before = source_.substr(begin, offset_of(token) - begin);
    return before.substr(0, before.find_last_not_of(" \t") + 1).ends_with("define");
  };
  // #define NAME number: harmless. Anything else may change what code means.
  for (std::size_t i = 0; i < scan.tokens.size(); ++i) {
    const SourceToken& name = scan.tokens[i];
    if (!is_defined_name(name))
      continue;
    bool plain = true;
    for (std::size_t at = i + 1;
         at < scan.tokens.size() && scan.tokens[at].defines && !is_defined_name(scan.tokens[at]);
         ++at) {
      const SourceToken& token = scan.tokens[at];
      const bool function_like = at == i + 1 && token.text == "(" &&
                                 offset_of(token) == offset_of(name) + name.text.size();
      plain = plain && !function_like &&
              (token.kind == SourceToken::Kind::number ||
               std::string_view("()+-*/").find(token.text) != std::string_view::npos);
    }
    if (!plain)
      odd_macros_.emplace(name.text);
  }
  for (const std::string_view name : kTypeNames)
    types_.emplace(name);
  for (const PlainType& type : kPlainTypes)
    if (type.name.find(' ') == std::string_view::npos)
      types_.emplace(type.name);
  for (std::size_t i = 0; i + 3 < tokens_.size(); ++i) {
    const bool is_using = tokens_[i].is("using") && tokens_[i + 2].is("=");
    const bool is_typedef = tokens_[i].is("typedef");
    if (is_using || is_typedef) {
      std::size_t end = i;
      while (end < tokens_.size() && !tokens_[end].is(";"))
        ++end;
      if (end == tokens_.size() || end < i + (is_using ? 4 : 3))
        continue;
      const std::size_t name = is_using ? i + 1 : end - 1;
      const std::size_t first = is_using ? i + 3 : i + 1;
      std::string type;
      for (std::size_t t = first; t < (is_using ? end : end - 1); ++t)
        type += (type.empty() ? "" : " ") + std::string(tokens_[t].text);
      types_.emplace(tokens_[name].text);
      const auto [at, fresh] = aliases_.emplace(tokens_[name].text, type);
      if (!fresh && at->second != type)
        at->second.clear(); // two meanings: none that is known
    } else if ((tokens_[i].is("struct") || tokens_[i].is("class") || tokens_[i].is("enum") ||
                tokens_[i].is("typename")) &&
               tokens_[i + 1].is_name()) {
      types_.emplace(tokens_[i + 1].text);
    } else if (tokens_[i].is_name() && tokens_[i + 1].is("(") && i > 0) {
      // name(...) { : a definition; types before it tell it from a call.
      const auto close = closing(i + 1);
      if (close && *close + 1 < tokens_.size() && tokens_[*close + 1].is("{") &&
          (tokens_[i - 1].is_name() || tokens_[i - 1].is("*") || tokens_[i - 1].is("&") ||
           tokens_[i - 1].is(">"))) {
        defined_.emplace(tokens_[i].text);
        for (std::size_t t = i + 2; t < *close; ++t)
          if (tokens_[t].is("&") || tokens_[t].is("&&"))
            by_reference_.emplace(tokens_[i].text);
      }
    }
  }
}

void Code::find_kernels() {
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (!tokens_[i].is("__global__"))
      continue;
    Function function;
    std::size_t at = i + 1;
    bool found = false;
    while (at + 1 < tokens_.size() && !tokens_[at].is(";") && !tokens_[at].is("{")) {
      if (tokens_[at].is_name() && tokens_[at + 1].is("(")) {
        const auto close = closing(at + 1);
        if (!close)
          break;
        if (is_attribute(tokens_[at].text)) {
          function.attributes.emplace_back(tokens_[at].text);
          at = *close + 1;
          continue;
        }
        function.name = std::string(tokens_[at].text);
        function.name_token = at;
        found = *close + 1 < tokens_.size() && tokens_[*close + 1].is("{") &&
                closing(*close + 1).has_value();
        if (found) {
          function.body_open = *close + 1;
          function.body_close = *closing(*close + 1);
          read_parameters(at + 1, *close, function);
        }
        break;
      }
      ++at;
    }
    if (!found)
      continue;
    std::size_t first = i;
    while (first > 0 && !tokens_[first - 1].is(";") && !tokens_[first - 1].is("}") &&
           !tokens_[first - 1].is("{")) {
      --first;
      if (tokens_[first].is("template"))
        function.is_template = true;
      if (is_attribute(tokens_[first].text))
        function.attributes.emplace_back(tokens_[first].text);
    }
    function.begin = tokens_[first].begin;
    kernels_.push_back(std::move(function));
  }
}

void Code::read_parameters(std::size_t open, std::size_t close, Function& function) const {
  std::size_t begin = open + 1;
  int depth = 0;
  for (std::size_t i = open + 1; i <= close; ++i) {
    const Token& token = tokens_[i];
    if (token.is("(") || token.is("[") || token.is("{") || token.is("<"))
      ++depth;
    else if (i < close && (token.is(")") || token.is("]") || token.is("}") || token.is(">")))
      --depth;
    if (i != close && (depth != 0 || !token.is(",")))
      continue;
    if (i > begin) {
      Parameter parameter;
      parameter.begin = tokens_[begin].begin;
      parameter.name = std::string(tokens_[i - 1].text);
      int stars = 0;
      bool plain = tokens_[i - 1].is_name() && i - begin >= 2;
      for (std::size_t t = begin; t + 1 < i && plain; ++t) {
        const std::string_view text = tokens_[t].text;
        if (text == "*") {
          ++stars;
          parameter.star_end = tokens_[t].end();
        } else if (text == "__restrict__" || text == "__restrict") {
          parameter.restricted = true;
          continue;
        } else if (!tokens_[t].is_name() && text != "::") {
          plain = false;
        } else if (text == "const") {
          parameter.points_to_const = parameter.points_to_const || stars == 0;
        } else if (text == "volatile") {
          plain = false;
        } else if (stars == 0) {
          parameter.element +=
              (parameter.element.empty() || text == "::" || parameter.element.ends_with(':')
                   ? ""
                   : " ") +
              std::string(text);
        }
        parameter.type += (parameter.type.empty() || text == "*" ? "" : " ") + std::string(text);
      }
      plain = plain && stars <= 1;
      if (stars == 0)
        parameter.element.clear();
      function.simple_parameters = function.simple_parameters && plain;
      function.parameters.push_back(std::move(parameter));
    }
    begin = i + 1;
  }
}

bool Code::is_type(std::string_view name) const {
  return types_.contains(name);
}

std::string Code::resolve_type(std::string_view type) const {
  std::string name(type);
  for (int steps = 0; steps < 8; ++steps) {
    const auto found = aliases_.find(name);
    if (found == aliases_.end())
      break;
    name = found->second;
    if (name.starts_with("const "))
      name.erase(0, 6);
  }
  return name;
}

std::optional<int> Code::size_of_type(std::string_view type) const {
  const PlainType* plain = find_plain(resolve_type(type));
  return plain == nullptr ? std::nullopt : std::optional<int>(plain->bytes);
}

bool Code::is_floating_type(std::string_view type) const {
  const PlainType* plain = find_plain(resolve_type(type));
  return plain != nullptr && plain->floating;
}

bool Code::is_integer_type(std::string_view type) const {
  const PlainType* plain = find_plain(resolve_type(type));
  return plain != nullptr && !plain->floating && plain->name != "bool";
}

std::string Code::obscured(const Function& function) const {
  const std::size_t end = tokens_[function.body_close].end();
  for (std::size_t at = tokens_[function.body_open].begin; at < end;) {
    const std::size_t newline = std::min(source_.find('\n', at), end);
    std::string_view line = source_.substr(at, newline - at);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.starts_with("#") || line.starts_with("%:")) {
      line.remove_prefix(1);
      line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
      if (!line.starts_with("pragma"))
        return fmt::format("{} has preprocessor lines in its body", function.name);
    }
    at = newline + 1;
  }
  for (std::size_t i = function.name_token; i <= function.body_close; ++i)
    if (tokens_[i].is_name() && odd_macros_.contains(tokens_[i].text))
      return fmt::format("{} uses the macro {}", function.name, tokens_[i].text);
  return {};
}

std::size_t Code::line_start(std::size_t offset) const {
  const std::size_t newline =
      offset == 0 ? std::string_view::npos : source_.rfind('\n', offset - 1);
  return newline == std::string_view::npos ? 0 : newline + 1;
}

std::string Code::indentation(std::size_t offset) const {
  const std::size_t begin = line_start(offset);
  std::size_t end = begin;
  while (end < source_.size() && (source_[end] == ' ' || source_[end] == '\t'))
    ++end;
  return std::string(source_.substr(begin, end - begin));
}

} // namespace kernevo::rewrite
