// A server with a shell script for a program, and what it has said so far.
#pragma once

#include "kernevo/base/temporary_folder.h"
#include "kernevo/mcp/server.h"

#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kernevo::mcp {

using Json = nlohmann::ordered_json;

class Conversation {
public:
  // `script` is the body of a shell script that stands for the program; $1 is the command.
  explicit Conversation(const std::string& script = "echo '{}'", ServerOptions options = {});

  void say(const std::string& line) { server_->receive({line, false}); }
  void send(const Json& message) { say(message.dump()); }
  void request(int id, const std::string& method, const Json& params = Json::object());
  void call(int id, const std::string& tool, const Json& arguments, const Json& meta = nullptr);
  // The answer to a request, waited for; null when none comes.
  Json answer(int id);
  // A request and its answer.
  Json ask(const std::string& method, const Json& params = Json::object());
  std::vector<Json> heard() const;
  // Waits until all calls are over.
  void settle() const;
  Server& server() { return *server_; }
  const std::filesystem::path& folder() const { return folder_.path(); }

private:
  TemporaryFolder folder_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Json> heard_;
  int next_ = 1000;
  std::unique_ptr<Server> server_;
};

} // namespace kernevo::mcp
