#include "conversation.h"

#include <chrono>
#include <fstream>
#include <thread>

namespace kernevo::mcp {
namespace {

constexpr std::chrono::seconds kPatience{60};

} // namespace

Conversation::Conversation(const std::string& script, ServerOptions options)
    : folder_(TemporaryFolder::make().value()) {
  const std::filesystem::path program = folder_.path() / "program";
  std::ofstream(program) << "#!/bin/sh\n" << script << "\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  options.version = "1.2.3";
  options.program = {program.string(), {"PATH=/usr/bin:/bin", "TMPDIR=" + folder_.path().string()}};
  server_ = std::make_unique<Server>(std::move(options), [this](const std::string& text) {
    const std::lock_guard lock(mutex_);
    heard_.push_back(Json::parse(text));
    changed_.notify_all();
  });
}

void Conversation::request(int id, const std::string& method, const Json& params) {
  send(Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}});
}

void Conversation::call(int id, const std::string& tool, const Json& arguments, const Json& meta) {
  Json params{{"name", tool}, {"arguments", arguments}};
  if (!meta.is_null())
    params["_meta"] = meta;
  request(id, "tools/call", params);
}

Json Conversation::answer(int id) {
  std::unique_lock lock(mutex_);
  Json found;
  changed_.wait_for(lock, kPatience, [&] {
    for (const Json& message : heard_)
      if (message.is_object() && message.contains("id") && message["id"] == id)
        found = message;
    return !found.is_null();
  });
  return found;
}

Json Conversation::ask(const std::string& method, const Json& params) {
  request(++next_, method, params);
  return answer(next_);
}

std::vector<Json> Conversation::heard() const {
  const std::lock_guard lock(mutex_);
  return heard_;
}

void Conversation::settle() const {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!server_->idle() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

} // namespace kernevo::mcp
