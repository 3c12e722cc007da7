#pragma once

// The exchange of a request that came over a connection.
//
// Its life has three parts, all on the connection's worker thread. It is made from the raw bytes of
// the head, before CivetWeb parses them; the server checks the head (wire/head.h) and may refuse
// it. Begin() fills in the request, and the handler runs. Send() writes the response. Between two
// requests a connection has no exchange, so that an idle worker keeps no API key in memory.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/address.h"
#include "base/time/clock.h"
#include "base/problem.h"
#include "wire/admission.h"
#include "wire/exchange.h"
#include "wire/head.h"

struct mg_connection;

namespace comanda::wire {

// The sizes of a chunked body, counted by CivetWeb's hooks while the body is read. CivetWeb itself
// would take chunks and their framing of any size.
struct ChunkedBody {
  uint64_t bytes_max = kAnyBodyBytesMax;
  uint64_t declared_bytes = 0;  // the sum of the sizes that its chunks declare
  size_t framing_bytes = 0;     // of chunk extensions and trailers

  bool IsTooLarge() const { return declared_bytes > bytes_max; }
  bool HasTooMuchFraming() const { return framing_bytes > kChunkFramingBytesMax; }
};

class ConnectionExchange final : public Exchange {
 public:
  // Copies the head. `connection` is null for a socket that wire::Admission did not accept.
  // `chunks` is where the hooks of the worker count; it is reset.
  ConnectionExchange(std::string_view raw_head, Admission& admission, Connection* connection,
                     ChunkedBody& chunks);

  // The bytes of the head as received, to the empty line that ends it.
  std::string_view text() const { return text_; }
  // Reads the head. Throws Refusal (wire/head.h); what was read before the mistake stays in head().
  void ReadHead() { CheckHead(text_, head_); }
  const Head& head() const { return head_; }
  // Replaces the target, in CivetWeb's copy of the head, by one of the same length that it has no
  // opinion about: CivetWeb would answer "*" and foreign hosts itself, and split and clean the
  // path.
  void HideTarget(char* raw) const;

  // Fills in `request`. Local requests come from the command line (wire::Request::local).
  void Begin(mg_connection* stream, bool is_local, const Clock& clock);

  // Takes the address of the client from the proxy that it came through, where that is what the
  // peer is. Throws Refusal (wire/forwarded.h).
  void LookBehind(std::span<const AddressRange> proxies);

  std::string ReadBody(size_t bytes_max) override;

  // Whether the connection must be closed after this exchange: the client asked for that, or the
  // unread part of the body is too large or of unknown length.
  bool MustClose() const;
  // Writes `response`, in one write where it is small. Blocks while the client does not read, at
  // most for Timeouts::write_ms. `close`: the connection is closed after it.
  void Send(mg_connection* stream, UtcMs now, bool close);
  // To be called after Send(): where a body is unread, it is read and discarded.
  void DiscardBody(bool close);

  // The id for the answer to a head that is refused, before Begin().
  std::string RequestId(const Clock& clock) const;

  std::optional<Refusal> refusal;  // why the head is refused

 private:
  void AuthenticateConnection() override;
  bool HasBody() const { return head_.chunked || head_.length > 0; }
  bool BodyMustClose() const;
  size_t ReadPiece(std::string& body, size_t bytes_max);
  [[noreturn]] void RefuseSize(size_t bytes_max) const;
  [[noreturn]] void RefuseFraming() const;
  [[noreturn]] void RefuseShort() const;

  std::string text_;  // all views of head_ and of request.headers point into it
  Head head_;
  Admission& admission_;
  Connection* connection_;
  ChunkedBody& chunks_;
  mg_connection* stream_ = nullptr;
  bool body_begun_ = false;
  bool body_finished_ = false;
};

}  // namespace comanda::wire
