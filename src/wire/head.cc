#include "wire/head.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "base/text.h"

namespace comanda::wire {
namespace {

constexpr std::string_view kTokenMarks = "!#$%&'*+-.^_`|~";

constexpr std::array<bool, 256> MakeTokenCharacters() {
  std::array<bool, 256> characters{};
  for (size_t c = 0; c < characters.size(); ++c) {
    const char letter = static_cast<char>(c);
    characters[c] = IsAlphanumeric(letter) || kTokenMarks.find(letter) != std::string_view::npos;
  }
  return characters;
}
constexpr std::array<bool, 256> kTokenCharacters = MakeTokenCharacters();

bool IsTokenCharacter(char c) { return kTokenCharacters[static_cast<unsigned char>(c)]; }

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

// A tab is a blank in a field's value (RFC 9110 section 5.5).
bool IsControlInField(char c) { return IsControl(c) && c != '\t'; }

bool IsAllDigits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, IsDigit);
}

[[noreturn]] void Refuse(Problem problem, std::string detail) {
  Refusal refusal(problem, std::move(detail));
  refusal.close_connection = true;
  throw refusal;
}

[[noreturn]] void RefuseHeader(std::string detail) {
  Refuse(Problem::kInvalidHeader, std::move(detail));
}

[[noreturn]] void RefuseLongLine() {
  Refuse(Problem::kUriTooLong, "The request line may have at most 8192 bytes.");
}

[[noreturn]] void RefuseLargeBlock() {
  Refuse(Problem::kHeadersTooLarge, "The header block may have at most 16384 bytes and 64 fields.");
}

// Removes the first line from the text and returns it without its CRLF. Refuses a CR or LF alone.
std::string_view TakeLine(std::string_view& rest) {
  const size_t end = rest.find('\n');
  if (end == std::string_view::npos || end == 0 || rest.find('\r') != end - 1) {
    RefuseHeader("Lines of the request's head end in CRLF; a CR or LF alone is not accepted.");
  }
  const std::string_view line = rest.substr(0, end - 1);
  rest.remove_prefix(end + 1);
  return line;
}

// Calls fn with each trimmed item of a comma list.
template <typename Fn>
void ForEachItem(std::string_view list, Fn&& fn) {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    fn(Trimmed(list.substr(0, comma)));
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
}

// The request line

enum class Version : uint8_t { kHttp10, kHttp11 };

Version ReadVersion(std::string_view text) {
  if (text == "HTTP/1.1") return Version::kHttp11;
  if (text == "HTTP/1.0") return Version::kHttp10;
  const bool is_version = text.size() == 8 && text.starts_with("HTTP/") && IsDigit(text[5]) &&
                          text[6] == '.' && IsDigit(text[7]);
  if (is_version)
    Refuse(Problem::kVersionNotSupported, "Only HTTP/1.1 and HTTP/1.0 are spoken here.");
  RefuseHeader("The request line must be METHOD TARGET HTTP/1.1.");
}

// The host of "name", "name:port", "1.2.3.4:port" or "[::1]:port": the part before the port.
std::string_view ReadHost(std::string_view authority) {
  std::string_view host = authority;
  std::string_view port;
  bool has_port = false;
  if (authority.starts_with('[')) {
    const size_t end = authority.find(']');
    if (end == std::string_view::npos) RefuseHeader("Host has an unfinished IPv6 address.");
    host = authority.substr(1, end - 1);
    port = authority.substr(end + 1);
    has_port = port.starts_with(':');
    if (!port.empty() && !has_port) RefuseHeader("Host must be NAME, NAME:PORT or [IPv6]:PORT.");
    if (host.find(':') == std::string_view::npos ||
        host.find_first_not_of("0123456789abcdefABCDEF:.") != std::string_view::npos) {
      RefuseHeader("Host has a malformed IPv6 address.");
    }
  } else {
    const size_t colon = authority.find(':');
    host = authority.substr(0, colon);
    if (colon != std::string_view::npos) {
      has_port = true;
      port = authority.substr(colon);
    }
    if (host.empty() || !std::ranges::all_of(host, [](char c) {
          return IsAlphanumeric(c) || c == '.' || c == '-' || c == '_';
        })) {
      RefuseHeader("Host must be NAME, NAME:PORT or [IPv6]:PORT.");
    }
    if (host.size() > 1 && host.back() == '.') host.remove_suffix(1);
  }
  if (has_port) {
    port.remove_prefix(1);
    if (port.size() > 5 || (!port.empty() && !IsAllDigits(port))) {
      RefuseHeader("The port in Host must be a number.");
    }
  }
  return host;
}

void SplitTarget(std::string_view target, Head& head) {
  const size_t mark = target.find('?');
  head.path = target.substr(0, mark);
  if (mark != std::string_view::npos) head.query = target.substr(mark + 1);
}

void ReadAbsoluteTarget(std::string_view target, size_t scheme_size, Head& head) {
  std::string_view rest = target.substr(scheme_size);
  const size_t end = rest.find_first_of("/?");
  head.host = ReadHost(rest.substr(0, end));
  if (end == std::string_view::npos) {
    head.path = "/";
  } else if (rest[end] == '/') {
    SplitTarget(rest.substr(end), head);
  } else {
    head.path = "/";
    head.query = rest.substr(end + 1);
  }
}

void ReadTarget(std::string_view target, Head& head) {
  head.target = target;
  if (target.find('#') != std::string_view::npos || !IsUtf8(target)) {
    RefuseHeader("The request target has bytes that must be percent-encoded.");
  }
  if (target.starts_with('/')) {
    SplitTarget(target, head);
  } else if (target == "*" && head.method == Method::kOptions) {
    head.path = "*";
  } else if (AsciiEqualsIgnoreCase(target.substr(0, 8), "https://")) {
    ReadAbsoluteTarget(target, 8, head);
  } else if (AsciiEqualsIgnoreCase(target.substr(0, 7), "http://")) {
    ReadAbsoluteTarget(target, 7, head);
  } else {
    RefuseHeader("The request target must begin with a slash.");
  }
}

Version ReadRequestLine(std::string_view line, Head& head) {
  if (line.size() > kRequestLineBytesMax) RefuseLongLine();
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) {
    RefuseHeader("The request line must be METHOD TARGET HTTP/1.1.");
  }
  const std::string_view target = line.substr(first + 1, last - first - 1);
  if (std::ranges::any_of(line, IsControl) || target.empty() ||
      target.find(' ') != std::string_view::npos || !IsToken(line.substr(0, first))) {
    RefuseHeader("The request line must be METHOD TARGET HTTP/1.1, with single blanks between.");
  }
  const Version version = ReadVersion(line.substr(last + 1));
  const std::optional<Method> method = FindMethod(line.substr(0, first));
  head.method = method.value_or(Method::kGet);
  if (method || target.starts_with('/')) ReadTarget(target, head);
  if (!method) {
    Refuse(Problem::kNotImplemented,
           "Methods are GET, HEAD, POST, PUT, PATCH, DELETE and OPTIONS, in capitals.");
  }
  return version;
}

// The header fields

void ReadField(std::string_view line, Head& head) {
  if (line.front() == ' ' || line.front() == '\t') {
    RefuseHeader("Header fields may not be folded over several lines.");
  }
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !IsToken(line.substr(0, colon))) {
    RefuseHeader("A header field must be NAME: VALUE, without blanks before the colon.");
  }
  if (std::ranges::any_of(line, IsControlInField))
    RefuseHeader("A header field has control bytes.");
  if (head.headers.size() == kHeadersMax) RefuseLargeBlock();
  head.headers.emplace_back(line.substr(0, colon), Trimmed(line.substr(colon + 1)));
}

uint64_t ReadLength(std::string_view value) {
  uint64_t length = 0;
  if (!IsAllDigits(value) || value.size() > 18) {
    RefuseHeader("Content-Length must be a whole number in plain digits.");
  }
  std::from_chars(value.data(), value.data() + value.size(), length);
  return length;
}

// What the fields say about the framing of the message: counted first, then checked as a whole.
struct Framing {
  int hosts = 0;
  int lengths = 0;
  int codings = 0;
  int connections = 0;
  bool wants_close = false;
  bool wants_keep_alive = false;
};

void ReadConnection(std::string_view value, Framing& framing) {
  ++framing.connections;
  ForEachItem(value, [&](std::string_view item) {
    if (AsciiEqualsIgnoreCase(item, "close")) framing.wants_close = true;
    if (AsciiEqualsIgnoreCase(item, "keep-alive")) framing.wants_keep_alive = true;
  });
}

void ReadExpect(std::string_view value, Version version, Head& head) {
  if (!AsciiEqualsIgnoreCase(value, "100-continue")) {
    Refuse(Problem::kExpectationFailed, "The only expectation that can be met is 100-continue.");
  }
  head.expects_continue = version == Version::kHttp11;
}

void ReadHostField(std::string_view value, Framing& framing, Head& head) {
  if (++framing.hosts > 1) RefuseHeader("Host must be sent once.");
  const std::string_view host = ReadHost(value);
  // The host of an absolute target takes precedence over the field (RFC 9112 section 3.2.2).
  if (head.host.empty()) head.host = host;
}

void ReadMeaning(Version version, Head& head) {
  Framing framing;
  for (const auto& [name, value] : head.headers) {
    if (AsciiEqualsIgnoreCase(name, "host")) {
      ReadHostField(value, framing, head);
    } else if (AsciiEqualsIgnoreCase(name, "content-length")) {
      if (++framing.lengths > 1) RefuseHeader("Content-Length must be sent once.");
      head.length = ReadLength(value);
    } else if (AsciiEqualsIgnoreCase(name, "transfer-encoding")) {
      if (++framing.codings > 1) RefuseHeader("Transfer-Encoding must be sent once.");
      if (!AsciiEqualsIgnoreCase(value, "chunked")) {
        Refuse(Problem::kNotImplemented, "The only transfer coding understood is chunked.");
      }
      head.chunked = true;
    } else if (AsciiEqualsIgnoreCase(name, "connection")) {
      ReadConnection(value, framing);
    } else if (AsciiEqualsIgnoreCase(name, "expect")) {
      ReadExpect(value, version, head);
    }
  }
  if (framing.hosts == 0 && version == Version::kHttp11) {
    RefuseHeader("Host is missing: HTTP/1.1 needs it.");
  }
  if (head.chunked && framing.lengths > 0) {
    RefuseHeader("Content-Length and Transfer-Encoding exclude each other.");
  }
  if (head.chunked && version == Version::kHttp10) {
    RefuseHeader("Transfer-Encoding needs HTTP/1.1.");
  }
  if (head.length > kAnyBodyBytesMax) {
    Refuse(Problem::kPayloadTooLarge, "The body may have at most 8388608 bytes here.");
  }
  // An HTTP/1.0 client gets one answer per connection: few of them implement keep-alive correctly.
  head.keeps_alive = version == Version::kHttp11 && !framing.wants_close &&
                     (framing.connections == 0 || framing.wants_keep_alive);
}

}  // namespace

bool IsToken(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, IsTokenCharacter);
}

void CheckHead(std::string_view text, Head& head) {
  head = Head();
  std::string_view rest = text;
  // One empty line before the request is tolerated (RFC 9112 2.2).
  if (rest.starts_with("\r\n")) rest.remove_prefix(2);
  const Version version = ReadRequestLine(TakeLine(rest), head);
  if (rest.size() > kHeaderBytesMax + 2) RefuseLargeBlock();
  while (!rest.starts_with("\r\n")) {
    const std::string_view line = TakeLine(rest);
    ReadField(line, head);
  }
  ReadMeaning(version, head);
}

Refusal RefuseUnfinished(std::string_view text, Unfinished reason) {
  Refusal refusal(Problem::kInvalidHeader, "The request's head has control bytes.");
  switch (reason) {
    case Unfinished::kTooLarge: {
      const bool line_ended =
          text.substr(0, kRequestLineBytesMax + 2).find("\r\n") != std::string_view::npos;
      refusal = line_ended ? Refusal(Problem::kHeadersTooLarge,
                                     "The header block may have at most 16384 bytes and 64 fields.")
                           : Refusal(Problem::kUriTooLong,
                                     "The request line may have at most 8192 bytes.");
      break;
    }
    case Unfinished::kTimedOut:
      refusal = Refusal(Problem::kRequestTimeout, "The request's head did not arrive in time.");
      break;
    case Unfinished::kMalformed:
      break;
  }
  refusal.close_connection = true;
  return refusal;
}

}  // namespace comanda::wire
