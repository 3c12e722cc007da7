#include "cloud/link/connection.h"

#include <optional>
#include <utility>

#include "base/problem.h"
#include "cloud/link/key_file.h"
#include "cloud/link/linking.h"
#include "crypto/authorities.h"

namespace comanda::cloud {

bool Connection::Renew(const Link* link, bool is_new) {
  const int64_t ended = ended_;
  if (is_new || !link) End();
  if (link) Connect(*link);
  return ended_ != ended;
}

void Connection::Connect(const Link& link) {
  try {
    const auto key = ReadKey(options_.data_directory);
    if (!key) {
      why_not_ = "no key: `comanda cloud link` with the key of the same company goes on";
      End();
      return;
    }
    Peer wanted{.url = link.url, .ca_file = link.ca_file, .key = *key};
    // A client with authorities that cannot be read any more is kept, and no other is made.
    if (client_) wanted.authorities = peer_.authorities;
    const bool is_same = client_ && wanted == peer_;
    std::optional<Target> target;
    try {
      target = TargetOf(options_, wanted.url, wanted.ca_file, wanted.key);
    } catch (...) {
      if (is_same) return;
      throw;
    }
    wanted.authorities = target->authorities->fingerprint();
    if (client_ && wanted == peer_) return;
    End();
    client_ =
        std::make_unique<Client>(*std::move(target), network_, clock_, options_.cloud_quota_share);
    peer_ = std::move(wanted);
  } catch (const Refusal& refusal) {
    why_not_ = "certificate: " + refusal.detail;
  } catch (const Fault& fault) {
    End();
    why_not_ = fault.cause;
  }
}

void Connection::End() {
  if (!client_) return;
  earlier_requests_ += client_->requests();
  earlier_bytes_ += client_->bytes();
  client_.reset();
  ++ended_;
}

}  // namespace comanda::cloud
