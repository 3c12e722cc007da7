#include "net/outcome.h"

namespace comanda::net {

std::string_view Name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kAnswered:
      return "answered";
    case Outcome::kTimeout:
      return "timeout";
    case Outcome::kNameNotFound:
      return "name_not_found";
    case Outcome::kAddressRefused:
      return "address_refused";
    case Outcome::kConnectionFailed:
      return "connection_failed";
    case Outcome::kTlsUntrusted:
      return "tls_untrusted";
    case Outcome::kTlsPinMismatch:
      return "tls_pin_mismatch";
    case Outcome::kAnswerTooLarge:
      return "answer_too_large";
    case Outcome::kCancelled:
      return "cancelled";
    case Outcome::kNotStarted:
      return "not_started";
    case Outcome::kInvalidCall:
      return "invalid_call";
  }
  return {};
}

// Only the codes that occur with HTTP; libcurl has about a hundred, mostly of other protocols.
Outcome OutcomeOf(CURLcode code) {
  if (code == CURLE_OK) return Outcome::kAnswered;
  if (code == CURLE_OPERATION_TIMEDOUT) return Outcome::kTimeout;
  if (code == CURLE_COULDNT_RESOLVE_HOST) return Outcome::kNameNotFound;
  if (code == CURLE_PEER_FAILED_VERIFICATION) return Outcome::kTlsUntrusted;
  if (code == CURLE_SSL_PINNEDPUBKEYNOTMATCH) return Outcome::kTlsPinMismatch;
  if (code == CURLE_TOO_LARGE) return Outcome::kAnswerTooLarge;
  constexpr std::array kInvalid = {CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL,
                                   CURLE_BAD_FUNCTION_ARGUMENT};
  for (const CURLcode invalid : kInvalid) {
    if (code == invalid) return Outcome::kInvalidCall;
  }
  return Outcome::kConnectionFailed;
}

}  // namespace comanda::net
