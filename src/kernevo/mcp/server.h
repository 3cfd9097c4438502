// The Model Context Protocol on lines of text: JSON-RPC 2.0 in, JSON-RPC 2.0 out.
#pragma once

#include "kernevo/mcp/line_reader.h"
#include "kernevo/mcp/run_tool.h"

#include <functional>
#include <memory>
#include <string>

namespace kernevo::mcp {

struct ServerOptions {
  std::string version; // of this program
  Program program;
  std::string task;            // file of the task that is meant when none is named
  std::size_t at_once = 4;     // calls of tools
  std::size_t most_calls = 64; // with those that wait
  double progress_seconds = 5; // between two words of progress
};

class Server {
public:
  // `write` is called with one message at a time, without an end of line.
  Server(ServerOptions options, std::function<void(const std::string&)> write);
  ~Server(); // cancels what is under way
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Answers at once, except for calls of tools, which answer from threads of their own.
  void receive(const Line& line);
  bool idle() const; // no call is under way

private:
  class Session;
  std::unique_ptr<Session> session_;
};

} // namespace kernevo::mcp
