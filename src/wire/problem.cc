#include "wire/problem.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "json/writer.h"

namespace comanda::wire {
namespace {

constexpr std::string_view kRealm = R"(Bearer realm="comanda")";

constexpr std::array kRows = {
    ProblemRow{Problem::kInvalidJson, "invalid_json", 400},
    ProblemRow{Problem::kInvalidParameter, "invalid_parameter", 400},
    ProblemRow{Problem::kMissingIdempotencyKey, "missing_idempotency_key", 400},
    ProblemRow{Problem::kInvalidHeader, "invalid_header", 400},
    ProblemRow{Problem::kConflictingCredentials, "conflicting_credentials", 400},
    ProblemRow{Problem::kUnauthorized, "unauthorized", 401},
    ProblemRow{Problem::kKeyRevoked, "key_revoked", 401},
    ProblemRow{Problem::kKeyExpired, "key_expired", 401},
    ProblemRow{Problem::kWrongEnvironment, "wrong_environment", 401},
    ProblemRow{Problem::kInsufficientScope, "insufficient_scope", 403},
    ProblemRow{Problem::kAddressNotAllowed, "address_not_allowed", 403},
    ProblemRow{Problem::kHttpsRequired, "https_required", 403},
    ProblemRow{Problem::kNotFound, "not_found", 404},
    ProblemRow{Problem::kMethodNotAllowed, "method_not_allowed", 405},
    ProblemRow{Problem::kNotAcceptable, "not_acceptable", 406},
    ProblemRow{Problem::kRequestTimeout, "request_timeout", 408},
    ProblemRow{Problem::kLengthRequired, "length_required", 411},
    ProblemRow{Problem::kPayloadTooLarge, "payload_too_large", 413},
    ProblemRow{Problem::kUriTooLong, "uri_too_long", 414},
    ProblemRow{Problem::kUnsupportedMediaType, "unsupported_media_type", 415},
    ProblemRow{Problem::kExpectationFailed, "expectation_failed", 417},
    ProblemRow{Problem::kMisdirectedRequest, "misdirected_request", 421},
    ProblemRow{Problem::kHeadersTooLarge, "headers_too_large", 431},
    ProblemRow{Problem::kCursorExpired, "cursor_expired", 410},
    ProblemRow{Problem::kPreconditionFailed, "precondition_failed", 412},
    ProblemRow{Problem::kValidationFailed, "validation_failed", 422},
    ProblemRow{Problem::kOrderNotEditable, "order_not_editable", 422},
    ProblemRow{Problem::kOrderCancelled, "order_cancelled", 422},
    ProblemRow{Problem::kOrderClosed, "order_closed", 422},
    ProblemRow{Problem::kOrderHasActivePayments, "order_has_active_payments", 422},
    ProblemRow{Problem::kUseCancelEndpoint, "use_cancel_endpoint", 422},
    ProblemRow{Problem::kIdempotencyKeyReused, "idempotency_key_reused", 422},
    ProblemRow{Problem::kLastManagingKey, "last_managing_key", 422},
    ProblemRow{Problem::kRateLimitExceeded, "rate_limit_exceeded", 429},
    ProblemRow{Problem::kInternalError, "internal_error", 500},
    ProblemRow{Problem::kNotImplemented, "not_implemented", 501},
    ProblemRow{Problem::kServiceUnavailable, "service_unavailable", 503},
    ProblemRow{Problem::kStandby, "standby", 503},
    ProblemRow{Problem::kVersionNotSupported, "version_not_supported", 505},
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
