// A light look at a source: its comments and its tokens, with their places. Knows strings, raw
// strings, comments and line splices, not the grammar.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernevo {

struct SourceToken {
  enum class Kind { identifier, number, string, punctuation };
  Kind kind = Kind::punctuation;
  std::string_view text; // into the scanned source
  int line = 0;
  int column = 0;
  bool preprocessor = false; // part of a # line
  bool defines = false;      // part of a #define
};

// One physical line of comment text, without the comment marks.
struct CommentLine {
  std::string_view text;
  int line = 0;
  int column = 0;            // of the first character of text
  bool block = false;        // from /* */
  bool alone = true;         // nothing but space before the comment on its line
  bool continued = false;    // ends with a backslash (not in text)
  bool continuation = false; // the line before ended with a backslash
};

struct IncludeLine {
  std::string_view header; // without quotes or brackets; the macro's name when computed
  int line = 0;
  int column = 0;
  bool quoted = false;
  bool computed = false;    // #include MACRO
  bool conditional = false; // inside #if ... #endif
};

// A # line, with what splices and comments add to it.
struct PreprocessorLine {
  std::string word; // "define"; empty for a lone '#' or one before something that is no word
  int line = 0;
  int column = 0;
  std::size_t begin = 0; // offsets into the source, from '#' to before the end of the line
  std::size_t end = 0;
  std::size_t first_token = 0; // the tokens after the word, [first_token, last_token)
  std::size_t last_token = 0;
};

struct SourceScan {
  std::vector<SourceToken> tokens;
  std::vector<CommentLine> comments;
  std::vector<IncludeLine> includes;
  std::vector<PreprocessorLine> directives;
};

// The views point into `source`, which must outlive the result.
SourceScan scan_cuda_source(std::string_view source);
SourceScan scan_python_source(std::string_view source);

} // namespace kernevo
