#include "net/url.h"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string_view>

#include "base/address.h"
#include "base/text.h"

namespace comanda::net {
namespace {

struct UrlDeleter {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using Handle = std::unique_ptr<CURLU, UrlDeleter>;

std::optional<std::string> Part(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK || text == nullptr) return std::nullopt;
  std::string copy(text);
  curl_free(text);
  return copy;
}

// A byte that no part of a URL has (RFC 3986 appendix A), and that readers remove, encode or take
// for a slash. Those that none takes for a separator, as "|", are left to the receiver.
bool IsForeign(unsigned char c) { return c <= 0x20 || c >= 0x7f || c == '\\'; }

// What stands between "scheme://" and the path; nothing where the text does not begin like that.
std::optional<std::string_view> AuthorityOf(std::string_view text) {
  const size_t colon = text.find("://");
  // A slash before it: the colon is one of the path.
  if (colon == 0 || colon == std::string_view::npos || text.find('/') < colon) return std::nullopt;
  text.remove_prefix(colon + 3);
  text = text.substr(0, text.find_first_of("/?#"));
  if (text.empty()) return std::nullopt;
  return text;
}

// The host with its brackets, and the colon with the port behind it.
struct Place {
  std::string_view host;
  std::string_view port;
};
Place Split(std::string_view authority) {
  const size_t bracket = authority.starts_with('[') ? authority.find(']') : 0;
  if (bracket == std::string_view::npos) return {authority, {}};
  const size_t colon = authority.find(':', bracket);
  if (colon == std::string_view::npos) return {authority, {}};
  return {authority.substr(0, colon), authority.substr(colon)};
}

// `text`: empty, or ":" and a port. Without zeros in front, of which some readers make an octal
// number.
bool IsPort(std::string_view text) {
  if (text.empty()) return true;
  text.remove_prefix(1);
  constexpr int kPortMax = 65'535;
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && text.front() != '0' &&
         port > 0 && port <= kPortMax;
}

bool IsLabel(std::string_view label) {
  constexpr size_t kLabelBytesMax = 63;
  const auto is_inner = [](char c) {
    return IsDigit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '_';
  };
  return !label.empty() && label.size() <= kLabelBytesMax && !label.starts_with('-') &&
         !label.ends_with('-') && std::ranges::all_of(label, is_inner);
}

// Some readers take a name whose last label is a number for an IPv4 address.
bool IsNumber(std::string_view label) {
  const bool is_hexadecimal = label.starts_with("0x");
  if (is_hexadecimal) label.remove_prefix(2);
  return std::ranges::all_of(
      label, [&](char c) { return IsDigit(c) || (is_hexadecimal && c >= 'a' && c <= 'f'); });
}

bool IsHostName(std::string_view host) {
  constexpr size_t kNameBytesMax = 253;
  if (host.empty() || host.size() > kNameBytesMax) return false;
  std::string_view label;
  while (true) {
    const size_t dot = host.find('.');
    label = host.substr(0, dot);
    if (!IsLabel(label)) return false;
    if (dot == std::string_view::npos) return !IsNumber(label);
    host.remove_prefix(dot + 1);
  }
}

// The host as libcurl reads it, without brackets; empty where it is neither a name nor an address.
std::string HostOf(CURLU* url) {
  std::string host = AsciiLower(Part(url, CURLUPART_HOST).value_or(""));
  if (host.starts_with('[')) {
    host = host.substr(1, host.size() - 2);
    return ParseAddress(host) ? host : "";
  }
  if (host.ends_with('.')) host.pop_back();
  return ParseAddress(host) || IsHostName(host) ? host : "";
}

ParsedUrl Wrong(UrlMistake mistake) { return {.url = {}, .wrong = mistake}; }

}  // namespace

ParsedUrl ParseUrl(const std::string& text) {
  if (std::ranges::any_of(text, IsForeign)) return Wrong(UrlMistake::kNoUrl);
  const std::optional<std::string_view> authority = AuthorityOf(text);
  if (!authority) return Wrong(UrlMistake::kNoUrl);
  if (text.find('#') != std::string::npos) return Wrong(UrlMistake::kFragment);
  if (authority->find('@') != std::string_view::npos) return Wrong(UrlMistake::kUser);
  const Place place = Split(*authority);
  const bool has_brackets = place.host.starts_with('[') && place.host.ends_with(']');
  if (place.host.find('%') != std::string_view::npos ||
      (!has_brackets && place.host.find_first_of("[]") != std::string_view::npos) ||
      place.port.find(':', 1) != std::string_view::npos) {
    return Wrong(UrlMistake::kHost);
  }
  if (place.host.empty()) return Wrong(UrlMistake::kNoUrl);
  if (!IsPort(place.port)) return Wrong(UrlMistake::kPort);

  const Handle url(curl_url());
  const CURLUcode code = url == nullptr ? CURLUE_OUT_OF_MEMORY
                                        : curl_url_set(url.get(), CURLUPART_URL, text.c_str(),
                                                       CURLU_NON_SUPPORT_SCHEME);
  if (code == CURLUE_BAD_HOSTNAME || code == CURLUE_BAD_IPV6 || code == CURLUE_NO_HOST) {
    return Wrong(UrlMistake::kHost);
  }
  const auto scheme = Part(url.get(), CURLUPART_SCHEME);
  if (code != CURLUE_OK || !scheme) return Wrong(UrlMistake::kNoUrl);
  Url parts{.scheme = *scheme, .host = HostOf(url.get()), .port = 0};
  if (parts.host.empty()) return Wrong(UrlMistake::kHost);
  const std::string port = Part(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT).value_or("");
  std::from_chars(port.data(), port.data() + port.size(), parts.port);
  return {.url = parts, .wrong = UrlMistake::kNone};
}

}  // namespace comanda::net
