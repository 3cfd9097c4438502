#include "kernevo/run/model_choice.h"

#include "kernevo/run/models_file.h"
#include "test_folder.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernevo::run {
namespace {

using testing::HasSubstr;

class ModelChoiceTest : public testing::Test {
protected:
  void SetUp() override { unsetenv("OPENAI_BASE_URL"); }
};

TEST_F(ModelChoiceTest, AKeyGoesToNobodyButWhoGaveItOut) {
  EXPECT_EQ(default_key_variable("https://openrouter.ai/api/v1"), "OPENROUTER_API_KEY");
  EXPECT_EQ(default_key_variable("https://example.org/v1"), "OPENAI_API_KEY");
  EXPECT_EQ(default_key_variable("http://127.0.0.1:8080/v1"), "");
  EXPECT_EQ(default_key_variable("http://[::1]:8080/v1"), "");
}

TEST_F(ModelChoiceTest, ReadsWeightsAndPrices) {
  ModelChoice choice;
  choice.models = {"vendor/a=2.5", "b"};
  choice.price = "0.5,3,0.05";
  const auto settings = llm_settings_of(choice);
  ASSERT_TRUE(settings) << format_error(settings.error());
  ASSERT_EQ(settings->models.size(), 2U);
  EXPECT_EQ(settings->models[0].name, "vendor/a");
  EXPECT_EQ(settings->models[0].weight, 2.5);
  EXPECT_EQ(settings->models[0].api_key_env, "OPENROUTER_API_KEY");
  EXPECT_EQ(settings->models[1].price, (ModelPrice{0.5, 3, 0.05}));
}

TEST_F(ModelChoiceTest, RefusesWhatIsNoChoice) {
  const auto refused = [](const std::vector<std::string>& models, const std::string& price) {
    ModelChoice choice;
    choice.models = models;
    choice.price = price;
    const auto settings = llm_settings_of(choice);
    return settings ? std::string() : format_error(settings.error());
  };
  EXPECT_THAT(refused({"a=0"}, ""), HasSubstr("weight"));
  EXPECT_THAT(refused({"a=nan"}, ""), HasSubstr("weight"));
  EXPECT_THAT(refused({"=2"}, ""), HasSubstr("no name"));
  EXPECT_THAT(refused({"a", "a"}, ""), HasSubstr("twice"));
  EXPECT_THAT(refused({"a"}, "1"), HasSubstr("not a price"));
  EXPECT_THAT(refused({"a"}, "1,-2"), HasSubstr("not a price"));
  EXPECT_THAT(refused({"a"}, "1,2,3,4"), HasSubstr("not a price"));
}

TEST_F(ModelChoiceTest, CheapLeavesOutAllButTheKernel) {
  ModelChoice choice;
  choice.models = {"a"};
  choice.cheap = true;
  const auto settings = llm_settings_of(choice);
  ASSERT_TRUE(settings);
  EXPECT_FALSE(settings->plan || settings->insights || settings->lineage);
}

TEST_F(ModelChoiceTest, AnEndpointThatMovedTakesItsKeyWithIt) {
  LlmSettings stored;
  stored.models.resize(1);
  stored.models[0].base_url = "https://openrouter.ai/api/v1";
  stored.models[0].api_key_env = "OPENROUTER_API_KEY";
  ModelChoice choice;
  choice.base_url = "https://example.org/v1";
  const auto moved = resumed_llm_settings(stored, choice);
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->models[0].api_key_env, "OPENAI_API_KEY");
  stored.models.resize(2);
  EXPECT_FALSE(resumed_llm_settings(stored, choice));
  EXPECT_TRUE(resumed_llm_settings(stored, {}));
}

TEST(ModelsFile, NamesTheLineOfAMistake) {
  const TestFolder folder;
  const std::string file =
      folder.write("models.yaml", "- name: a\n  base_url: http://localhost:1/v1\n  weight: 2\n");
  const auto models = load_models_file(file, 1000);
  ASSERT_TRUE(models) << format_error(models.error());
  EXPECT_EQ(models->front().weight, 2);
  EXPECT_EQ(models->front().max_tokens, 1000U);
  EXPECT_EQ(models->front().api_key_env, "");
  folder.write("models.yaml", "- name: a\n  base_url: http://localhost:1/v1\n  wait: 2\n");
  const auto unknown = load_models_file(file, 1000);
  ASSERT_FALSE(unknown);
  EXPECT_THAT(format_error(unknown.error()), HasSubstr(file + ":3:"));
}

} // namespace
} // namespace kernevo::run
