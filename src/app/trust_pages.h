#pragma once

// What devices need in order to trust the box: the page /setup, the authority as a file, and as a
// profile of Apple devices. Served on the setup port without TLS, and on the HTTPS addresses.

#include <span>
#include <string>
#include <string_view>

#include "http/response.h"
#include "http/route.h"

namespace comanda::app {

// `authority_pem`: the root that devices install; empty where the owner's certificate is served.
// `address`: "https://HOST:PORT" by which the client reaches the box.
http::Response SetupPageAnswer(const std::string& authority_pem, const std::string& address,
                               std::string_view accept_language);
// Both throw Refusal not_found where there is no authority to install.
http::Response AuthorityAnswer(const std::string& authority_pem);
http::Response AppleProfileAnswer(const std::string& authority_pem);

// The routes / /setup /ca.crt and /ca.mobileconfig, which need no key.
std::span<const http::Route> PageRoutes();

// The fingerprint of an authority as words that people compare: the first 16 bytes of its SHA-256.
std::string FingerprintWords(std::string_view fingerprint_sha256);

}  // namespace comanda::app
