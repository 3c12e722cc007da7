#pragma once

// The client for the link as it is now: made of its URL, the key file and the authorities, and made
// again when one of them changes. One thread.

#include <cstdint>
#include <memory>
#include <string>

#include "base/time/clock.h"
#include "cloud/link/client.h"
#include "cloud/link/link.h"
#include "config/options.h"
#include "net/network.h"

namespace comanda::cloud {

class Connection {
 public:
  // All outlive it.
  Connection(const config::Options& options, const Clock& clock, net::Network& network)
      : options_(options), clock_(clock), network_(network) {}

  // Null: no client can be made, and why_not() says why.
  Client* client() const { return client_.get(); }
  const std::string& why_not() const { return why_not_; }

  // Reads key and authorities again; without a link there is no client. A client for the same cloud
  // and key is kept, with its pace: each `resume` ends a wait, no more. `is_new`: also where they
  // are the same. True where the former client was ended.
  bool Renew(const Link* link, bool is_new);

  // Of all clients: what is counted never goes back.
  int64_t requests() const { return earlier_requests_ + (client_ ? client_->requests() : 0); }
  int64_t bytes() const { return earlier_bytes_ + (client_ ? client_->bytes() : 0); }

 private:
  // What the client was made for.
  struct Peer {
    std::string url, ca_file, key;
    std::string authorities;  // their fingerprint
    bool operator==(const Peer&) const = default;
  };

  // Makes client_, keeps it, or sets why_not_.
  void Connect(const Link& link);
  void End();

  const config::Options& options_;
  const Clock& clock_;
  net::Network& network_;
  std::unique_ptr<Client> client_;
  std::string why_not_;
  Peer peer_;          // of client_
  int64_t ended_ = 0;  // clients
  int64_t earlier_requests_ = 0, earlier_bytes_ = 0;
};

}  // namespace comanda::cloud
