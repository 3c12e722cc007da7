#pragma once

// Encryption with a passphrase, for files that leave the box, and BLAKE2b (libsodium).
//
// The key is derived with Argon2id (RFC 9106), which takes a second and 64 MiB on a small board, so
// that guessing passphrases is slow. The data is a sequence of messages, each encrypted and
// authenticated with XChaCha20-Poly1305 together with its position in the sequence: a message that
// is changed, moved, repeated or left out is refused, and the last one is marked, so that a missing
// end is noticed. Each object is used by one thread at a time.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace comanda::crypto {

// What Argon2id was given, kept beside the encrypted data.
struct KeyCost {
  uint32_t passes = 3;
  uint32_t memory_kib = 64 * 1024;
};

inline constexpr size_t kSaltBytes = 16;
inline constexpr size_t kStreamHeaderBytes = 24;
// An encrypted message is longer than its content by this much.
inline constexpr size_t kMessageOverheadBytes = 17;

class StreamKey {
 public:
  // `salt` has kSaltBytes. Fault if there is too little memory.
  StreamKey(std::string_view passphrase, std::string_view salt, const KeyCost& cost);
  ~StreamKey();  // overwrites the key
  StreamKey(const StreamKey&) = delete;

  const unsigned char* bytes() const { return bytes_.data(); }

 private:
  std::array<unsigned char, 32> bytes_{};
};

// A new salt.
std::string RandomSalt();

// `associated` in both classes is authenticated and not encrypted.
class StreamWriter {
 public:
  explicit StreamWriter(const StreamKey& key);
  ~StreamWriter();

  const std::string& header() const { return header_; }  // kStreamHeaderBytes
  // The message, encrypted. None may follow the last one.
  std::string Write(std::string_view content, bool is_last, std::string_view associated = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::string header_;
};

class StreamReader {
 public:
  // `header` has kStreamHeaderBytes.
  StreamReader(const StreamKey& key, std::string_view header);
  ~StreamReader();

  // Decrypts the next message into `content`. False if it is not the next one that the writer wrote
  // with this key. None may follow where is_last() is true.
  bool Read(std::string_view message, std::string& content, std::string_view associated = {});
  bool is_last() const { return is_last_; }

 private:
  struct State;
  std::unique_ptr<State> state_;
  bool is_last_ = false;
};

// BLAKE2b with 64 bytes, as b2sum(1) computes it.
class Blake2b {
 public:
  Blake2b();
  ~Blake2b();
  void Add(std::string_view data);
  // In hexadecimal. Ends the object's use.
  std::string Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The version of libsodium linked in.
std::string SodiumVersion();

}  // namespace comanda::crypto
