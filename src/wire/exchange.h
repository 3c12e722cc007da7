#pragma once

// An exchange is one request and its answer.
//
// The server makes an exchange when the head of a request has arrived, and gives a reference to it
// to the handler, which fills in `response`. The same object goes through every step of the
// request; when the handler returns, the server sends the response and destroys the exchange.
// Whatever a step needs from the connection (the body, or that the connection counts as
// authenticated) it asks the exchange for, so that no callback leads back to the socket.
//
// An exchange is used by one thread at a time: the one that runs its handler.

#include <cstddef>
#include <string>
#include <utility>

#include "base/problem.h"
#include "wire/request.h"
#include "wire/response.h"

namespace comanda::wire {

class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  virtual ~Exchange() = default;

  Request request;
  Response response;

  // Returns the whole body; empty where the request has none, and on every further call. Sends "100
  // Continue" first where the client waits for that. Blocks until the body has arrived, at most for
  // Timeouts::body_ms. Throws Refusal: payload_too_large where it has more than bytes_max bytes,
  // request_timeout, invalid_header where the connection ended first or a chunk is malformed.
  virtual std::string ReadBody(size_t bytes_max) = 0;

  // To be called when the request's key was found valid, before any work is done for it: the
  // connection then counts as authenticated and is no longer among the first to be evicted
  // (wire/admission.h). Throws Refusal service_unavailable where it was evicted already.
  void Authenticate() {
    AuthenticateConnection();
    authenticated_ = true;
  }
  bool authenticated() const { return authenticated_; }

 private:
  virtual void AuthenticateConnection() {}

  bool authenticated_ = false;
};

// What ReadBody() throws where the body is too large: payload_too_large.
Refusal BodyTooLarge(size_t bytes_max);

// An exchange without a connection: of a command that is run inside this process, and of tests.
class InProcessExchange final : public Exchange {
 public:
  explicit InProcessExchange(std::string body) : body_(std::move(body)) {}
  std::string ReadBody(size_t bytes_max) override;

 private:
  std::string body_;
};

}  // namespace comanda::wire
