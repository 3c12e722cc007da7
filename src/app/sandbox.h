#pragma once

// The instance of the test environment, which may be unavailable. A failure of its database or
// upgrade must not keep the live one from starting: then the sandbox answers 503, /readyz of the
// live instance and the log say why, and the chores try to open it again once a minute.
//
// Without an address (the setting sandbox_listen) nobody uses it but a command of this machine,
// such as `comanda keys create --env test`: its database is then opened for the first request of
// one, and costs a start nothing. So it may be of an older version than live.db.

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "app/instance.h"
#include "wire/exchange.h"

namespace comanda::app {

class Sandbox {
 public:
  using Open = std::function<std::unique_ptr<Instance>(const Upgrading&)>;

  // Calls TryToOpen() if the sandbox `has_address`. An exception of `open` is logged and not passed
  // on.
  Sandbox(Open open, bool has_address, std::string errors_base, const Upgrading& upgrading);

  // Calls `open`, which may block for the time of an upgrade; false if it throws. Only while
  // instance() is null, and by one thread at a time.
  bool TryToOpen(const Upgrading& upgrading);
  // Whether TryToOpen() failed, so that it is to be called again.
  bool IsMissing() const { return has_address_ && !instance(); }

  // Null until TryToOpen() has succeeded; then valid as long as this object. Any thread.
  Instance* instance() const { return serving_; }
  // Why instance() is null, without internals; null if it is not. Any thread.
  const char* trouble() const { return trouble_; }
  // Answers the request, with 503 where instance() is null. Any thread.
  void Handle(wire::Exchange& exchange) const;
  // The same for a command of this machine, for which a sandbox without an address is opened. Any
  // thread.
  void HandleLocal(wire::Exchange& exchange);

 private:
  const Open open_;
  const bool has_address_;
  const std::string errors_base_;
  std::unique_ptr<Instance> instance_;
  std::atomic<Instance*> serving_{nullptr};
  std::atomic<const char*> trouble_{nullptr};
  std::mutex local_mutex_;  // held while a sandbox without an address is opened
};

}  // namespace comanda::app
