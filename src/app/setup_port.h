#pragma once

// What the server answers over plain HTTP, on port 80 (comanda-setup.socket, or the setting
// `setup_listen`): GET and HEAD of /setup, /ca.crt and /ca.mobileconfig, by which a device learns
// to trust the box (app/trust_pages.h). Every other request is 403 https_required and names the
// https address to use. Nothing of a request is read but its method, path and Host: a key that a
// misconfigured client sends is not looked at, and its body stays unread. This port faces any guest
// of the Wi-Fi, so it has few workers of its own and short deadlines, each connection carries one
// request, and one that says nothing gets no worker (wire/lobby.h).

#include <functional>
#include <string>
#include <string_view>

#include "wire/server.h"

namespace comanda::app {

// The https address of this server, such as "https://comanda.local:8443", for a client that calls
// it by `host`: the name or address in the Host header, in lower case, without port and brackets;
// may be empty.
using HttpsAddress = std::function<std::string(std::string_view host)>;
// As http::Site::authority_pem.
using AuthorityPem = std::function<std::string()>;

// All of them are called by every worker of the server.
wire::Handler SetupHandler(HttpsAddress address, AuthorityPem authority_pem,
                           std::string errors_base);

// Without listeners, which the caller adds.
wire::ServerSettings SetupSettings();

}  // namespace comanda::app
