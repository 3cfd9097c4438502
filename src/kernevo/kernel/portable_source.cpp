#include "kernevo/kernel/portable_source.h"

#include "kernevo/kernel/reserved_names.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>
#include <utility>

namespace kernevo {
namespace {

using Tokens = std::vector<SourceToken>;
using Kind = SourceToken::Kind;

template <std::size_t n>
bool is_one_of(std::string_view word, const std::array<std::string_view, n>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool has_lower(std::string_view name) {
  return std::any_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

// Names C++ keeps for compilers and their libraries.
bool is_reserved(std::string_view name) {
  return name.starts_with("__") ||
         (name.size() > 1 && name[0] == '_' && name[1] >= 'A' && name[1] <= 'Z');
}

// Macros of compilers are written in capitals, CUDA's own functions and qualifiers are not. What
// headers of the toolkit define in capitals and kernels use is listed.
bool names_a_compiler(std::string_view name) {
  static constexpr std::array<std::string_view, 10> known = {
      "__VA_ARGS__", "__NV_SATFINITE", "__NV_NOSAT", "__NV_E4M3", "__NV_E5M2",
      "__NV_E8M0",   "__NV_E2M1",      "__NV_E2M3",  "__NV_E3M2", "_Pragma"};
  static constexpr std::array<std::string_view, 27> small = {"__cplusplus",
                                                             "__clang__",
                                                             "__linux__",
                                                             "__linux",
                                                             "__unix__",
                                                             "__unix",
                                                             "__gnu_linux__",
                                                             "__x86_64__",
                                                             "__x86_64",
                                                             "__amd64__",
                                                             "__amd64",
                                                             "__k8__",
                                                             "__k8",
                                                             "__aarch64__",
                                                             "__pic__",
                                                             "__pie__",
                                                             "__clang_major__",
                                                             "__clang_minor__",
                                                             "__clang_version__",
                                                             "__builtin_FILE",
                                                             "__builtin_LINE",
                                                             "__builtin_FUNCTION",
                                                             "__builtin_COLUMN",
                                                             "__builtin_FILE_NAME",
                                                             "__nvcc_device_query",
                                                             "__is_identifier",
                                                             "__building_module"};
  if (!is_reserved(name) || is_one_of(name, known))
    return false;
  return !has_lower(name) || is_one_of(name, small) || name.starts_with("__has_") ||
         name.starts_with("__code_model_");
}

// What a macro may not be called: the language's own words, and names that the code around an
// extracted kernel is made of.
bool is_word_of_others(std::string_view name) {
  // In the list of names parameters must not have, but no keywords; kernels do define them.
  static constexpr std::array<std::string_view, 19> free = {
      "min",    "max",     "ceil_div", "next_pow2",   "printf",     "assert",   "size_t",
      "int8_t", "uint8_t", "int32_t",  "uint32_t",    "int64_t",    "uint64_t", "half",
      "NULL",   "dim3",    "warpSize", "nv_bfloat16", "cooperative"};
  static constexpr std::array<std::string_view, 7> beginnings = {
      "TORCH_", "C10_", "AT_", "CAFFE2_", "PYBIND11_", "kernevo", "KERNEVO"};
  static constexpr std::array<std::string_view, 12> more = {
      "main",   "torch", "cuda", "final",   "override", "import",
      "module", "at",    "c10",  "defined", "char8_t",  "char16_t"};
  if (is_one_of(name, free))
    return false;
  if (name.size() > 4 && name.starts_with("cuda") && name[4] >= 'A' && name[4] <= 'Z')
    return true; // cudaMalloc
  return is_reserved_name(std::string(name)) || is_reserved(name) || is_one_of(name, more) ||
         std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return name.starts_with(beginning); });
}

// Macros in the headers of the host code that mean nothing there, and names of our own.
bool is_name_of_host_code(std::string_view name) {
  static constexpr std::array<std::string_view, 11> beginnings = {
      "kernevo_",  "__kernevo", "TORCH_",    "C10_",          "AT_",     "CAFFE2_",
      "PYBIND11_", "CUDARTAPI", "CUDART_CB", "CUDART_DEVICE", "CU_UUID_"};
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return name.starts_with(beginning); });
}

bool is_plain_pragma(std::string_view word) {
  static constexpr std::array<std::string_view, 5> words = {
      "unroll", "nounroll", "once", "nv_exec_check_disable", "hd_warning_disable"};
  return is_one_of(word, words) || word.starts_with("nv_diag");
}

bool is_plain_attribute(std::string_view word) {
  static constexpr std::array<std::string_view, 26> words = {
      "aligned",     "__aligned__",  "always_inline", "__always_inline__",
      "noinline",    "__noinline__", "unused",        "__unused__",
      "packed",      "__packed__",   "may_alias",     "__may_alias__",
      "pure",        "__pure__",     "const",         "__const__",
      "nodiscard",   "maybe_unused", "likely",        "unlikely",
      "fallthrough", "noreturn",     "deprecated",    "no_unique_address",
      "forceinline", "align"};
  return is_one_of(word, words);
}

class Inspector {
public:
  Inspector(const SourceScan& scan, const std::string& file, int first_line)
      : scan_(scan), tokens_(scan.tokens), file_(file), first_line_(first_line) {}

  std::optional<Error> inspect() {
    for (const PreprocessorLine& line : scan_.directives)
      if (line.word == "define" && line.first_token < line.last_token)
        defined_.insert(tokens_[line.first_token].text);
    for (const IncludeLine& include : scan_.includes)
      if (include.header.find_first_of("\"'\\<") != std::string_view::npos ||
          include.header.find("//") != std::string_view::npos ||
          include.header.find("/*") != std::string_view::npos)
        refuse(include.line, include.column, "the name of a header with quotes or comments in it",
               "name a header of the CUDA toolkit");
    std::size_t from = 0;
    for (const PreprocessorLine& line : scan_.directives) {
      directive(line);
      names(from, line.first_token);
      const bool code = line.word == "define" || line.word == "pragma";
      from = code ? line.first_token : line.last_token;
    }
    names(from, tokens_.size());
    return std::move(first_);
  }

private:
  std::string_view word(std::size_t i) const {
    return i < tokens_.size() ? tokens_[i].text : std::string_view();
  }

  // Keeps the first by place.
  void refuse(int line, int column, std::string what, std::string fix) {
    const Place place{file_, line + first_line_ - 1, column};
    if (!first_ ||
        std::pair(place.line, place.column) < std::pair(first_->place->line, first_->place->column))
      first_ = Error{ErrorCode::input, std::move(what), place, std::move(fix)};
  }
  void refuse(const SourceToken& token, std::string what, std::string fix) {
    refuse(token.line, token.column, std::move(what), std::move(fix));
  }

  void directive(const PreprocessorLine& line) {
    static constexpr std::array<std::string_view, 12> allowed = {
        "",     "include", "define", "undef", "if",     "ifdef",
        "elif", "ifndef",  "else",   "endif", "pragma", "error"};
    const bool empty = line.first_token == line.last_token;
    if (!is_one_of(line.word, allowed) || (line.word.empty() && !empty))
      refuse(line.line, line.column,
             fmt::format("#{} is not for kernel files",
                         line.word.empty() ? word(line.first_token) : line.word),
             "remove it; #include, #define, #undef, #if and its kin, #pragma and #error are");
    else if (line.word == "define" && !empty)
      definition(line);
    else if (line.word == "undef" && !empty && !defined_.contains(word(line.first_token)))
      refuse(tokens_[line.first_token],
             fmt::format("#undef of '{}', which this file does not define", word(line.first_token)),
             "remove it");
    else if (line.word.starts_with("if") || line.word == "elif")
      condition(line);
    else if (line.word == "pragma" && !empty && !is_plain_pragma(word(line.first_token)))
      refuse(line.line, line.column,
             fmt::format("#pragma {} speaks to one compiler only", word(line.first_token)),
             "use #pragma unroll, nounroll, once or nv_diag... only");
  }

  void definition(const PreprocessorLine& line) {
    const SourceToken& name = tokens_[line.first_token];
    if (is_word_of_others(name.text))
      refuse(name, fmt::format("#define of '{}', which means something already", name.text),
             "choose another name");
    // With these a macro can ask what any name means to the compiler it meets, and act on it.
    for (std::size_t i = line.first_token + 1; i < line.last_token; ++i)
      if (tokens_[i].text == "__VA_OPT__" || tokens_[i].text == "#" || tokens_[i].text == "##")
        refuse(tokens_[i],
               fmt::format("{} in a macro can show which compiler it meets", tokens_[i].text),
               "write names and strings out");
  }

  void condition(const PreprocessorLine& line) {
    for (std::size_t i = line.first_token; i < line.last_token; ++i) {
      const SourceToken& token = tokens_[i];
      if (token.kind == Kind::identifier && is_reserved(token.text) &&
          !is_portable_macro(token.text) && !defined_.contains(token.text))
        refuse(token,
               fmt::format("#{} asks for '{}', which is not the same for every compiler: what is "
                           "checked would not be what is extracted",
                           line.word, token.text),
               "write one code for all; conditions may use @tune parameters, macros of this file, "
               "__CUDA_ARCH__, __CUDACC__ and __cplusplus");
    }
  }

  void names(std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i)
      if (tokens_[i].kind == Kind::identifier)
        name(i);
      else if (word(i) == "[" && word(i + 1) == "[")
        attributes(i, "[[", i + 2);
  }

  void name(std::size_t i) {
    const SourceToken& token = tokens_[i];
    const std::string_view text = token.text;
    if (text == "__attribute__" || text == "__attribute" || text == "__declspec")
      attributes(i, text, i + 1);
    else if (text == "_Pragma" || text == "__pragma")
      pragma_operator(i);
    else if (text == "asm" || text == "__asm__" || text == "__asm")
      assembly(i);
    else if (text == "__CUDA_ARCH__")
      refuse(token, "__CUDA_ARCH__ in code is not known to the host's compiler",
             "ask for it in #if");
    else if (names_a_compiler(text))
      refuse(token,
             fmt::format("'{}' is not the same for every compiler: what is checked would not be "
                         "what is extracted",
                         text),
             "write it without");
    else if (is_name_of_host_code(text))
      refuse(token, fmt::format("'{}' may be a name of the code around extracted kernels", text),
             "choose another name");
    else if (text == "namespace" && word(i + 1) == "std" && (i == 0 || word(i - 1) != "using"))
      refuse(token, "namespace std is not the kernel's", "declare it in a namespace of your own");
    else if (is_reserved(text) && declares(i))
      refuse(token,
             fmt::format("'{}' is a name kept for compilers, which may mean something else by it",
                         text),
             "choose a name without underscores at its beginning");
  }

  // Whether the name at i looks like what is declared there: after a type, before what ends a
  // declarator. A macro of that name that means nothing would make another statement of it.
  bool declares(std::size_t i) const {
    static constexpr std::array<std::string_view, 8> after = {";", ",", ")", "=",
                                                              "[", ">", "{", ":"};
    static constexpr std::array<std::string_view, 16> no_type = {
        "const",  "volatile", "return",     "case",       "static",       "constexpr",
        "inline", "else",     "__device__", "__shared__", "__constant__", "extern",
        "new",    "goto",     "do",         "operator"};
    static constexpr std::array<std::string_view, 3> qualifiers = {"__restrict__", "__restrict",
                                                                   "__grid_constant__"};
    if (i == 0 || is_one_of(word(i), qualifiers) || !is_one_of(word(i + 1), after))
      return false;
    const std::string_view before = word(i - 1);
    return before == "*" || before == "&" ||
           (tokens_[i - 1].kind == Kind::identifier && !is_one_of(before, no_type));
  }

  // [[...]], __attribute__((...)): alignment and hints to the optimiser only. Others have code run
  // when a program starts (constructor), or replace functions (ifunc, alias), or place them.
  void attributes(std::size_t at, std::string_view what, std::size_t from) {
    const bool brackets = what == "[[";
    if (!brackets && (word(from) != "(" || tokens_[from].preprocessor != tokens_[at].preprocessor))
      refuse(tokens_[at], fmt::format("{} without its list", what), "write them together");
    int depth = brackets ? 2 : 0;
    for (std::size_t i = from; i < tokens_.size(); ++i) {
      const std::string_view now = word(i);
      if (now == "(" || now == "[") {
        ++depth;
      } else if (now == ")" || now == "]") {
        if (--depth <= 0)
          return;
      } else if (tokens_[i].kind == Kind::identifier && (word(i + 1) == "::" || now == "using")) {
        refuse(tokens_[at], "an attribute of one compiler only", "remove it");
        return;
      } else if (tokens_[i].kind == Kind::identifier && names_attribute(i) &&
                 !is_plain_attribute(now)) {
        refuse(tokens_[at],
               fmt::format("the attribute '{}' speaks to the host's compiler or linker", now),
               "remove it; alignment, inlining, unused and the standard's own are allowed");
        return;
      }
    }
  }
  // Not one of its arguments.
  bool names_attribute(std::size_t i) const {
    static constexpr std::array<std::string_view, 4> openers = {"(", "__attribute__", "__attribute",
                                                                "__declspec"};
    return word(i - 1) == "," || word(i - 1) == "[" ||
           (word(i - 1) == "(" && is_one_of(word(i - 2), openers));
  }

  void pragma_operator(std::size_t i) {
    std::string_view text = word(i + 2);
    const bool simple = word(i + 1) == "(" && text.starts_with('"') && word(i + 3) == ")";
    if (simple) {
      text.remove_prefix(1);
      text = text.substr(0, text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"));
    }
    if (!simple || tokens_[i].text != "_Pragma" || !is_plain_pragma(text))
      refuse(tokens_[i], fmt::format("{} of something else than unroll", tokens_[i].text),
             "write #pragma unroll");
  }

  // Assembly is a statement inside a function. Elsewhere it is the host's assembler that reads it,
  // or it renames what is declared.
  void assembly(std::size_t i) {
    static constexpr std::array<std::string_view, 7> before = {";", "{",    "}", ")",
                                                               ":", "else", "do"};
    std::size_t previous = i;
    while (previous > 0 && tokens_[previous - 1].preprocessor != tokens_[i].preprocessor)
      --previous;
    const bool first = previous == 0;
    const bool in_macro = tokens_[i].defines;
    if (first || (!in_macro && !is_one_of(word(previous - 1), before)) ||
        (!in_macro && depth_of(i) == 0))
      refuse(tokens_[i], "assembly outside a function", "write it as a statement of the kernel");
  }
  // Of braces that are neither a namespace's nor an extern "C"'s.
  int depth_of(std::size_t at) {
    for (; depth_at_ < at; ++depth_at_) {
      const SourceToken& token = tokens_[depth_at_];
      if (token.preprocessor)
        continue;
      if (token.text == "{")
        braces_.push_back(opens_namespace(depth_at_));
      else if (token.text == "}" && !braces_.empty())
        braces_.pop_back();
    }
    return static_cast<int>(std::count(braces_.begin(), braces_.end(), false));
  }
  bool opens_namespace(std::size_t brace) const {
    std::size_t i = brace;
    if (i > 1 && tokens_[i - 1].kind == Kind::string && word(i - 2) == "extern")
      return true;
    while (i > 0 && (tokens_[i - 1].kind == Kind::identifier || word(i - 1) == "::") &&
           word(i - 1) != "namespace")
      --i;
    return i > 0 && word(i - 1) == "namespace";
  }

  const SourceScan& scan_;
  const Tokens& tokens_;
  const std::string& file_;
  int first_line_;
  std::set<std::string_view> defined_;
  std::optional<Error> first_;
  std::size_t depth_at_ = 0;
  std::vector<bool> braces_;
};

} // namespace

std::optional<Error> find_unportable(const SourceScan& scan, const std::string& file,
                                     int first_line) {
  return Inspector(scan, file, first_line).inspect();
}

bool is_portable_macro(std::string_view name) {
  return name == "__CUDA_ARCH__" || name == "__CUDACC__" || name == "__cplusplus";
}

} // namespace kernevo
