#pragma once

// TLS of the server: versions 1.2 and 1.3, AEAD cipher suites with ECDHE only. The TLS library is
// known to tls.cc, and to third_party/civetweb/hooks.h, through which CivetWeb calls it.

#include <memory>
#include <string>

#include "crypto/certificate.h"

namespace comanda::wire {

// Whether this processor has instructions for AES. Without them AES costs four times as much as
// ChaCha20, which is then preferred.
bool HasAesInstructions();

// The server's certificate and key, and what every handshake needs of them. Thread-safe.
class Tls {
 public:
  // Throws Refusal validation_failed where the pair cannot be used.
  explicit Tls(const crypto::KeyPair& certificate, bool aes_instructions = HasAesInstructions());
  ~Tls();
  // New connections use this pair; open ones keep theirs. Throws Refusal validation_failed where
  // the pair cannot be used; the former one then stays in use.
  void Replace(const crypto::KeyPair& certificate);

 private:
  friend struct TlsHooks;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace comanda::wire
