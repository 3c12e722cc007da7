#include "wire/connection_exchange.h"

#include <civetweb.h>

#include <algorithm>
#include <utility>

#include "base/id.h"
#include "base/text.h"
#include "wire/forwarded.h"
#include "wire/response_writer.h"

namespace comanda::wire {
namespace {

// A connection with more of an unread body than this is closed.
constexpr uint64_t kUnreadBytesMax = 64 * 1024;
constexpr size_t kReadBytes = 64 * 1024;
// One call of mg_write, which has the whole of write_ms for the client to read it.
constexpr size_t kWriteBytes = 256 * 1024;
// A record of TLS: head and body up to this size are sent together.
constexpr size_t kRecordBytes = 16 * 1024;
constexpr size_t kRequestIdMax = 128;

bool IsRequestId(std::string_view text) {
  return !text.empty() && text.size() <= kRequestIdMax && std::ranges::all_of(text, [](char c) {
    return IsAlphanumeric(c) || c == '.' || c == '_' || c == '-';
  });
}

std::string_view WithoutMappedPrefix(std::string_view address) {
  constexpr std::string_view kMapped = "::ffff:";
  if (address.starts_with(kMapped) && address.find('.') != std::string_view::npos) {
    address.remove_prefix(kMapped.size());
  }
  return address;
}

bool WriteAll(mg_connection* stream, std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t size = std::min(bytes.size(), kWriteBytes);
    if (mg_write(stream, bytes.data(), size) != static_cast<int>(size)) return false;
    bytes.remove_prefix(size);
  }
  return true;
}

}  // namespace

ConnectionExchange::ConnectionExchange(std::string_view raw_head, Admission& admission,
                                       Connection* connection, ChunkedBody& chunks)
    : text_(raw_head), admission_(admission), connection_(connection), chunks_(chunks) {
  chunks = ChunkedBody();
}

// CivetWeb knows no TRACE; PATCH has as many letters.
void ConnectionExchange::HideTarget(char* raw) const {
  if (head_.method == Method::kTrace) {
    const std::string_view name = Name(Method::kPatch);
    std::ranges::copy(name, raw + text_.find(Name(Method::kTrace)));
  }
  const auto offset = static_cast<size_t>(head_.target.data() - text_.data());
  raw[offset] = '/';
  std::fill_n(raw + offset + 1, head_.target.size() - 1, ' ');
}

std::string ConnectionExchange::RequestId(const Clock& clock) const {
  for (const auto& [name, value] : head_.headers) {
    if (AsciiEqualsIgnoreCase(name, "x-request-id") && IsRequestId(value))
      return std::string(value);
  }
  return NewId(clock.Now());
}

void ConnectionExchange::Begin(mg_connection* stream, bool is_local, const Clock& clock) {
  stream_ = stream;
  request.method = head_.method;
  request.path = head_.path;
  request.query = head_.query;
  request.headers = head_.headers;
  request.client_address =
      is_local ? "127.0.0.1" : WithoutMappedPrefix(mg_get_request_info(stream)->remote_addr);
  request.request_id = RequestId(clock);
  request.local = is_local;
}

// One connection of a proxy brings requests of many clients.
void ConnectionExchange::LookBehind(std::span<const AddressRange> proxies) {
  if (request.local || !IsProxy(request.client_address, proxies)) return;
  request.client_address = ClientBehind(request, proxies);
  if (connection_ != nullptr) {
    admission_.Attribute(*connection_, ClientOf(request.client_address));
  }
}

void ConnectionExchange::AuthenticateConnection() {
  if (connection_ == nullptr || admission_.Authenticate(*connection_)) return;
  throw Refusal(Problem::kServiceUnavailable, "The connection was closed; try again.");
}

std::string ConnectionExchange::ReadBody(size_t bytes_max) {
  if (!HasBody()) return "";
  if (!head_.chunked && head_.length > bytes_max) RefuseSize(bytes_max);
  chunks_.bytes_max = bytes_max;
  if (std::exchange(body_begun_, true)) return "";
  if (connection_ != nullptr) admission_.Enter(*connection_, ConnectionState::kBody);
  if (head_.expects_continue && !WriteAll(stream_, "HTTP/1.1 100 Continue\r\n\r\n")) {
    RefuseShort();
  }
  std::string body;
  while (head_.chunked || body.size() < head_.length) {
    if (ReadPiece(body, bytes_max) == 0) break;
  }
  body_finished_ = true;
  if (connection_ != nullptr && !admission_.Enter(*connection_, ConnectionState::kRequest)) {
    RefuseShort();
  }
  return body;
}

size_t ConnectionExchange::ReadPiece(std::string& body, size_t bytes_max) {
  const size_t before = body.size();
  const size_t wanted =
      head_.chunked ? kReadBytes : std::min<uint64_t>(kReadBytes, head_.length - before);
  body.resize(before + wanted);
  const int got = mg_read(stream_, body.data() + before, wanted);
  body.resize(before + static_cast<size_t>(std::max(got, 0)));
  if (chunks_.IsTooLarge()) RefuseSize(bytes_max);
  if (chunks_.HasTooMuchFraming()) RefuseFraming();
  if (got < 0 || (got == 0 && !head_.chunked)) RefuseShort();
  if (body.size() > bytes_max) RefuseSize(bytes_max);
  return static_cast<size_t>(got);
}

void ConnectionExchange::RefuseSize(size_t bytes_max) const {
  Refusal refused = BodyTooLarge(bytes_max);
  refused.close_connection = BodyMustClose();
  throw refused;
}

void ConnectionExchange::RefuseFraming() const {
  Refusal refused(Problem::kPayloadTooLarge, "Chunk extensions and trailers may have at most " +
                                                 std::to_string(kChunkFramingBytesMax) +
                                                 " bytes together.");
  refused.close_connection = true;
  throw refused;
}

void ConnectionExchange::RefuseShort() const {
  const bool too_slow = connection_ != nullptr && connection_->deadline_passed;
  Refusal refused = too_slow ? Refusal(Problem::kRequestTimeout, "The body did not arrive in time.")
                             : Refusal(Problem::kInvalidHeader,
                                       "The body ended early, or its chunks are malformed.");
  refused.close_connection = true;
  throw refused;
}

bool ConnectionExchange::BodyMustClose() const {
  if (body_finished_ || !HasBody()) return false;
  return body_begun_ || head_.chunked || head_.expects_continue || head_.length > kUnreadBytesMax;
}

bool ConnectionExchange::MustClose() const {
  return response.close_connection || !head_.keeps_alive || BodyMustClose();
}

void ConnectionExchange::Send(mg_connection* stream, UtcMs now, bool close) {
  std::string first;
  const std::string_view rest = AppendResponse(first, response,
                                               {.omit_body = head_.method == Method::kHead,
                                                .close = close,
                                                .now = now,
                                                .request_id = request.request_id,
                                                .bytes_max = kRecordBytes});
  if (connection_ != nullptr) admission_.Enter(*connection_, ConnectionState::kAnswer);
  const bool sent = WriteAll(stream, first) && WriteAll(stream, rest);
  if (!sent || close) mg_disable_connection_keep_alive(stream);
}

void ConnectionExchange::DiscardBody(bool close) {
  if (connection_ == nullptr || !HasBody() || body_finished_) return;
  connection_->drain_on_close = close;
  admission_.Enter(*connection_, ConnectionState::kDiscard);
}

}  // namespace comanda::wire
