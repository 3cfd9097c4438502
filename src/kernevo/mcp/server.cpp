#include "kernevo/mcp/server.h"

#include "kernevo/base/suggest.h"
#include "kernevo/mcp/calls.h"
#include "kernevo/mcp/resources.h"
#include "kernevo/model/json_fields.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <mutex>
#include <utility>

namespace kernevo::mcp {
namespace {

constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kMethodNotFound = -32601;
constexpr int kInvalidParams = -32602;
constexpr int kBusy = -32000;
constexpr int kResourceNotFound = -32002;

constexpr std::array<std::string_view, 3> kProtocols = {"2025-06-18", "2025-03-26", "2024-11-05"};

constexpr const char* kInstructions =
    "kernevo finds faster GPU kernels without a GPU. Read kernevo://guide first. One kernel: "
    "check, "
    "profile, bench, compare, tune. A whole search under a budget: ask, write the kernel it wants, "
    "tell, and ask again until it says that the run is over.";

// What a request may end in instead of a result.
struct Refusal {
  int code = 0;
  std::string message;
};

template <class T> using Answer = tl::expected<T, Refusal>;

tl::unexpected<Refusal> refuse(int code, std::string message) {
  return tl::unexpected<Refusal>(Refusal{code, std::move(message)});
}

using Reply = std::function<void(Json)>;

Json result_message(const Json& id, Json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

Json error_message(const Json& id, const Refusal& refusal) {
  return {{"jsonrpc", "2.0"},
          {"id", id},
          {"error", {{"code", refusal.code}, {"message", refusal.message}}}};
}

// The answers of a batch go out together when the last of them is there.
class Batch {
public:
  explicit Batch(Reply send) : send_(std::move(send)) {}
  ~Batch() {
    if (!answers_.empty())
      send_(std::move(answers_));
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  void add(Json answer) {
    const std::lock_guard lock(mutex_);
    answers_.push_back(std::move(answer));
  }

private:
  Reply send_;
  std::mutex mutex_;
  Json answers_ = Json::array();
};

// A member of an object that is a string, or nothing.
const std::string* text_member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() || !found->is_string() ? nullptr
                                                      : found->get_ptr<const std::string*>();
}

bool is_id(const Json& id) {
  return id.is_string() || id.is_number_integer();
}

} // namespace

class Server::Session {
public:
  Session(ServerOptions options, std::function<void(const std::string&)> write)
      : options_(std::move(options)), write_(std::move(write)),
        calls_(options_.at_once, options_.most_calls) {}

  bool idle() const { return calls_.idle(); }

  void receive(const Line& line) {
    if (line.too_long)
      return send(error_message(nullptr, {kInvalidRequest, "the message is too long"}));
    if (line.text.find_first_not_of(" \t\r") == std::string::npos)
      return;
    const Json message = parse(line.text);
    if (message.is_discarded())
      return send(error_message(nullptr, {kParseError, "this is not JSON"}));
    if (!message.is_array())
      return handle(message, [this](const Json& answer) { send(answer); });
    if (message.empty())
      return send(error_message(nullptr, {kInvalidRequest, "the batch is empty"}));
    const auto batch = std::make_shared<Batch>([this](const Json& answers) { send(answers); });
    for (const Json& one : message)
      handle(one, [batch](Json answer) { batch->add(std::move(answer)); });
  }

private:
  // Nesting deeper than any message has would cost the parser's callers their stack.
  static Json parse(const std::string& text) {
    constexpr int deepest = 64;
    bool too_deep = false;
    Json message = Json::parse(
        text,
        [&](int depth, Json::parse_event_t, Json&) {
          too_deep = too_deep || depth > deepest;
          return !too_deep;
        },
        false);
    return too_deep ? Json(Json::value_t::discarded) : message;
  }

  void send(const Json& message) {
    const std::string text = message.dump(-1, ' ', false, Json::error_handler_t::replace);
    const std::lock_guard lock(writing_);
    write_(text);
  }

  void handle(const Json& message, const Reply& reply) {
    if (!message.is_object())
      return reply(error_message(nullptr, {kInvalidRequest, "a message is an object"}));
    const auto id = message.find("id");
    const std::string* method = text_member(message, "method");
    if (method == nullptr) {
      if (id != message.end() && (message.contains("result") || message.contains("error")))
        return; // an answer; we never asked
      return reply(error_message(nullptr, {kInvalidRequest, "the message has no method"}));
    }
    const auto found = message.find("params");
    const Json params = found == message.end() ? Json::object() : *found;
    if (id == message.end())
      return notified(*method, params);
    if (!is_id(*id))
      return reply(error_message(nullptr, {kInvalidRequest, "an id is a string or an integer"}));
    const std::string* version = text_member(message, "jsonrpc");
    if (version == nullptr || *version != "2.0")
      return reply(error_message(*id, {kInvalidRequest, "'jsonrpc' must be \"2.0\""}));
    if (!params.is_object())
      return reply(error_message(*id, {kInvalidParams, "'params' must be an object"}));
    requested(*id, *method, params, reply);
  }

  void notified(const std::string& method, const Json& params) {
    if (method != "notifications/cancelled" || !params.is_object())
      return;
    if (const auto id = params.find("requestId"); id != params.end() && is_id(*id))
      calls_.cancel(id->dump());
  }

  void requested(const Json& id, const std::string& method, const Json& params,
                 const Reply& reply) {
    if (method == "tools/call") {
      if (const auto started = call_tool(id, params, reply); !started)
        reply(error_message(id, started.error()));
      return;
    }
    Answer<Json> answer = answer_at_once(method, params);
    reply(answer ? result_message(id, std::move(*answer)) : error_message(id, answer.error()));
  }

  Answer<Json> answer_at_once(const std::string& method, const Json& params) {
    if (method == "initialize")
      return initialize(params);
    if (method == "ping")
      return Json::object();
    if (method == "tools/list") {
      Json list = Json::array();
      for (const Tool& tool : tools())
        list.push_back(describe_tool(tool, !options_.task.empty()));
      return Json{{"tools", std::move(list)}};
    }
    if (method == "resources/list")
      return Json{{"resources", list_resources(options_.task)}};
    if (method == "resources/templates/list")
      return Json{{"resourceTemplates", list_resource_templates()}};
    if (method == "resources/read")
      return read(params);
    if (method == "prompts/list")
      return Json{{"prompts", Json::array()}};
    return refuse(kMethodNotFound, fmt::format("there is no method '{}'", method));
  }

  Answer<Json> initialize(const Json& params) const {
    const std::string* wanted = text_member(params, "protocolVersion");
    if (wanted == nullptr)
      return refuse(kInvalidParams, "'protocolVersion' is missing");
    const bool known = std::find(kProtocols.begin(), kProtocols.end(), *wanted) != kProtocols.end();
    return Json{
        {"protocolVersion", known ? *wanted : std::string(kProtocols.front())},
        {"capabilities",
         {{"tools", {{"listChanged", false}}},
          {"resources", {{"subscribe", false}, {"listChanged", false}}}}},
        {"serverInfo", {{"name", "kernevo"}, {"title", "kernevo"}, {"version", options_.version}}},
        {"instructions", kInstructions}};
  }

  Answer<Json> read(const Json& params) const {
    const std::string* address = text_member(params, "uri");
    if (address == nullptr)
      return refuse(kInvalidParams, "'uri' is missing");
    auto resource = read_resource(*address, options_.task);
    if (!resource)
      return refuse(kResourceNotFound, format_error(resource.error()));
    return Json{{"contents", Json::array({{{"uri", *address},
                                           {"mimeType", resource->type},
                                           {"text", std::move(resource->text)}}})}};
  }

  Answer<void> call_tool(const Json& id, const Json& params, const Reply& reply) {
    const std::string* name = text_member(params, "name");
    if (name == nullptr)
      return refuse(kInvalidParams, "'name' is missing");
    const Tool* tool = find_tool(*name);
    if (tool == nullptr) {
      std::vector<std::string> names;
      for (const Tool& known : tools())
        names.push_back(known.name);
      return refuse(kInvalidParams,
                    fmt::format("there is no tool '{}'{}", *name, did_you_mean(*name, names)));
    }
    const auto arguments = params.find("arguments");
    auto call = prepare_call(
        *tool, arguments == params.end() || arguments->is_null() ? Json::object() : *arguments,
        options_.task);
    if (!call)
      return refuse(kInvalidParams, call.error().message);
    switch (calls_.start(id.dump(), work(id, progress_token(params), std::move(*call), reply))) {
    case Calls::Start::started: return {};
    case Calls::Start::full: return refuse(kBusy, "too many calls are under way; try again later");
    case Calls::Start::known: return refuse(kInvalidRequest, "a request with this id is under way");
    }
    return {};
  }

  static Json progress_token(const Json& params) {
    const auto meta = params.find("_meta");
    if (meta == params.end() || !meta->is_object())
      return nullptr;
    const auto token = meta->find("progressToken");
    return token != meta->end() && is_id(*token) ? *token : Json(nullptr);
  }

  Calls::Work work(Json id, Json token, PreparedCall call, Reply reply) {
    return [this, id = std::move(id), token = std::move(token), call = std::move(call),
            reply = std::move(reply)](const std::function<bool()>& cancelled) {
      const auto start = std::chrono::steady_clock::now();
      double said = 0;
      const auto watched = [&] {
        const double passed =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        if (!token.is_null() && passed >= said + options_.progress_seconds) {
          said = passed;
          send({{"jsonrpc", "2.0"},
                {"method", "notifications/progress"},
                {"params",
                 {{"progressToken", token},
                  {"progress", passed},
                  {"message", fmt::format("{}: {:.0f} s", call.tool->name, passed)}}}});
        }
        return cancelled();
      };
      if (auto result = run_tool(options_.program, call, watched))
        reply(result_message(id, std::move(*result)));
    };
  }

  ServerOptions options_;
  std::function<void(const std::string&)> write_;
  std::mutex writing_;
  Calls calls_; // last: its threads use all of the above
};

Server::Server(ServerOptions options, std::function<void(const std::string&)> write)
    : session_(std::make_unique<Session>(std::move(options), std::move(write))) {}

Server::~Server() = default;

void Server::receive(const Line& line) {
  session_->receive(line);
}

bool Server::idle() const {
  return session_->idle();
}

} // namespace kernevo::mcp
