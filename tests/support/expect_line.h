// What a program says of a mistake: one line.
#pragma once

#include "kernevo/base/subprocess.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace kernevo {

// One line on stderr that has all these words; the exit code.
inline void expect_line(const SubprocessResult& run, int exit_code,
                        const std::vector<std::string>& words) {
  EXPECT_EQ(run.exit_status, exit_code) << run.output << run.error_output;
  EXPECT_EQ(run.signal, 0);
  EXPECT_EQ(std::count(run.error_output.begin(), run.error_output.end(), '\n'), 1)
      << run.error_output;
  for (const std::string& word : words)
    EXPECT_NE(run.error_output.find(word), std::string::npos)
        << "no '" << word << "' in: " << run.error_output;
}

} // namespace kernevo
