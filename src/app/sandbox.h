#pragma once

// The test environment, which may be unavailable. A failure of its database or upgrade must not
// keep the live environment from starting: then the sandbox answers 503, /readyz of the live
// environment and the log say why, and the chores try to open it again once a minute.

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "app/environment.h"
#include "wire/exchange.h"

namespace comanda::app {

class Sandbox {
 public:
  using Open = std::function<std::unique_ptr<Environment>(const Upgrading&)>;

  // Calls TryToOpen(). An exception of `open` is logged and not passed on.
  Sandbox(Open open, std::string errors_base, const Upgrading& upgrading);

  // Calls `open`, which may block for the time of an upgrade; false if it throws. Only while
  // environment() is null, and by one thread at a time.
  bool TryToOpen(const Upgrading& upgrading);

  // Null until TryToOpen() has succeeded; then valid as long as this object. Any thread.
  Environment* environment() const { return serving_; }
  // Why environment() is null, without internals; null if it is not. Any thread.
  const char* trouble() const { return trouble_; }
  // Answers the request, with 503 where environment() is null. Any thread.
  void Handle(wire::Exchange& exchange) const;

 private:
  const Open open_;
  const std::string errors_base_;
  std::unique_ptr<Environment> environment_;
  std::atomic<Environment*> serving_{nullptr};
  std::atomic<const char*> trouble_{nullptr};
};

}  // namespace comanda::app
