#pragma once

// One call while it has a slot: libcurl's easy handle and what it has received. Inside net/ only;
// lives on the network thread.

#include <curl/curl.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "net/call.h"

namespace comanda::net {

class Transfer {
 public:
  // Sets all options of the handle. Fault where libcurl refuses one.
  explicit Transfer(Call call);
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  CURL* handle() const { return handle_.get(); }
  const Call& call() const { return call_; }

  // What came of it. Once, after libcurl is done with the handle.
  Answer Finish(CURLcode code);
  // The same for a transfer that we end ourselves.
  Answer Abandon(Outcome outcome, std::string error);

 private:
  static size_t ReceiveHeader(char* data, size_t size, size_t count, void* self) noexcept;
  static size_t ReceiveBody(char* data, size_t size, size_t count, void* self) noexcept;
  static curl_socket_t OpenSocket(void* self, curlsocktype purpose,
                                  curl_sockaddr* address) noexcept;
  static int BeforeRequest(void* self, char* remote_address, char* local_address, int remote_port,
                           int local_port) noexcept;
  static CURLcode SetUpTls(CURL* handle, void* ssl_config, void* self) noexcept;

  int Status() const;           // of the last status line; 0: none came
  std::string Address() const;  // that libcurl is connected to; empty: none
  bool TakeHeaderLine(std::string_view line);
  bool TakeBody(std::string_view bytes);
  void SetOptions();
  void AddHeader(const char* line);
  void SetTls();
  void SetAddressCheck();

  struct EasyDeleter {
    void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
  };
  struct ListDeleter {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };

  const Call call_;
  Answer answer_;
  bool has_head_ = false;
  bool is_too_large_ = false;
  int addresses_refused_ = 0;
  int addresses_dialled_ = 0;
  int64_t started_ms_;
  char message_[CURL_ERROR_SIZE] = "";
  std::unique_ptr<curl_slist, ListDeleter> headers_;
  std::unique_ptr<CURL, EasyDeleter> handle_;  // destroyed before what it points to
};

}  // namespace comanda::net
