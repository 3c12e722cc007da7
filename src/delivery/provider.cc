#include "delivery/provider.h"

#include <algorithm>

namespace comanda::delivery {

std::string_view Name(StoreStatus status) {
  switch (status) {
    case StoreStatus::kOpen:
      return "OPEN";
    case StoreStatus::kPaused:
      return "PAUSED";
    case StoreStatus::kClosed:
      return "CLOSED";
    case StoreStatus::kUnknown:
      return "UNKNOWN";
  }
  return "";
}

std::string_view Name(Reason reason) {
  switch (reason) {
    case Reason::kNone:
      return "";
    case Reason::kNoCredentials:
      return "no_credentials";
    case Reason::kNotSupported:
      return "not_supported";
    case Reason::kTimeout:
      return "timeout";
    case Reason::kAuthFailed:
      return "auth_failed";
    case Reason::kRateLimited:
      return "rate_limited";
    case Reason::kError:
      return "error";
    case Reason::kOutOfHours:
      return "out_of_hours";
    case Reason::kPaused:
      return "paused";
    case Reason::kBlocked:
      return "blocked";
  }
  return "";
}

std::string_view Name(Evidence evidence) {
  switch (evidence) {
    case Evidence::kDocuments:
      return "documents";
    case Evidence::kSandbox:
      return "sandbox";
    case Evidence::kProduction:
      return "production";
  }
  return "";
}

bool Provider::IsIn(std::string_view country) const {
  return std::ranges::find(countries, country) != countries.end();
}

}  // namespace comanda::delivery
