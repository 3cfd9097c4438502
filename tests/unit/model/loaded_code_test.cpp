// What was loaded of a kernel, in the receipt of its time.
#include "kernevo/model/json.h"
#include "kernevo/model/loaded_code.h"
#include "kernevo/model/timing.h"

#include <gtest/gtest.h>

namespace kernevo {
namespace {

Timing timing_with(const std::optional<LoadedCode>& code) {
  Timing timing;
  timing.samples = {{10}, {11}, {12}};
  timing.median = {11};
  timing.interval = {{10}, {12}, 0.95};
  timing.receipt.device = "cuda:0 NVIDIA A100";
  timing.receipt.code = code;
  return timing;
}

const LoadedCode kCubin{CodeForm::cubin, "sm_90a", "ptxas 13.2.86"};
const LoadedCode kPtx{CodeForm::ptx, "sm_80", ""};

TEST(LoadedCode, SaysForWhomAndByWhom) {
  EXPECT_EQ(text_of(kCubin), "cubin for sm_90a by ptxas 13.2.86");
  EXPECT_EQ(text_of(kPtx), "PTX for sm_80, left to the driver");
}

TEST(LoadedCode, SurvivesTheJsonOfATiming) {
  for (const LoadedCode& code : {kCubin, kPtx}) {
    const auto read = timing_from_json(to_json(timing_with(code)));
    ASSERT_TRUE(read) << format_error(read.error());
    EXPECT_EQ(read->receipt.code, code);
  }
}

TEST(LoadedCode, OlderRecordsHaveNone) {
  const std::string text = to_json(timing_with(std::nullopt));
  EXPECT_EQ(text.find("\"code\""), std::string::npos);
  EXPECT_EQ(timing_from_json(text)->receipt.code, std::nullopt);
}

TEST(LoadedCode, JsonIsStrict) {
  const auto changed = [](const LoadedCode& code, const std::string& from, const std::string& to) {
    std::string text = to_json(timing_with(code));
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return timing_from_json(text.replace(at, from.size(), to));
  };
  EXPECT_FALSE(changed(kPtx, "\"ptx\"", "\"fatbin\""));
  EXPECT_FALSE(changed(kPtx, "\"sm_80\"", "80"));
  EXPECT_FALSE(changed(kPtx, "\"sm_80\"", "\"sm_80\",\"assembler\":\"ptxas\""))
      << "of PTX: nobody's";
  EXPECT_FALSE(changed(kCubin, "\"assembler\"", "\"by\""));
  EXPECT_FALSE(changed(kCubin, ",\"assembler\":\"ptxas 13.2.86\"", ""));
  EXPECT_FALSE(changed(kCubin, "\"architecture\"", "\"arch\""));
}

} // namespace
} // namespace kernevo
