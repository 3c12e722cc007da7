#pragma once

// TLS 1.2 and 1.3, AEAD with ECDHE only. TLS stands behind this header alone.

#include <memory>
#include <string>

#include "crypto/certificate.h"

namespace comanda::wire {

// Whether this processor has instructions for AES: in software it costs four times ChaCha20.
bool HasAesInstructions();

// The server's certificate and key in use. Replace() takes effect for new connections, without a
// restart; old ones keep theirs. Any thread.
class Tls {
 public:
  // Refusal where the pair cannot be used.
  explicit Tls(const crypto::KeyPair& certificate, bool aes_instructions = HasAesInstructions());
  ~Tls();
  // Refusal where the pair cannot be used; the old one stays.
  void Replace(const crypto::KeyPair& certificate);

 private:
  friend class Server;
  friend struct TlsHooks;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace comanda::wire
