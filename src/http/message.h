#pragma once

// The wire's requests and answers under the names that the rooms use: a handler takes an
// http::Context and returns an http::Response. What belongs to sockets (wire::Server, wire::Tls,
// wire::Head) keeps its own name.

#include "wire/request.h"
#include "wire/response.h"

namespace comanda::http {

using wire::BodyTag;
using wire::Cache;
using wire::Data;
using wire::Method;
using wire::NotModified;
using wire::Request;
using wire::Response;

}  // namespace comanda::http
