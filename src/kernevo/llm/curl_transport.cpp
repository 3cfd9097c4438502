#include "kernevo/llm/curl_transport.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <curl/curl.h>
#include <mutex>

namespace kernevo::llm {
namespace {

struct EasyCloser {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct MultiCloser {
  void operator()(CURLM* handle) const { curl_multi_cleanup(handle); }
};
struct ListCloser {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Easy = std::unique_ptr<CURL, EasyCloser>;
using Multi = std::unique_ptr<CURLM, MultiCloser>;
using List = std::unique_ptr<curl_slist, ListCloser>;

struct Sink {
  HttpResponse& response;
  const OnBody& on_body;
  CURL* handle = nullptr;
  bool refused = false;
};

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

constexpr std::size_t kMostHeaders = 200;

std::size_t on_header(char* data, std::size_t size, std::size_t count, void* user) {
  auto& sink = *static_cast<Sink*>(user);
  const std::string_view line(data, size * count);
  if (line.starts_with("HTTP/")) { // a proxy's answer or a "100 Continue" came before
    sink.response.headers.clear();
    long status = 0;
    curl_easy_getinfo(sink.handle, CURLINFO_RESPONSE_CODE, &status);
    sink.response.status = static_cast<int>(status);
    return line.size();
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || sink.response.headers.size() >= kMostHeaders)
    return line.size();
  std::string name(line.substr(0, colon));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  sink.response.headers[name] = trim(line.substr(colon + 1));
  return line.size();
}

std::size_t on_data(char* data, std::size_t size, std::size_t count, void* user) {
  auto& sink = *static_cast<Sink*>(user);
  long status = 0;
  curl_easy_getinfo(sink.handle, CURLINFO_RESPONSE_CODE, &status);
  sink.response.status = static_cast<int>(status);
  if (sink.on_body({data, size * count}))
    return size * count;
  sink.refused = true;
  return 0;
}

TransportError error_of(CURLcode code, CURL* handle) {
  switch (code) {
  case CURLE_OK: return TransportError::none;
  case CURLE_COULDNT_RESOLVE_HOST:
  case CURLE_COULDNT_RESOLVE_PROXY: return TransportError::cannot_resolve;
  case CURLE_COULDNT_CONNECT: return TransportError::cannot_connect;
  case CURLE_SSL_CONNECT_ERROR:
  case CURLE_PEER_FAILED_VERIFICATION:
  case CURLE_SSL_CERTPROBLEM:
  case CURLE_SSL_CIPHER:
  case CURLE_SSL_CACERT_BADFILE: return TransportError::tls;
  case CURLE_OPERATION_TIMEDOUT: {
    double connected = 0;
    curl_easy_getinfo(handle, CURLINFO_PRETRANSFER_TIME, &connected);
    return connected > 0 ? TransportError::timeout : TransportError::cannot_connect;
  }
  case CURLE_PARTIAL_FILE:
  case CURLE_RECV_ERROR:
  case CURLE_SEND_ERROR:
  case CURLE_GOT_NOTHING:
  case CURLE_WEIRD_SERVER_REPLY:
  case CURLE_BAD_CONTENT_ENCODING:
  case CURLE_HTTP2:
  case CURLE_HTTP2_STREAM: return TransportError::cut;
  default: return TransportError::other;
  }
}

bool is_local(std::string_view url) {
  const std::string_view host = url.substr(std::min(url.find("://") + 3, url.size()));
  for (const std::string_view name : {"localhost", "127.0.0.1", "[::1]"})
    if (host.starts_with(name) &&
        (host.size() == name.size() || host[name.size()] == ':' || host[name.size()] == '/'))
      return true;
  return false;
}

long milliseconds(double seconds) {
  return static_cast<long>(std::ceil(std::clamp(seconds, 0.001, 1e6) * 1000));
}

void set_up(CURL* handle, const HttpRequest& request, curl_slist* headers, char* error_text,
            Sink& sink) {
  curl_easy_setopt(handle, CURLOPT_URL, request.url.c_str());
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
#if LIBCURL_VERSION_NUM >= 0x075700
  // Do not wait for a name server when the exchange is over.
  curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);
#endif
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_TCP_NODELAY, 1L);
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, milliseconds(request.connect_seconds));
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, milliseconds(request.total_seconds));
  curl_easy_setopt(handle, CURLOPT_USERAGENT, "kernevo");
  if (is_local(request.url))
    curl_easy_setopt(handle, CURLOPT_PROXY, "");
  if (request.method == "POST") {
    curl_easy_setopt(handle, CURLOPT_POST, 1L);
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, request.body.data());
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.body.size()));
  }
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, error_text);
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, &on_header);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, &sink);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &on_data);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &sink);
}

List header_list(const HttpRequest& request) {
  List list;
  const auto add = [&](const std::string& line) {
    curl_slist* longer = curl_slist_append(list.get(), line.c_str());
    if (longer != nullptr) {
      (void)list.release();
      list.reset(longer);
    }
  };
  for (const auto& [name, value] : request.headers)
    add(name + ": " + value);
  add("Expect:"); // no pause before the body
  return list;
}

// The multi interface, because the easy one looks around only once a second.
class CurlTransport : public Transport {
public:
  void exchange(const HttpRequest& request, HttpResponse& response, const OnBody& on_body,
                const GoOn& go_on) override {
    const Multi multi(curl_multi_init());
    const Easy easy(curl_easy_init());
    if (!multi || !easy) {
      response.error = TransportError::other;
      response.message = "out of memory";
      return;
    }
    const List headers = header_list(request);
    std::array<char, CURL_ERROR_SIZE> error_text{};
    Sink sink{response, on_body, easy.get()};
    set_up(easy.get(), request, headers.get(), error_text.data(), sink);
    curl_multi_add_handle(multi.get(), easy.get());
    const CURLcode code = run(multi.get(), go_on, sink);
    response.error = sink.refused ? TransportError::cancelled : error_of(code, easy.get());
    if (response.error != TransportError::none)
      response.message = error_text[0] != '\0' ? error_text.data() : curl_easy_strerror(code);
    curl_multi_remove_handle(multi.get(), easy.get());
  }

private:
  static CURLcode run(CURLM* multi, const GoOn& go_on, Sink& sink) {
    constexpr int kLookAround = 100; // milliseconds
    while (true) {
      int running = 0;
      if (curl_multi_perform(multi, &running) != CURLM_OK)
        return CURLE_FAILED_INIT;
      if (running == 0)
        break;
      if (go_on && !go_on()) {
        sink.refused = true;
        return CURLE_ABORTED_BY_CALLBACK;
      }
      curl_multi_poll(multi, nullptr, 0, kLookAround, nullptr);
    }
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi, &left))
      if (message->msg == CURLMSG_DONE)
        return message->data.result;
    return CURLE_FAILED_INIT;
  }
};

} // namespace

std::shared_ptr<Transport> make_curl_transport() {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
  return std::make_shared<CurlTransport>();
}

} // namespace kernevo::llm
