#pragma once

// The two exceptions of the program, and the kinds of problem that clients see (contract section
// 2).
//
// - Refusal: the client made a mistake. Becomes a 4xx problem document that tells how to correct
//   it.
// - Fault: the program or the machine failed. Becomes a 500 or 503, is logged with its cause, and
//   shows nothing internal to the client.
//
// Any code may throw them. Each edge has one place that catches them: the request (http/dispatch),
// a job of the writer (db/writer), the loop of a worker, a C callback.

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comanda {

// Each kind has one row in wire/problem.cc: code and status. A switch without default
// makes the compiler demand the row.
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
  kHttpsRequired,
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
  kStandby,
  kVersionNotSupported,
};

// What is wrong with one field: the codes in errors[] (contract section 2).
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

// The code as sent in JSON, e.g. "too_many_decimals".
std::string_view Name(FieldCode code);

// One invalid field. `field` is its path as the client wrote it ("combos[0].quantity"); `message`
// is a sentence that says what is wrong and what would be accepted.
struct FieldError {
  std::string field;
  FieldCode code;
  std::string message;
};

// The most fields that one answer names.
inline constexpr size_t kFieldErrorsMax = 50;

// The client's mistake. The optional members below become headers of the answer.
class Refusal : public std::exception {
 public:
  Refusal(Problem kind, std::string text) : problem(kind), detail(std::move(text)) {}
  Refusal(Problem kind, std::string text, std::vector<FieldError> fields)
      : problem(kind), detail(std::move(text)), errors(std::move(fields)) {}

  const char* what() const noexcept override { return detail.c_str(); }

  Problem problem;
  // For the client: what is wrong and what would be accepted.
  std::string detail;
  std::vector<FieldError> errors;
  // Seconds of the Retry-After header; 0: no such header.
  int retry_after_s = 0;
  // With kMethodNotAllowed: the Allow header.
  std::string allow;
  // With kInsufficientScope: the scope that WWW-Authenticate names (RFC 6750 section 3).
  std::string required_scope;
  // With kCursorExpired: the oldest position of the event feed that can still be read.
  std::string oldest_cursor;
  // True if the connection cannot be used any more, e.g. because its body was not read.
  bool close_connection = false;
};

// A validation_failed for a single field. The detail is the message, preceded by the field's name.
Refusal Invalid(std::string field, FieldCode code, std::string message);

// A failure of the program or the machine.
class Fault : public std::exception {
 public:
  enum class Kind : uint8_t {
    // A bug, or a page that makes no sense. Answered with 500.
    kInternal,
    // The writer's queue is full, memory is short, the server is shutting down or reopening its
    // database. Answered with 503 and Retry-After.
    kUnavailable,
    // 503. Reads continue; writes resume by themselves when space is free again.
    kDiskFull,
    // A stored record is not what was written. Answered with 500 for this request; others continue.
    kDamaged,
    // The same for a file system that is read-only, or refuses all writes.
    kDiskReadOnly,
    // The disk failed a read, which may succeed when it is repeated. Answered with 503 and
    // Retry-After.
    kUnread,
    // 503. The database file is damaged, or the disk cannot read a part of it: no more writes are
    // accepted; reads continue.
    kReadOnly,
  };

  Fault(Kind what_kind, std::string why) : kind(what_kind), cause(std::move(why)) {}
  const char* what() const noexcept override { return cause.c_str(); }

  Kind kind;
  // For the log only.
  std::string cause;
};

// The result of `read`, which is tried three times where the disk fails it (kUnread).
template <typename Read>
auto RepeatedIfUnread(Read&& read) {
  for (int tries = 1;; ++tries) {
    try {
      return read();
    } catch (const Fault& fault) {
      constexpr int kTriesMax = 3;
      if (fault.kind != Fault::Kind::kUnread || tries == kTriesMax) throw;
    }
  }
}

// Classifies the exception being handled. Call it inside a catch block only. std::bad_alloc is
// kUnavailable, because memory returns when other requests have finished; any exception that is not
// a Fault is kInternal.
Fault::Kind KindOfHandled() noexcept;

}  // namespace comanda
