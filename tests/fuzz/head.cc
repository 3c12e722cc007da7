// The head of a request, and the router behind it.

#include "wire/head.h"

#include "app/routes.h"
#include "fuzz/fuzz.h"
#include "wire/percent.h"
#include "http/router.h"

namespace comanda::wire {
namespace {

using fuzz::Must;

size_t CountIgnoringCase(const Head& head, std::string_view name) {
  size_t count = 0;
  for (const auto& header : head.headers) count += AsciiEqualsIgnoreCase(header.first, name);
  return count;
}

// What RFC 9112 asks of every head, said another way than the product says it.
void CheckSound(std::string_view text, const Head& head) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '\r') Must(i + 1 < text.size() && text[i + 1] == '\n', "no CR stands alone");
    if (byte == '\n') Must(i > 0 && text[i - 1] == '\r', "no LF stands alone");
    Must(byte >= 0x20 || byte == '\r' || byte == '\n' || byte == '\t', "no control bytes");
    Must(byte != 0x7f, "no DEL");
  }
  const bool is_old = text.find(" HTTP/1.0\r\n") != std::string_view::npos;
  Must(CountIgnoringCase(head, "Host") == 1 || is_old, "one Host");
  Must(CountIgnoringCase(head, "Host") <= 1, "at most one Host");
  const size_t lengths = CountIgnoringCase(head, "Content-Length");
  const size_t codings = CountIgnoringCase(head, "Transfer-Encoding");
  Must(lengths + codings <= 1, "one way to tell the length of the body");
  Must(head.chunked == (codings == 1), "a coding is chunked");
  Must(head.length <= kAnyBodyBytesMax, "a body has a bound");
  Must(lengths == 1 || head.length == 0, "no length out of nothing");
  Must(head.headers.size() <= kHeadersMax, "at most so many fields");
  Must(!head.path.empty() && IsUtf8(head.path) && IsUtf8(head.query), "the target is text");
  Must(head.path.find_first_of(" \t#?") == std::string_view::npos, "the path is a path");
  Must(head.host.find_first_of(" /@\r\n") == std::string_view::npos, "the host is a name");
}

// What was read, written again, is read as the same.
void CheckRoundTrip(const Head& head) {
  std::string text(Name(head.method));
  text += ' ';
  text += head.target;
  text += " HTTP/1.1\r\n";
  for (const auto& [name, value] : head.headers) {
    text += name;
    text += ": ";
    text += value;
    text += "\r\n";
  }
  if (CountIgnoringCase(head, "Host") == 0) text += "Host: x\r\n";
  text += "\r\n";
  // Blanks around the values went; so did the one that now stands behind each colon, or came.
  if (text.size() > kHeaderBytesMax || head.headers.size() == kHeadersMax) return;
  Head again;
  CheckHead(text, again);
  Must(again.method == head.method && again.path == head.path && again.query == head.query &&
           again.length == head.length && again.chunked == head.chunked,
       "a head that is written again is the same");
  Must(again.headers.size() >= head.headers.size(), "no field is lost");
  for (size_t i = 0; i < head.headers.size(); ++i) {
    Must(again.headers[i] == head.headers[i], "a field that is written again is the same");
  }
}

void FindRoute(const http::Router& router, const Head& head) {
  try {
    const http::Router::Match match = router.Find(head.method, head.path);
    for (const std::string& parameter : match.parameters) {
      Must(IsUtf8(parameter) && parameter.find('\0') == std::string::npos, "parameters are text");
    }
    Must(head.path == "/" || !head.path.ends_with('/'), "a trailing slash is another path");
  } catch (const Refusal& refusal) {
    fuzz::CheckRefusal(refusal);
    Must(refusal.problem == Problem::kNotFound || refusal.problem == Problem::kMethodNotAllowed ||
             refusal.problem == Problem::kInvalidParameter,
         "a path is unknown, or its escapes are wrong");
  }
  static_cast<void>(router.Allowed(head.path));
}

}  // namespace
}  // namespace comanda::wire

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace comanda;
  static const http::Router router(app::AllRoutes(auth::Mode::kTest));
  // Whoever hands over a head has found its end.
  std::string_view text = fuzz::TextOf(data, size);
  text =
      text.substr(0, std::min(text.find("\r\n\r\n"), text.size() - std::min(size, size_t{4})) + 4);
  wire::Head head;
  try {
    wire::CheckHead(text, head);
    wire::CheckSound(text, head);
    wire::CheckRoundTrip(head);
    wire::FindRoute(router, head);
  } catch (const Refusal& refusal) {
    fuzz::Must(refusal.close_connection, "what is no sound head ends the connection");
    fuzz::CheckRefusal(refusal);
  }
  fuzz::CheckRefusal(wire::RefuseUnfinished(text, wire::Unfinished::kTooLarge));
  return 0;
}
