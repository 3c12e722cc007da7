#pragma once

// The certificate authorities that receivers of outgoing calls may have.

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "crypto/authorities.h"

namespace comanda::net {

// The system's, and those of one more file (PEM), if it is named. What cannot be read or used is
// logged; null where nothing is left. Blocks for the time it takes to read them. Any thread.
std::shared_ptr<const crypto::Authorities> ReadOutgoingAuthorities(const std::string& more_file);

// The same, read once until Forget(). Any thread.
class OutgoingAuthorities {
 public:
  explicit OutgoingAuthorities(std::string more_file) : more_file_(std::move(more_file)) {}

  std::shared_ptr<const crypto::Authorities> Get();
  // They are read again before the next call.
  void Forget();

 private:
  const std::string more_file_;
  std::mutex mutex_;
  bool is_read_ = false;                                    // guarded by mutex_
  std::shared_ptr<const crypto::Authorities> authorities_;  // guarded by mutex_
};

}  // namespace comanda::net
