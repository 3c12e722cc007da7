#pragma once

// The two exceptions of the program and the list of problem kinds (contract section 2).
//
// Refusal: the caller's doing; becomes a 4xx problem document. Fault: ours or the machine's;
// becomes a 500 or 503, is logged with its cause and never shows internals to the client. Both are
// thrown anywhere and caught in one place per edge: the request (http/dispatch), the writer's job
// (db/writer), a worker's loop, a C callback.

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comanda {

// One row each in http/problem.cc (code, status, title, page), where the compiler asks for it.
enum class Problem : uint8_t {
  kInvalidJson,
  kInvalidParameter,
  kMissingIdempotencyKey,
  kInvalidHeader,
  kConflictingCredentials,
  kUnauthorized,
  kKeyRevoked,
  kKeyExpired,
  kWrongEnvironment,
  kInsufficientScope,
  kAddressNotAllowed,
  kNotFound,
  kMethodNotAllowed,
  kNotAcceptable,
  kRequestTimeout,
  kLengthRequired,
  kPayloadTooLarge,
  kUriTooLong,
  kUnsupportedMediaType,
  kExpectationFailed,
  kMisdirectedRequest,
  kHeadersTooLarge,
  kCursorExpired,
  kPreconditionFailed,
  kValidationFailed,
  kOrderNotEditable,
  kOrderCancelled,
  kOrderClosed,
  kOrderHasActivePayments,
  kUseCancelEndpoint,
  kIdempotencyKeyReused,
  kLastManagingKey,
  kRateLimitExceeded,
  kInternalError,
  kNotImplemented,
  kServiceUnavailable,
  kVersionNotSupported,
};

// The codes of the items of errors[] (contract section 2).
enum class FieldCode : uint8_t {
  kRequired,
  kWrongType,
  kUnknownValue,
  kInvalidFormat,
  kTooShort,
  kTooLong,
  kOutOfRange,
  kMustBePositive,
  kMustNotBeNegative,
  kTooManyDecimals,
  kTooManyItems,
  kTooManyProducts,
  kEmpty,
  kDuplicate,
  kNotFound,
  kNotAllowed,
  kReadOnly,
  kUnknownField,
  kSkuTaken,
  kIdOrSkuRequired,
  kIllegalMove,
  kLooksLikeCardNumber,
};

// The code as it stands on the wire, e.g. "too_many_decimals".
std::string_view Name(FieldCode code);

// One wrong field: its path as the caller wrote it ("combos[0].quantity"), what was wrong and what
// would be accepted, in one sentence.
struct FieldError {
  std::string field;
  FieldCode code;
  std::string message;
};

// At most this many fields are named in one answer.
inline constexpr size_t kFieldErrorsMax = 50;

class Refusal : public std::exception {
 public:
  Refusal(Problem kind, std::string text) : problem(kind), detail(std::move(text)) {}
  Refusal(Problem kind, std::string text, std::vector<FieldError> fields)
      : problem(kind), detail(std::move(text)), errors(std::move(fields)) {}

  const char* what() const noexcept override { return detail.c_str(); }

  Problem problem;
  std::string detail;  // for the client: what was wrong and what would be accepted
  std::vector<FieldError> errors;
  int retry_after_s = 0;       // above 0: the Retry-After header
  std::string allow;           // kMethodNotAllowed: the Allow header
  std::string required_scope;  // kInsufficientScope: for WWW-Authenticate
  std::string oldest_cursor;   // kCursorExpired: where reading can begin again
  bool close_connection = false;
};

// A single wrong field as validation_failed; the detail is made from the message.
Refusal Invalid(std::string field, FieldCode code, std::string message);

class Fault : public std::exception {
 public:
  enum class Kind : uint8_t {
    kInternal,     // a bug, or a page that SQLite cannot read: 500
    kUnavailable,  // queue full, shutting down, reopening the database: 503 with Retry-After
    kDiskFull,     // 503; reads go on, writes go on by themselves when space returns
    kDamaged,      // what was read is not what was written: 500 for this request, all else goes on
    kReadOnly,     // 503; the database file is damaged and takes no more writes, reads go on
  };

  Fault(Kind what_kind, std::string why) : kind(what_kind), cause(std::move(why)) {}
  const char* what() const noexcept override { return cause.c_str(); }

  Kind kind;
  std::string cause;  // for the log only
};

// What the exception that is being handled comes to: a request that found no memory may find it
// when others are done. Only inside a handler.
Fault::Kind KindOfHandled() noexcept;

}  // namespace comanda
