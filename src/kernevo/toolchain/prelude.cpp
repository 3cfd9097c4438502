#include "kernevo/toolchain/prelude.h"

#include "kernevo/kernel/source_scan.h"
#include "kernevo/toolchain/headers.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>

namespace kernevo {

namespace {

struct HeaderUse {
  std::string_view header;
  std::string_view name; // a trailing '*' matches any continuation
};

// A source that uses one of these names gets the header; nvcc users often have it through another.
constexpr std::array kHeaderUses = {
    HeaderUse{"cuda_fp16.h", "half"},
    HeaderUse{"cuda_fp16.h", "half2"},
    HeaderUse{"cuda_fp16.h", "__half*"},
    HeaderUse{"cuda_fp16.h", "__float2half*"},
    HeaderUse{"cuda_fp16.h", "__floats2half2*"},
    HeaderUse{"cuda_fp16.h", "__hadd*"},
    HeaderUse{"cuda_fp16.h", "__hmul*"},
    HeaderUse{"cuda_fp16.h", "__hfma*"},
    HeaderUse{"cuda_fp16.h", "__low2float"},
    HeaderUse{"cuda_bf16.h", "nv_bfloat16*"},
    HeaderUse{"cuda_bf16.h", "__nv_bfloat16*"},
    HeaderUse{"cuda_bf16.h", "__float2bfloat16*"},
    HeaderUse{"cuda_bf16.h", "__bfloat162float"},
    HeaderUse{"cuda_fp8.h", "__nv_fp8*"},
    HeaderUse{"mma.h", "nvcuda"},
    HeaderUse{"mma.h", "wmma"},
    HeaderUse{"cooperative_groups.h", "cooperative_groups"},
    HeaderUse{"cuda_pipeline.h", "__pipeline_*"},
    HeaderUse{"math_constants.h", "CUDART_*"},
    HeaderUse{"cuComplex.h", "cuFloatComplex"},
    HeaderUse{"cuComplex.h", "cuDoubleComplex"},
};

struct Macro {
  std::string_view name;
  std::string_view value;
};

// From <math.h>, <float.h> and <limits.h>, which NVRTC has not got.
constexpr std::array kMacros = {
    Macro{"INFINITY", "__builtin_bit_cast(float, 0x7f800000)"},
    Macro{"HUGE_VALF", "__builtin_bit_cast(float, 0x7f800000)"},
    Macro{"NAN", "__builtin_bit_cast(float, 0x7fc00000)"},
    Macro{"NULL", "0"},
    Macro{"FLT_MAX", "3.402823466e+38f"},
    Macro{"FLT_MIN", "1.175494351e-38f"},
    Macro{"FLT_EPSILON", "1.192092896e-07f"},
    Macro{"DBL_MAX", "1.7976931348623157e+308"},
    Macro{"DBL_MIN", "2.2250738585072014e-308"},
    Macro{"DBL_EPSILON", "2.2204460492503131e-16"},
    Macro{"CHAR_BIT", "8"},
    Macro{"SCHAR_MIN", "(-128)"},
    Macro{"SCHAR_MAX", "127"},
    Macro{"UCHAR_MAX", "255"},
    Macro{"SHRT_MIN", "(-32768)"},
    Macro{"SHRT_MAX", "32767"},
    Macro{"USHRT_MAX", "65535"},
    Macro{"INT_MIN", "(-2147483647 - 1)"},
    Macro{"INT_MAX", "2147483647"},
    Macro{"UINT_MAX", "4294967295u"},
    Macro{"LONG_MIN", "(-9223372036854775807l - 1)"},
    Macro{"LONG_MAX", "9223372036854775807l"},
    Macro{"ULONG_MAX", "18446744073709551615ul"},
    Macro{"LLONG_MIN", "(-9223372036854775807ll - 1)"},
    Macro{"LLONG_MAX", "9223372036854775807ll"},
    Macro{"ULLONG_MAX", "18446744073709551615ull"},
    Macro{"INT8_MIN", "(-128)"},
    Macro{"INT8_MAX", "127"},
    Macro{"UINT8_MAX", "255"},
    Macro{"INT16_MIN", "(-32768)"},
    Macro{"INT16_MAX", "32767"},
    Macro{"UINT16_MAX", "65535"},
    Macro{"INT32_MIN", "(-2147483647 - 1)"},
    Macro{"INT32_MAX", "2147483647"},
    Macro{"UINT32_MAX", "4294967295u"},
    Macro{"INT64_MIN", "(-9223372036854775807ll - 1)"},
    Macro{"INT64_MAX", "9223372036854775807ll"},
    Macro{"UINT64_MAX", "18446744073709551615ull"},
    Macro{"SIZE_MAX", "18446744073709551615ul"},
    Macro{"M_PI", "3.14159265358979323846"},
    Macro{"M_PI_2", "1.57079632679489661923"},
    Macro{"M_PI_4", "0.78539816339744830962"},
    Macro{"M_1_PI", "0.31830988618379067154"},
    Macro{"M_2_PI", "0.63661977236758134308"},
    Macro{"M_2_SQRTPI", "1.12837916709551257390"},
    Macro{"M_SQRT2", "1.41421356237309504880"},
    Macro{"M_SQRT1_2", "0.70710678118654752440"},
    Macro{"M_E", "2.7182818284590452354"},
    Macro{"M_LOG2E", "1.4426950408889634074"},
    Macro{"M_LOG10E", "0.43429448190325182765"},
    Macro{"M_LN2", "0.69314718055994530942"},
    Macro{"M_LN10", "2.30258509299404568402"},
};

// The same types libcu++ chooses under NVRTC, so that both may be present.
constexpr const char* kIntegers =
    "typedef signed char int8_t; typedef unsigned char uint8_t; "
    "typedef short int16_t; typedef unsigned short uint16_t; "
    "typedef int int32_t; typedef unsigned int uint32_t; "
    "typedef long long int64_t; typedef unsigned long long uint64_t; "
    "typedef long long intptr_t; typedef unsigned long long uintptr_t; "
    "typedef unsigned char uchar; typedef unsigned short ushort; typedef unsigned int uint;\n";

bool matches(std::string_view name, std::string_view pattern) {
  return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1))
                                : name == pattern;
}

// std:: but not cuda::std::
bool uses_std(const std::vector<SourceToken>& tokens) {
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i)
    if (tokens[i].text == "std" && tokens[i + 1].text == "::" &&
        (i < 2 || tokens[i - 1].text != "::" || tokens[i - 2].text != "cuda"))
      return true;
  return false;
}

std::string line_directive(const CompileRequest& request) {
  std::string name;
  for (const char c : request.file) {
    if (c == '"' || c == '\\')
      name += '\\';
    name += c == '\n' || c == '\r' ? '_' : c;
  }
  return fmt::format("#line {} \"{}\"\n", request.first_line, name);
}

std::string auto_includes(const SourceScan& scan) {
  std::set<std::string_view> wanted;
  for (const SourceToken& token : scan.tokens)
    if (token.kind == SourceToken::Kind::identifier)
      for (const HeaderUse& use : kHeaderUses)
        if (matches(token.text, use.name))
          wanted.insert(use.header);
  // An include under a condition may not take effect, so it does not count.
  for (const IncludeLine& include : scan.includes)
    if (!include.conditional)
      wanted.erase(include.header);
  std::string text;
  for (const std::string_view header : wanted)
    text += fmt::format("#include <{}>\n", header);
  return text;
}

std::string used_macros(const SourceScan& scan) {
  std::set<std::string_view> used;
  std::set<std::string_view> defined;
  const auto& tokens = scan.tokens;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    used.insert(tokens[i].text);
    if (tokens[i].defines &&
        (i == 0 || !tokens[i - 1].defines || tokens[i - 1].line != tokens[i].line))
      defined.insert(tokens[i].text);
  }
  std::string text;
  for (const Macro& macro : kMacros)
    if (used.contains(macro.name) && !defined.contains(macro.name))
      text += fmt::format("#undef {0}\n#define {0} {1}\n", macro.name, macro.value);
  return text;
}

bool in_toolkit(const std::string& header, const Toolchain& toolchain) {
  for (const std::filesystem::path& folder : include_folders(toolchain)) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(folder / header, ignored))
      return true;
  }
  return false;
}

} // namespace

std::string add_prelude(const CompileRequest& request, CompilerKind compiler) {
  const SourceScan scan = scan_cuda_source(request.source);
  std::string text;
  if (compiler == CompilerKind::nvrtc) {
    text += kIntegers;
    text += used_macros(scan);
    if (uses_std(scan.tokens))
      text += fmt::format("#include <{}>\n", kStandardHeader);
  } else {
    text += "#include <cassert>\n#include <cfloat>\n#include <climits>\n#include <cmath>\n"
            "#include <cstdint>\n#include <cstdio>\n";
  }
  text += auto_includes(scan);
  text += line_directive(request);
  text += request.source;
  return text;
}

std::string missing_includes(std::string_view source) {
  return auto_includes(scan_cuda_source(source));
}

std::string library_macros(std::string_view source) {
  return used_macros(scan_cuda_source(source));
}

std::vector<std::filesystem::path> include_folders(const Toolchain& toolchain) {
  return {toolchain.include, toolchain.include / "cccl"};
}

std::vector<Diagnostic> refused_includes(const CompileRequest& request,
                                         const Toolchain& toolchain) {
  std::vector<Diagnostic> diagnostics;
  const SourceScan scan = scan_cuda_source(request.source);
  for (const IncludeLine& include : scan.includes) {
    const std::string header(include.header);
    std::string reason;
    if (include.computed)
      reason = "an #include must name its header";
    else if (header.starts_with('/') || header.find("..") != std::string::npos ||
             header.find('\\') != std::string::npos)
      reason =
          fmt::format("#include of '{}' is not allowed: a kernel file includes only headers of "
                      "the CUDA toolkit",
                      header);
    else if (include.quoted && !is_virtual_header(header) && !in_toolkit(header, toolchain))
      reason = fmt::format("'{}' is not a header of the CUDA toolkit; a kernel file stands alone",
                           header);
    if (!reason.empty())
      diagnostics.push_back(
          {Diagnostic::Severity::error,
           Place{request.file, request.first_line + include.line - 1, include.column},
           std::move(reason)});
  }
  return diagnostics;
}

} // namespace kernevo
