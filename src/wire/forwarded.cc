#include "wire/forwarded.h"

#include <algorithm>
#include <optional>

#include "base/problem.h"
#include "base/text.h"

namespace comanda::wire {
namespace {

constexpr std::string_view kHeader = "X-Forwarded-For";

bool Holds(std::span<const AddressRange> proxies, const Address& address) {
  return std::ranges::any_of(proxies,
                             [&](const AddressRange& range) { return range.Contains(address); });
}

Refusal Refused() {
  return Refusal(Problem::kInvalidHeader,
                 std::string(kHeader) +
                     " must be numeric addresses with commas between them, of at most " +
                     std::to_string(kForwardedBytesMax) + " bytes.");
}

// "[2001:db8::1]" is written by some proxies.
std::string_view WithoutBrackets(std::string_view text) {
  const bool has_brackets = text.size() > 2 && text.front() == '[' && text.back() == ']';
  return has_brackets ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

bool IsProxy(std::string_view address, std::span<const AddressRange> proxies) {
  if (proxies.empty()) return false;
  const std::optional<Address> parsed = ParseAddress(address);
  return parsed && Holds(proxies, *parsed);
}

std::string ClientBehind(const Request& request, std::span<const AddressRange> proxies) {
  if (!request.Header(kHeader)) return request.client_address;
  const std::string list = request.Joined(kHeader);
  if (list.size() > kForwardedBytesMax) throw Refused();
  std::optional<Address> client;
  for (std::string_view rest = list;;) {
    const size_t end = std::min(rest.find(','), rest.size());
    const std::string_view entry = WithoutBrackets(Trimmed(rest.substr(0, end)));
    const std::optional<Address> address = ParseAddress(entry);
    if (!address) throw Refused();
    if (!Holds(proxies, *address)) client = address;
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
  }
  return client ? NumericText(*client) : request.client_address;
}

}  // namespace comanda::wire
