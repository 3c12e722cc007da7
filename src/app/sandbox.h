#pragma once

// The sandbox beside the live environment. The restaurant must sell whatever is the matter with it:
// while its database cannot be used or upgraded, its addresses answer 503, /readyz of the live one
// and the log say why, and it is tried again each minute.

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "app/environment.h"
#include "wire/request.h"
#include "wire/response.h"

namespace comanda::app {

class Sandbox {
 public:
  using Open = std::function<std::unique_ptr<Environment>(const Upgrading&)>;

  // Tries for the first time; `open` may fail as it likes.
  Sandbox(Open open, std::string errors_base, const Upgrading& upgrading);

  // One thread. False where it is still not served.
  bool TryToOpen(const Upgrading& upgrading);

  // Null while it is not served. Any thread.
  Environment* environment() const { return serving_; }
  // Why it is not served, without internals; null while it is. Any thread.
  const char* trouble() const { return trouble_; }
  wire::Response Answer(const wire::Request& request) const;

 private:
  const Open open_;
  const std::string errors_base_;
  std::unique_ptr<Environment> environment_;
  std::atomic<Environment*> serving_{nullptr};
  std::atomic<const char*> trouble_{nullptr};
};

}  // namespace comanda::app
