// An HTTP server for tests that answers exactly the bytes it is told, in pieces, with pauses, and
// ends the connection well or badly.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace kernevo {

struct ServedRequest {
  std::string method;
  std::string path;
  std::map<std::string, std::string> headers; // names in lower case
  std::string body;
};

struct ScriptPiece {
  std::string bytes;
  double delay = 0; // seconds before it
};

struct Script {
  std::vector<ScriptPiece> pieces; // the status line and the headers included
  bool reset = false;              // end with a reset instead of a proper close
};

// A whole answer of a body with its length.
Script plain_answer(int status, const std::string& body,
                    const std::vector<std::string>& headers = {},
                    const std::string& type = "application/json");
// A chunked stream: each text is one chunk. Without an end the stream is cut.
Script chunked_answer(const std::vector<std::string>& texts, double delay = 0, bool end = true);
// The same without chunks: ends when the connection does.
Script open_ended_answer(const std::vector<std::string>& texts);

class ScriptedServer {
public:
  using Handler = std::function<Script(const ServedRequest& request, std::size_t number)>;

  explicit ScriptedServer(Handler handler);
  ~ScriptedServer();
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  int port() const { return port_; }
  std::string url(const std::string& path = "/v1") const;
  std::size_t count() const;
  std::vector<ServedRequest> requests() const;

private:
  void listen_for_connections();
  void serve(int socket);
  bool send_script(int socket, const Script& script) const;

  Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stopping_ = false;
  mutable std::mutex mutex_;
  std::vector<ServedRequest> requests_;
  std::thread acceptor_;
};

} // namespace kernevo
