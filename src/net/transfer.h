#pragma once

// A call that has its slot: libcurl's easy handle, and the answer as received so far. Internal to
// this room.

#include <curl/curl.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "net/call.h"
#include "net/internet.h"

namespace comanda::net {

struct EasyDeleter {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
using Easy = std::unique_ptr<CURL, EasyDeleter>;

// Used on the network thread only. Not movable: libcurl holds pointers into it.
class Transfer {
 public:
  // Sets all options of the handle; `spare` is one without options to be used, or null. Throws
  // Fault if libcurl rejects an option.
  explicit Transfer(Call call, Easy spare = nullptr);
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // Connects to that address instead of looking up the host of the URL, which stays the name in the
  // certificate and in the Host header. The time since the construction counts against both
  // timeouts. Before the transfer begins. Throws Fault if libcurl rejects it.
  void DialAt(const std::string& ipv4_address);

  CURL* handle() const { return handle_.get(); }
  const Call& call() const { return call_; }
  // Gives the handle back without options, once it is removed from the multi handle and the answer
  // is taken.
  Easy TakeHandle();

  // The answer of a transfer that libcurl has completed. Call once.
  Answer Finish(CURLcode code);
  // What the completed transfer shows of the internet; kNone before Finish().
  Evidence evidence() const { return evidence_; }
  // The answer of a transfer that the program ends itself. Call once.
  Answer Abandon(Outcome outcome, std::string error);

 private:
  // Callbacks of libcurl; `self` is the Transfer. They catch all exceptions.
  static size_t ReceiveHeader(char* data, size_t size, size_t count, void* self) noexcept;
  static size_t ReceiveBody(char* data, size_t size, size_t count, void* self) noexcept;
  static curl_socket_t OpenSocket(void* self, curlsocktype purpose,
                                  curl_sockaddr* address) noexcept;
  static int BeforeRequest(void* self, char* remote_address, char* local_address, int remote_port,
                           int local_port) noexcept;
  static int LookAtProgress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) noexcept;
  static CURLcode SetUpTls(CURL* handle, void* ssl_config, void* self) noexcept;

  // The status of the last status line; 0 before the first.
  int Status() const;
  // The numeric address of the peer; empty while not connected.
  std::string Address() const;
  bool TakeHeaderLine(std::string_view line);
  bool TakeBody(std::string_view bytes);
  void SetOptions();
  void AddHeader(const char* line);
  void SetTimeouts();
  void SetTls();
  void SetAddressCheck();
  Evidence EvidenceOf(Outcome outcome, long system_error) const;

  struct ListDeleter {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };

  const Call call_;
  Answer answer_;
  bool has_head_ = false;
  int64_t head_ms_ = 0;  // when it was complete
  bool is_too_large_ = false;
  bool is_body_late_ = false;
  int addresses_refused_ = 0;
  int addresses_dialled_ = 0;
  int public_dialled_ = 0;  // of them, those that are no local network's
  Evidence evidence_ = Evidence::kNone;
  int64_t started_ms_;
  char message_[CURL_ERROR_SIZE] = "";
  std::unique_ptr<curl_slist, ListDeleter> headers_;
  std::unique_ptr<curl_slist, ListDeleter> connect_to_;
  // Last, so that it is destroyed before the members it points to.
  Easy handle_;
};

}  // namespace comanda::net
