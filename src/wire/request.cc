#include "wire/request.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace comanda::wire {
namespace {

constexpr std::array<std::string_view, 8> kNames = {"GET",   "HEAD",   "POST",    "PUT",
                                                    "PATCH", "DELETE", "OPTIONS", "TRACE"};

}  // namespace

std::string_view Name(Method method) { return kNames[static_cast<size_t>(method)]; }

std::optional<Method> FindMethod(std::string_view name) {
  const auto it = std::ranges::find(kNames, name);
  if (it == kNames.end()) return std::nullopt;
  return static_cast<Method>(it - kNames.begin());
}

bool IsRead(Method method) {
  return method == Method::kGet || method == Method::kHead || method == Method::kOptions;
}

std::optional<std::string_view> Request::Header(std::string_view name) const {
  for (const auto& [header, value] : headers) {
    if (AsciiEqualsIgnoreCase(header, name)) return value;
  }
  return std::nullopt;
}

std::string Request::Joined(std::string_view name) const {
  std::string joined;
  for (const auto& [header, value] : headers) {
    if (!AsciiEqualsIgnoreCase(header, name)) continue;
    if (!joined.empty()) joined += ", ";
    joined += value;
  }
  return joined;
}

}  // namespace comanda::wire
