#include "scripted_server.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cctype>
#include <chrono>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace kernevo {
namespace {

bool readable(int socket, const std::atomic<bool>& stopping) {
  while (!stopping) {
    pollfd one{socket, POLLIN, 0};
    if (poll(&one, 1, 20) > 0)
      return true;
  }
  return false;
}

std::optional<ServedRequest> read_request(int socket, const std::atomic<bool>& stopping) {
  std::string text;
  std::size_t body_at = std::string::npos;
  std::size_t length = 0;
  ServedRequest request;
  while (body_at == std::string::npos || text.size() < body_at + length) {
    char buffer[16384];
    const ssize_t got =
        readable(socket, stopping) ? recv(socket, buffer, sizeof buffer, 0) : ssize_t{0};
    if (got <= 0)
      return std::nullopt;
    text.append(buffer, static_cast<std::size_t>(got));
    if (body_at != std::string::npos || text.find("\r\n\r\n") == std::string::npos)
      continue;
    body_at = text.find("\r\n\r\n") + 4;
    std::size_t line = text.find("\r\n");
    const std::size_t blank = text.find(' ');
    request.method = text.substr(0, blank);
    request.path = text.substr(blank + 1, text.find(' ', blank + 1) - blank - 1);
    for (line += 2; line < body_at - 2;) {
      const std::size_t end = text.find("\r\n", line);
      const std::size_t colon = text.find(':', line);
      std::string name = text.substr(line, colon - line);
      std::transform(name.begin(), name.end(), name.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      request.headers[name] = text.substr(colon + 2, end - colon - 2);
      line = end + 2;
    }
    if (request.headers.contains("content-length"))
      length = std::stoul(request.headers["content-length"]);
  }
  request.body = text.substr(body_at, length);
  return request;
}

} // namespace

Script plain_answer(int status, const std::string& body, const std::vector<std::string>& headers,
                    const std::string& type) {
  std::string head = fmt::format("HTTP/1.1 {} Status\r\nContent-Type: {}\r\nContent-Length: {}\r\n",
                                 status, type, body.size());
  for (const std::string& header : headers)
    head += header + "\r\n";
  return {{{head + "Connection: close\r\n\r\n" + body}}};
}

Script chunked_answer(const std::vector<std::string>& texts, double delay, bool end) {
  Script script;
  script.pieces.push_back({"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                           "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"});
  for (const std::string& text : texts)
    script.pieces.push_back({fmt::format("{:x}\r\n{}\r\n", text.size(), text), delay});
  if (end)
    script.pieces.push_back({"0\r\n\r\n"});
  return script;
}

Script open_ended_answer(const std::vector<std::string>& texts) {
  Script script;
  script.pieces.push_back(
      {"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"});
  for (const std::string& text : texts)
    script.pieces.push_back({text});
  return script;
}

ScriptedServer::ScriptedServer(Handler handler) : handler_(std::move(handler)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  if (listener_ < 0 || bind(listener_, plain, size) != 0 || listen(listener_, 64) != 0 ||
      getsockname(listener_, plain, &size) != 0) {
    ADD_FAILURE() << "no server on 127.0.0.1";
    return;
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { listen_for_connections(); });
}

ScriptedServer::~ScriptedServer() {
  stopping_ = true;
  if (acceptor_.joinable())
    acceptor_.join();
  close(listener_);
}

std::string ScriptedServer::url(const std::string& path) const {
  return fmt::format("http://127.0.0.1:{}{}", port_, path);
}

std::size_t ScriptedServer::count() const {
  const std::lock_guard lock(mutex_);
  return requests_.size();
}

std::vector<ServedRequest> ScriptedServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void ScriptedServer::listen_for_connections() {
  struct Connection {
    std::thread thread;
    std::shared_ptr<std::atomic<bool>> over;
  };
  std::vector<Connection> connections;
  const auto join_ended = [&](bool all) {
    std::erase_if(connections, [&](Connection& one) {
      if (!all && !*one.over)
        return false;
      one.thread.join();
      return true;
    });
  };
  while (readable(listener_, stopping_)) {
    const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0)
      continue;
    join_ended(false);
    auto over = std::make_shared<std::atomic<bool>>(false);
    connections.push_back({std::thread([this, socket, over] {
                             serve(socket);
                             *over = true;
                           }),
                           over});
  }
  join_ended(true);
}

void ScriptedServer::serve(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const auto request = read_request(socket, stopping_);
  bool reset = false;
  if (request) {
    std::size_t number = 0;
    {
      const std::lock_guard lock(mutex_);
      number = requests_.size();
      requests_.push_back(*request);
    }
    const Script script = handler_(*request, number);
    reset = !send_script(socket, script) || script.reset;
  }
  if (reset) {
    const linger now{1, 0};
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  }
  close(socket);
}

bool ScriptedServer::send_script(int socket, const Script& script) const {
  for (const ScriptPiece& piece : script.pieces) {
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() <
           piece.delay) {
      // A client that went away is noticed, so that a stalled script does not hold up the test.
      pollfd one{socket, POLLRDHUP, 0};
      if (stopping_ || (poll(&one, 1, 5) > 0))
        return false;
    }
    for (std::size_t sent = 0; sent < piece.bytes.size();) {
      const ssize_t now =
          send(socket, piece.bytes.data() + sent, piece.bytes.size() - sent, MSG_NOSIGNAL);
      if (now <= 0)
        return false;
      sent += static_cast<std::size_t>(now);
    }
  }
  return true;
}

} // namespace kernevo
