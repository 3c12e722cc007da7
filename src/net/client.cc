#include "net/client.h"

#include <ares.h>
#include <curl/curl.h>

#include <memory>

namespace comanda::net {
namespace {

struct Receiver {
  std::string body;
  size_t bytes_max;
};

size_t Receive(char* data, size_t size, size_t count, void* user) {
  auto& receiver = *static_cast<Receiver*>(user);
  const size_t bytes = size * count;
  if (receiver.body.size() + bytes > receiver.bytes_max) return 0;  // libcurl ends the call
  receiver.body.append(data, bytes);
  return bytes;
}

struct EasyDeleter {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct HeadersDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

std::unique_ptr<curl_slist, HeadersDeleter> HeaderList(const Call& call) {
  std::unique_ptr<curl_slist, HeadersDeleter> list;
  for (const std::string& header : call.headers) {
    list.reset(curl_slist_append(list.release(), header.c_str()));
  }
  // Without this libcurl waits for a 100 Continue on larger bodies.
  list.reset(curl_slist_append(list.release(), "Expect:"));
  return list;
}

}  // namespace

Answer Send(const Call& call) {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  const std::unique_ptr<CURL, EasyDeleter> easy(initialised == CURLE_OK ? curl_easy_init() : nullptr);
  if (!easy) return {.error = "libcurl could not be initialised"};

  Receiver receiver{.body = {}, .bytes_max = call.answer_bytes_max};
  const auto headers = HeaderList(call);
  char message[CURL_ERROR_SIZE] = "";

  CURL* handle = easy.get();
  curl_easy_setopt(handle, CURLOPT_URL, call.url.c_str());
  curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, call.method.c_str());
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(call.timeout_ms));
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, Receive);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &receiver);
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, message);
  if (!call.unix_socket.empty()) {
    curl_easy_setopt(handle, CURLOPT_UNIX_SOCKET_PATH, call.unix_socket.c_str());
  }
  if (!call.body.empty()) {
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, call.body.data());
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call.body.size()));
  }

  const CURLcode code = curl_easy_perform(handle);
  if (code != CURLE_OK) {
    return {.error = message[0] != '\0' ? message : curl_easy_strerror(code)};
  }
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  return {.status = static_cast<int>(status), .body = std::move(receiver.body), .error = {}};
}

std::string LibraryVersion() { return curl_version_info(CURLVERSION_NOW)->version; }

std::string ResolverVersion() { return ares_version(nullptr); }

}  // namespace comanda::net
