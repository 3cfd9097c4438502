#include "kernevo/programs/program_source.h"

#include <gtest/gtest.h>

namespace kernevo {
namespace {

TEST(ProgramSource, LanguageIsReadOffTheImports) {
  EXPECT_EQ(language_of_program("import torch\n"), ProgramLanguage::torch);
  EXPECT_EQ(language_of_program("import triton\n"), ProgramLanguage::triton);
  EXPECT_EQ(language_of_program("from torch.utils.cpp_extension import load_inline\n"),
            ProgramLanguage::cuda_inline);
}

TEST(ProgramSource, ANumberIsAWordOfItsOwn) {
  EXPECT_TRUE(names_number("x = 4096", 4096));
  EXPECT_TRUE(names_number("f(4096,", 4096));
  EXPECT_FALSE(names_number("x = 40960", 4096));
  EXPECT_FALSE(names_number("x4096 = 1", 4096));
  EXPECT_TRUE(names_number("14096 4096", 4096));
}

} // namespace
} // namespace kernevo
