#include "kernevo/model/llm_settings.h"
#include "kernevo/model/model_call.h"

#include <gtest/gtest.h>

namespace kernevo {
namespace {

ModelCall full_call() {
  ModelCall call;
  call.step = 7;
  call.id = "repair.2";
  call.stage = "repair";
  call.model = "vendor/m \"x\"";
  call.usage = {100, 40, 50, 30, true};
  call.dollars = 0.125;
  call.seconds = 1.5;
  call.tries = 3;
  call.finish = "stop";
  return call;
}

LlmSettings full_settings() {
  ModelSettings model;
  model.name = "m";
  model.base_url = "https://example.org/v1";
  model.api_key_env = "EXAMPLE_KEY";
  model.weight = 2;
  model.max_tokens = 4096;
  model.temperature = 0.5;
  model.top_p = 0.75;
  model.seed = -3;
  model.reasoning_effort = "high";
  model.price = ModelPrice{1, 2, 0.5};
  LlmSettings settings;
  settings.models = {model, ModelSettings{}};
  settings.plan = settings.insights = settings.lineage = false;
  settings.repairs = 9;
  settings.edits = "never";
  settings.prompts = "p";
  settings.replay = "r";
  settings.concurrency = 2;
  settings.idle_seconds = 1;
  settings.total_seconds = 2;
  settings.patience_seconds = 3;
  return settings;
}

std::string with(std::string text, const std::string& old, const std::string& now) {
  const auto at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return text.replace(at, old.size(), now);
}

TEST(ModelCall, GoesThroughJsonUnchanged) {
  EXPECT_EQ(model_call_from_json(to_json(full_call())).value(), full_call());
  EXPECT_EQ(model_call_from_json(to_json(ModelCall{})).value(), ModelCall{});
}

TEST(ModelCall, UnknownDollarsAreNotZero) {
  ModelCall call = full_call();
  call.dollars.reset();
  EXPECT_FALSE(model_call_from_json(to_json(call)).value().dollars);
}

TEST(ModelCall, IsReadStrictly) {
  const std::string text = to_json(full_call());
  EXPECT_FALSE(model_call_from_json(with(text, "\"tries\"", "\"trys\"")));
  EXPECT_FALSE(model_call_from_json(with(text, "\"cached\"", "\"cache\"")));
  EXPECT_FALSE(model_call_from_json(with(text, "\"step\":7", "\"step\":\"7\"")));
  EXPECT_FALSE(model_call_from_json("[]"));
}

TEST(TokenUsage, AddsUp) {
  TokenUsage sum{1, 2, 3, 4, false};
  sum += {10, 20, 30, 40, true};
  EXPECT_EQ(sum, (TokenUsage{11, 22, 33, 44, true}));
  EXPECT_EQ(sum.total(), 44U);
}

TEST(LlmSettings, GoThroughJsonUnchanged) {
  EXPECT_EQ(llm_settings_from_json(to_json(full_settings())).value(), full_settings());
  EXPECT_EQ(llm_settings_from_json(to_json(LlmSettings{})).value(), LlmSettings{});
}

TEST(LlmSettings, AreReadStrictly) {
  const std::string text = to_json(full_settings());
  EXPECT_FALSE(llm_settings_from_json(with(text, "\"repairs\"", "\"repair\"")));
  EXPECT_FALSE(llm_settings_from_json(with(text, "\"top_p\"", "\"topp\"")));
  EXPECT_FALSE(llm_settings_from_json(with(text, "\"plan\":false", "\"plan\":0.5")));
}

} // namespace
} // namespace kernevo
