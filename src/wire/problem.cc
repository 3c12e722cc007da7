#include "wire/problem.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "json/writer.h"

namespace comanda::wire {
namespace {

constexpr std::string_view kRealm = R"(Bearer realm="comanda")";

constexpr std::array kRows = {
    ProblemRow{Problem::kInvalidJson, "invalid_json", 400,
               "The body is not valid JSON (RFC 8259), or it is empty where one is needed. The "
               "detail says what is wrong and at which byte. Keys must not be repeated."},
    ProblemRow{Problem::kInvalidParameter, "invalid_parameter", 400,
               "A parameter behind the question mark is unknown, empty, repeated or has a value "
               "that cannot be read. The detail names it and lists what is allowed."},
    ProblemRow{Problem::kMissingIdempotencyKey, "missing_idempotency_key", 400,
               "Placing an order needs the header Idempotency-Key: a text that your system makes "
               "once per order and sends again unchanged when it repeats the request."},
    ProblemRow{Problem::kInvalidHeader, "invalid_header", 400,
               "A header, or the frame of the request, cannot be read. The detail names the header "
               "and its form."},
    ProblemRow{Problem::kConflictingCredentials, "conflicting_credentials", 400,
               "Authorization and X-API-Key carry different keys. Send one of them."},
    ProblemRow{
        Problem::kUnauthorized, "unauthorized", 401,
        "No API key was sent, or it is not known. Send Authorization: Bearer <key>. The last "
        "six characters are a checksum: a key that was mistyped or cut off is refused too."},
    ProblemRow{
        Problem::kKeyRevoked, "key_revoked", 401,
        "The API key was revoked, or replaced and its time of grace is over. Use the new key, "
        "or have one made."},
    ProblemRow{
        Problem::kKeyExpired, "key_expired", 401,
        "The API key was made for a limited time, which is over. Have a new one made, or its "
        "expires_at moved. Check the clock of the box if that is a surprise."},
    ProblemRow{Problem::kWrongEnvironment, "wrong_environment", 401,
               "A live key was sent to the sandbox, or a test key to the live address. Use the key "
               "and the address of the same environment."},
    ProblemRow{Problem::kInsufficientScope, "insufficient_scope", 403,
               "The key is good, but it lacks the scope that this request needs; the detail names "
               "it. Have it added to the key."},
    ProblemRow{Problem::kAddressNotAllowed, "address_not_allowed", 403,
               "The key may be used only from certain addresses (allowed_cidrs), and the request "
               "came from another one."},
    ProblemRow{Problem::kHttpsRequired, "https_required", 403,
               "The request came over plain HTTP, where a key would be readable for everybody on "
               "the way. Nothing of it was read. The detail has the https address to use."},
    ProblemRow{
        Problem::kNotFound, "not_found", 404,
        "There is no such path, or no record with that id in this company. Check the id, and "
        "that the path has no slash at its end."},
    ProblemRow{Problem::kMethodNotAllowed, "method_not_allowed", 405,
               "The path exists, but not with this method. The header Allow lists those it has."},
    ProblemRow{Problem::kNotAcceptable, "not_acceptable", 406,
               "The header Accept excludes application/json, and there is no other form."},
    ProblemRow{Problem::kRequestTimeout, "request_timeout", 408,
               "The request did not arrive in time. Check the network between client and box."},
    ProblemRow{Problem::kLengthRequired, "length_required", 411,
               "The request has a body of unknown length. Send Content-Length."},
    ProblemRow{Problem::kPayloadTooLarge, "payload_too_large", 413,
               "The body is larger than this path allows: 1 MiB, or 8 MiB for PUT "
               "/v1/menu/products. Send it in parts."},
    ProblemRow{Problem::kUriTooLong, "uri_too_long", 414,
               "The request line is longer than 8 KiB. Use fewer parameters."},
    ProblemRow{Problem::kUnsupportedMediaType, "unsupported_media_type", 415,
               "The body must be JSON in UTF-8, not compressed: Content-Type: application/json."},
    ProblemRow{Problem::kExpectationFailed, "expectation_failed", 417,
               "The header Expect asks for something other than 100-continue."},
    ProblemRow{Problem::kMisdirectedRequest, "misdirected_request", 421,
               "The header Host names a host that this box does not answer to. Use its own name or "
               "address, or add the name to the setting hosts."},
    ProblemRow{Problem::kHeadersTooLarge, "headers_too_large", 431,
               "The header fields are larger than 16 KiB together, or more than 64."},
    ProblemRow{
        Problem::kCursorExpired, "cursor_expired", 410,
        "The cursor of the event feed is older than what is kept, or from before a backup was "
        "restored. List the records anew and follow from the new cursor."},
    ProblemRow{Problem::kPreconditionFailed, "precondition_failed", 412,
               "The record has changed since the version that If-Match names. Read it again and "
               "decide anew."},
    ProblemRow{Problem::kValidationFailed, "validation_failed", 422,
               "One or more fields are wrong. errors[] names each with what would be accepted."},
    ProblemRow{Problem::kOrderNotEditable, "order_not_editable", 422,
               "The order did not come through this API: only its status can be changed here."},
    ProblemRow{Problem::kOrderCancelled, "order_cancelled", 422,
               "The order is cancelled and stays as it is."},
    ProblemRow{Problem::kOrderClosed, "order_closed", 422,
               "The order is finalized: it takes comments, but no other change of this kind."},
    ProblemRow{Problem::kOrderHasActivePayments, "order_has_active_payments", 422,
               "An order with payments cannot be cancelled. Cancel its payments first; the detail "
               "lists them."},
    ProblemRow{Problem::kUseCancelEndpoint, "use_cancel_endpoint", 422,
               "An order is not cancelled by its status. Use POST /v1/orders/{id}/cancel with a "
               "reason."},
    ProblemRow{Problem::kIdempotencyKeyReused, "idempotency_key_reused", 422,
               "The same Idempotency-Key came before with another request. Make a new key for each "
               "new request; repeat a request with its key and body unchanged."},
    ProblemRow{
        Problem::kLastManagingKey, "last_managing_key", 422,
        "This is the last key that can manage keys. Make another one first, with the command "
        "line of the box."},
    ProblemRow{Problem::kRateLimitExceeded, "rate_limit_exceeded", 429,
               "Too many requests. Wait for the seconds in Retry-After, then go on. Polling with "
               "If-None-Match costs nothing while nothing changes."},
    ProblemRow{Problem::kInternalError, "internal_error", 500,
               "Something failed inside the box; nothing was changed. Its log has the cause under "
               "the request_id of the answer."},
    ProblemRow{Problem::kNotImplemented, "not_implemented", 501,
               "The method or the transfer coding of the request is not known here."},
    ProblemRow{
        Problem::kServiceUnavailable, "service_unavailable", 503,
        "The box cannot do this just now: it is stopping, very busy, or its disk is full. Try "
        "again after the seconds in Retry-After; /readyz says what is wrong."},
    ProblemRow{
        Problem::kStandby, "standby", 503,
        "This is the second server of a head office: another one serves the database, and this one "
        "takes over when it ends. Ask the other one, or again after the seconds in Retry-After."},
    ProblemRow{Problem::kVersionNotSupported, "version_not_supported", 505,
               "The request is not HTTP/1.1 or HTTP/1.0."},
};

consteval bool RowsStandInOrder() {
  for (size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].problem != static_cast<Problem>(i)) return false;
  }
  return true;
}
static_assert(RowsStandInOrder());
static_assert(kRows.size() == static_cast<size_t>(Problem::kVersionNotSupported) + 1,
              "every kind of problem has its row");

// The value of WWW-Authenticate (RFC 6750 section 3); empty where the answer has none.
std::string Challenge(const Refusal& refusal) {
  std::string challenge(kRealm);
  if (refusal.problem == Problem::kInsufficientScope) {
    challenge += R"(, error="insufficient_scope")";
    if (!refusal.required_scope.empty()) challenge += ", scope=\"" + refusal.required_scope + "\"";
    return challenge;
  }
  if (Row(refusal.problem).status != 401) return "";
  // A request without a key gets no error code (RFC 6750 section 3.1); nor does one with an unknown
  // key, so that both look the same.
  if (refusal.problem != Problem::kUnauthorized) challenge += R"(, error="invalid_token")";
  return challenge;
}

}  // namespace

const ProblemRow& Row(Problem problem) { return kRows[static_cast<size_t>(problem)]; }

const ProblemRow* FindRow(std::string_view code) {
  for (const ProblemRow& row : kRows) {
    if (row.code == code) return &row;
  }
  return nullptr;
}

std::string Title(std::string_view code) {
  std::string title(code);
  bool begins_word = true;
  for (char& c : title) {
    if (c == '_') c = ' ';
    if (begins_word && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    begins_word = c == ' ';
  }
  return title;
}

Response ProblemResponse(const Refusal& refusal, std::string_view errors_base,
                         std::string_view instance, std::string_view request_id) {
  const ProblemRow& row = Row(refusal.problem);
  Response response;
  response.status = row.status;
  response.content_type = "application/problem+json";
  response.cache = Cache::kNoStore;
  response.close_connection = refusal.close_connection;

  json::Writer writer(response.body);
  writer.BeginObject();
  writer.Key("type").Text(std::string(errors_base) + "/" + std::string(row.code));
  writer.Key("title").Text(Title(row.code));
  writer.Key("status").Integer(row.status);
  writer.Key("detail").Text(refusal.detail);
  writer.Key("instance").Text(instance);
  writer.Key("code").Text(row.code);
  writer.Key("request_id").Text(request_id);
  if (!refusal.oldest_cursor.empty()) writer.Key("oldest_cursor").Text(refusal.oldest_cursor);
  if (!refusal.errors.empty()) {
    writer.Key("errors").BeginArray();
    const size_t count = std::min(refusal.errors.size(), kFieldErrorsMax);
    for (size_t i = 0; i < count; ++i) {
      const FieldError& error = refusal.errors[i];
      writer.BeginObject();
      writer.Key("field").Text(error.field);
      writer.Key("code").Text(Name(error.code));
      writer.Key("message").Text(error.message);
      writer.EndObject();
    }
    writer.EndArray();
  }
  writer.EndObject();

  // `type` is an identifier, the same on every box; this box explains the code here (RFC 8288).
  response.headers.emplace_back("Link", "</problems/" + std::string(row.code) + R"(>; rel="help")");
  if (const std::string challenge = Challenge(refusal); !challenge.empty()) {
    response.headers.emplace_back("WWW-Authenticate", challenge);
  }
  if (!refusal.allow.empty()) response.headers.emplace_back("Allow", refusal.allow);
  if (refusal.retry_after_s > 0) {
    response.headers.emplace_back("Retry-After", std::to_string(refusal.retry_after_s));
  }
  return response;
}

Refusal ToRefusal(Fault::Kind kind) {
  const auto unavailable = [](std::string detail, int retry_after_s) {
    Refusal refusal(Problem::kServiceUnavailable, std::move(detail));
    refusal.retry_after_s = retry_after_s;
    return refusal;
  };
  switch (kind) {
    case Fault::Kind::kInternal:
      return Refusal(
          Problem::kInternalError,
          "Something failed inside the box; its log has the cause under this request_id.");
    case Fault::Kind::kUnavailable:
      return unavailable("The box is busy or stopping; try again shortly.", 1);
    case Fault::Kind::kDiskFull:
      return unavailable(
          "The disk of the box is full. Reads go on; writes go on when there is space.", 30);
    case Fault::Kind::kDiskReadOnly:
      return unavailable(
          "The disk of the box is read-only. Reads go on; writes go on when it can be written "
          "again.",
          30);
    case Fault::Kind::kUnread:
      return unavailable("The disk of the box failed a read; try again shortly.", 1);
    case Fault::Kind::kDamaged:
      return Refusal(Problem::kInternalError,
                     "What the box has stored of this is damaged; its log names the row under this "
                     "request_id. Everything else goes on.");
    case Fault::Kind::kReadOnly:
      return unavailable(
          "The database of the box takes no more writes: it is damaged, or the disk cannot read a "
          "part of it; /readyz says which. Reads go on.",
          60);
  }
  CHECK(false, "every kind of fault has an answer");
}

}  // namespace comanda::wire
