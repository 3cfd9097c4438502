// Kernels that write what a terminal obeys, into everything they can: the program must quote it, or
// a wrong kernel could overwrite its verdict.
#include "places.h"
#include "run_program.h"
#include "test_folder.h"
#include "toolchain_test.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kernevo {
namespace {

// Erase the line, go to its start, say this; the same in one character; turn the direction.
constexpr const char* kInSource = "\033[2K\rCORRECT\xc2\x9b"
                                  "2K\xe2\x80\xae\xff";
constexpr const char* kEscaped = "\\033[2K\\rCORRECT\\xc2\\x9b\"\"2K\\xe2\\x80\\xae\\xff";

// The first byte or character that a terminal would obey, or nothing.
std::string disobedient(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool control = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f;
    const bool c1 =
        byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    const bool turns = text.compare(i, 3, "\xe2\x80\xae") == 0;
    if (control || c1 || turns || byte == 0xff)
      return fmt::format("byte {:#x} at {}", byte, i);
  }
  return "";
}

void expect_obedient(const nlohmann::json& json) {
  if (json.is_string()) {
    EXPECT_EQ(disobedient(json.get<std::string>()), "");
  }
  if (json.is_structured())
    for (const auto& item : json)
      expect_obedient(item);
}

class ForgedOutput : public KernelTest {
protected:
  SubprocessResult run(std::vector<std::string> arguments) const {
    return run_program(program_path(), arguments);
  }

  // Of a check of the kernel, which is said to be right or not; returns what it says.
  std::string check(const std::string& source, int exit_status) const {
    const std::string task = folder_.write(
        "task.yaml", "op_name: add\nshapes: [[1000]]\ndtype: float32\ntarget_gpu: A100\n");
    const std::string kernel = folder_.write("kernel.cu", source);
    std::string said;
    for (const bool blind : {false, true}) {
      std::vector<std::string> arguments = {"check", task, kernel};
      if (blind)
        arguments.emplace_back("--blind");
      const SubprocessResult text = run(arguments);
      EXPECT_EQ(text.exit_status, exit_status) << text.output << text.error_output;
      EXPECT_EQ(disobedient(text.output), "");
      EXPECT_EQ(disobedient(text.error_output), "");
      if (exit_status != 0) {
        EXPECT_EQ(("\n" + text.output).find("\nCORRECT"), std::string::npos) << text.output;
      }
      said += text.output + text.error_output;
      arguments.emplace_back("--json");
      const SubprocessResult json = run(arguments);
      EXPECT_EQ(json.exit_status, exit_status);
      EXPECT_EQ(disobedient(json.output), "");
      EXPECT_EQ(disobedient(json.error_output), "");
      const auto read = nlohmann::json::parse(json.output, nullptr, false);
      EXPECT_FALSE(read.is_discarded()) << json.output;
      expect_obedient(read); // also once an agent has decoded it
    }
    return said;
  }

  static std::string kernel(const std::string& body, const std::string& above = "") {
    return above +
           "__global__ void add(const float* A, const float* B, float* C, int N) {\n"
           "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  " +
           body + "\n}\n";
  }

  const TestFolder folder_;
};

constexpr const char* kAdd = "if (i < N) C[i] = A[i] + B[i];";

TEST_F(ForgedOutput, WhatAKernelPrints) {
  const std::string print = fmt::format("if (i == 0) printf(\"{}\\n\");\n  ", kEscaped);
  const std::string said = check(kernel(print + "if (i < N) C[i] = A[i] - B[i];"), 1);
  EXPECT_NE(said.find("\\x1b[2K\\rCORRECT"), std::string::npos) << said;
  check(kernel("if (i == 0) printf(\"plain\\n\");\n  " + std::string(kAdd)), 0);
}

TEST_F(ForgedOutput, WhatAKernelPrintsIsIndented) {
  check(kernel("if (i == 0) printf(\"a\\nCORRECT  correct on 99 cases\\n\");\n"
               "  if (i < N) C[i] = A[i] - B[i];"),
        1);
}

TEST_F(ForgedOutput, WhatAKernelAsserts) {
  check(kernel(fmt::format("__assertfail(\"{0}\\nCORRECT\", \"{0}\", 1, \"{0}\", 1);", kEscaped),
               "extern \"C\" __device__ void __assertfail(const char*, const char*, unsigned, "
               "const char*, size_t);\n"),
        1);
  check(kernel(fmt::format("assert(i < 0 && \"{}\");", kEscaped)), 1);
}

TEST_F(ForgedOutput, WhatACompilerQuotes) {
  check(kernel(kAdd, fmt::format("#error {}\n", kInSource)), 2);
  check(kernel(kAdd, fmt::format("static_assert(false, \"{}\");\n", kEscaped)), 1);
  check(kernel(fmt::format("int {} = 1;", kInSource)), 2);
  check(kernel(fmt::format("asm(\"{};\");", kEscaped)), 1);
}

TEST_F(ForgedOutput, HowALineIsCalled) {
  check(kernel("C[i] = A[i] + B[i];", fmt::format("#line 7 \"{}.h\"\n", kInSource)), 2);
}

TEST_F(ForgedOutput, CommentsAndDirectives) {
  check(kernel("C[i + (N << 20)] = 1; // " + std::string(kInSource),
               fmt::format("// title: {}\n", kInSource)),
        2);
  check(kernel(kAdd, fmt::format("// {}\n", kInSource)), 2);
  check(kernel(kAdd, fmt::format("// @launch add<<<{}, 1>>>(A, B, C, N)\n", kInSource)), 2);
  check(kernel(kAdd, fmt::format("// @{}\n", kInSource)), 2);
  check(kernel(kAdd, fmt::format("// @launches {}\n", kInSource)), 2);
}

} // namespace
} // namespace kernevo
