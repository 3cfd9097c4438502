// An endpoint with a model that answers what a test tells it to, and keeps its own books.
#pragma once

#include "scripted_server.h"

#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace kernevo {

struct ModelAnswer {
  int status = 200;
  std::string text; // of the reply, or the body of an error
  std::uint64_t prompt = 1500;
  std::uint64_t completion = 200;
};

class ScriptedModel {
public:
  // What the model answers to a prompt; `number` counts the completions from 0.
  using Answer = std::function<ModelAnswer(const std::string& body, std::size_t number)>;

  explicit ScriptedModel(Answer answer);

  std::string url() const { return server_.url(); }
  // Completions asked for, and tokens billed for the good ones.
  std::size_t completions() const;
  std::uint64_t billed() const;
  std::vector<std::string> bodies() const;

private:
  Script serve(const ServedRequest& request);

  Answer answer_;
  mutable std::mutex mutex_;
  std::vector<std::string> bodies_;
  std::uint64_t billed_ = 0;
  ScriptedServer server_; // last: it calls serve() from its threads
};

std::string fenced(const std::string& kernel);

} // namespace kernevo
