#include "crypto/secret_stream.h"

#include <mutex>

#include "base/check.h"
#include "base/problem.h"
#include "base/random.h"
#include "crypto/hash.h"

#include <sodium.h>

namespace comanda::crypto {
namespace {

static_assert(kSaltBytes == crypto_pwhash_argon2id_SALTBYTES);
static_assert(kStreamHeaderBytes == crypto_secretstream_xchacha20poly1305_HEADERBYTES);
static_assert(kMessageOverheadBytes == crypto_secretstream_xchacha20poly1305_ABYTES);

// Not sodium_init(): what it prepares besides is not used here, and it would bring curves and other
// ciphers into the program. Its choice of code by the processor has one to choose from in our build
// (third_party/libsodium).
void InitialiseSodium() {
  static std::once_flag once;
  std::call_once(once, [] { randombytes_stir(); });
}

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

unsigned char* Bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

}  // namespace

StreamKey::StreamKey(std::string_view passphrase, std::string_view salt, const KeyCost& cost) {
  InitialiseSodium();
  CHECK(salt.size() == kSaltBytes, "a salt has one length");
  const int result = crypto_pwhash_argon2id(
      bytes_.data(), bytes_.size(), passphrase.data(), passphrase.size(), Bytes(salt), cost.passes,
      size_t{cost.memory_kib} * 1024, crypto_pwhash_argon2id_ALG_ARGON2ID13);
  if (result != 0) {
    throw Fault(Fault::Kind::kUnavailable,
                "there is too little memory to derive a key from the passphrase: " +
                    std::to_string(cost.memory_kib / 1024) + " MiB are needed");
  }
}

StreamKey::~StreamKey() { sodium_memzero(bytes_.data(), bytes_.size()); }

std::string RandomSalt() {
  std::array<uint8_t, kSaltBytes> salt;
  FillRandom(salt);
  return {reinterpret_cast<const char*>(salt.data()), salt.size()};
}

struct StreamWriter::State {
  crypto_secretstream_xchacha20poly1305_state stream;
  ~State() { sodium_memzero(&stream, sizeof stream); }
};

StreamWriter::StreamWriter(const StreamKey& key)
    : state_(std::make_unique<State>()), header_(kStreamHeaderBytes, '\0') {
  crypto_secretstream_xchacha20poly1305_init_push(&state_->stream, Bytes(header_), key.bytes());
}

StreamWriter::~StreamWriter() = default;

std::string StreamWriter::Write(std::string_view content, bool is_last,
                                std::string_view associated) {
  std::string message(content.size() + kMessageOverheadBytes, '\0');
  const unsigned char tag = is_last ? crypto_secretstream_xchacha20poly1305_TAG_FINAL
                                    : crypto_secretstream_xchacha20poly1305_TAG_MESSAGE;
  const int result = crypto_secretstream_xchacha20poly1305_push(
      &state_->stream, Bytes(message), nullptr, Bytes(content), content.size(), Bytes(associated),
      associated.size(), tag);
  CHECK(result == 0, "encrypting memory cannot fail");
  return message;
}

struct StreamReader::State {
  crypto_secretstream_xchacha20poly1305_state stream;
  ~State() { sodium_memzero(&stream, sizeof stream); }
};

StreamReader::StreamReader(const StreamKey& key, std::string_view header)
    : state_(std::make_unique<State>()) {
  CHECK(header.size() == kStreamHeaderBytes, "a stream's header has one length");
  const int result =
      crypto_secretstream_xchacha20poly1305_init_pull(&state_->stream, Bytes(header), key.bytes());
  CHECK(result == 0, "any header can be tried");
}

StreamReader::~StreamReader() = default;

bool StreamReader::Read(std::string_view message, std::string& content,
                        std::string_view associated) {
  if (is_last_ || message.size() < kMessageOverheadBytes) return false;
  content.resize(message.size() - kMessageOverheadBytes);
  unsigned char tag = 0;
  if (crypto_secretstream_xchacha20poly1305_pull(&state_->stream, Bytes(content), nullptr, &tag,
                                                 Bytes(message), message.size(), Bytes(associated),
                                                 associated.size()) != 0) {
    content.clear();
    return false;
  }
  is_last_ = tag == crypto_secretstream_xchacha20poly1305_TAG_FINAL;
  return true;
}

struct Blake2b::State {
  crypto_generichash_blake2b_state hash;
};

Blake2b::Blake2b() : state_(std::make_unique<State>()) {
  InitialiseSodium();
  crypto_generichash_blake2b_init(&state_->hash, nullptr, 0, crypto_generichash_blake2b_BYTES_MAX);
}

Blake2b::~Blake2b() = default;

void Blake2b::Add(std::string_view data) {
  crypto_generichash_blake2b_update(&state_->hash, Bytes(data), data.size());
}

std::string Blake2b::Finish() {
  std::string digest(crypto_generichash_blake2b_BYTES_MAX, '\0');
  crypto_generichash_blake2b_final(&state_->hash, Bytes(digest), digest.size());
  return Hex(digest);
}

std::string SodiumVersion() { return sodium_version_string(); }

}  // namespace comanda::crypto
