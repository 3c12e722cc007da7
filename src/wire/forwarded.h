#pragma once

// The address of a client behind a proxy (contract section 23). The operator's proxies, which the
// setting proxy_networks names, tell it in X-Forwarded-For: each appends the address of its own
// peer, so that the list is believed from its end, as far as it was written by them. Anybody else
// may write what they like there. Pure functions.

#include <span>
#include <string>
#include <string_view>

#include "base/address.h"
#include "wire/request.h"

namespace comanda::wire {

inline constexpr size_t kForwardedBytesMax = 1024;

// Whether a peer with that numeric address is one of the proxies.
bool IsProxy(std::string_view address, std::span<const AddressRange> proxies);

// Of a request of a proxy: the last address in X-Forwarded-For that is no proxy's; the peer's own
// (request.client_address) where there is none. Throws Refusal invalid_header where the header is
// longer than kForwardedBytesMax, or an entry of it is no numeric address.
std::string ClientBehind(const Request& request, std::span<const AddressRange> proxies);

}  // namespace comanda::wire
