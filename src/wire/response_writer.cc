#include "wire/response_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <iterator>

namespace comanda::wire {
namespace {

struct StatusRow {
  int status;
  std::string_view phrase;
};

constexpr std::array kStatuses = {
    StatusRow{200, "OK"},
    StatusRow{201, "Created"},
    StatusRow{202, "Accepted"},
    StatusRow{204, "No Content"},
    StatusRow{301, "Moved Permanently"},
    StatusRow{302, "Found"},
    StatusRow{303, "See Other"},
    StatusRow{304, "Not Modified"},
    StatusRow{307, "Temporary Redirect"},
    StatusRow{308, "Permanent Redirect"},
    StatusRow{400, "Bad Request"},
    StatusRow{401, "Unauthorized"},
    StatusRow{403, "Forbidden"},
    StatusRow{404, "Not Found"},
    StatusRow{405, "Method Not Allowed"},
    StatusRow{406, "Not Acceptable"},
    StatusRow{408, "Request Timeout"},
    StatusRow{410, "Gone"},
    StatusRow{411, "Length Required"},
    StatusRow{412, "Precondition Failed"},
    StatusRow{413, "Content Too Large"},
    StatusRow{414, "URI Too Long"},
    StatusRow{415, "Unsupported Media Type"},
    StatusRow{417, "Expectation Failed"},
    StatusRow{421, "Misdirected Request"},
    StatusRow{422, "Unprocessable Content"},
    StatusRow{429, "Too Many Requests"},
    StatusRow{431, "Request Header Fields Too Large"},
    StatusRow{500, "Internal Server Error"},
    StatusRow{501, "Not Implemented"},
    StatusRow{503, "Service Unavailable"},
    StatusRow{505, "HTTP Version Not Supported"},
};

constexpr std::array<std::string_view, 7> kWeekdays = {"Sun", "Mon", "Tue", "Wed",
                                                       "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

std::string_view CacheControl(Cache cache) {
  switch (cache) {
    case Cache::kPrivateNoCache:
      return "private, no-cache";
    case Cache::kNoStore:
      return "no-store";
    case Cache::kImmutable:
      return "public, max-age=31536000, immutable";
  }
  return "no-store";
}

void AppendNumber(std::string& out, uint64_t number, size_t digits_min = 1) {
  std::array<char, 20> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number);
  const auto size = static_cast<size_t>(end.ptr - text.data());
  if (size < digits_min) out.append(digits_min - size, '0');
  out.append(text.data(), size);
}

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

// Writes a field without the control bytes of its value: one of them could begin another line.
void AppendField(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ");
  if (std::ranges::any_of(value, IsControl)) {
    std::ranges::remove_copy_if(value, std::back_inserter(out), IsControl);
  } else {
    out += value;
  }
  out += "\r\n";
}

}  // namespace

std::string_view ReasonPhrase(int status) {
  for (const StatusRow& row : kStatuses) {
    if (row.status == status) return row.phrase;
  }
  return "Status";
}

std::string HttpDate(UtcMs instant) {
  using std::chrono::floor;
  const std::chrono::sys_time<std::chrono::milliseconds> time{std::chrono::milliseconds(instant)};
  const auto day = floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const auto second = static_cast<uint64_t>(floor<std::chrono::seconds>(time - day).count());
  std::string out;
  out.append(kWeekdays[std::chrono::weekday(day).c_encoding()]).append(", ");
  AppendNumber(out, static_cast<unsigned>(date.day()), 2);
  out.append(" ").append(kMonths[static_cast<unsigned>(date.month()) - 1]).append(" ");
  AppendNumber(out, static_cast<uint64_t>(static_cast<int>(date.year())), 4);
  out += ' ';
  AppendNumber(out, second / 3600, 2);
  out += ':';
  AppendNumber(out, second / 60 % 60, 2);
  out += ':';
  AppendNumber(out, second % 60, 2);
  return out + " GMT";
}

std::string_view AppendResponse(std::string& out, const Response& response, const WireForm& form) {
  const bool has_content = response.status != 204 && response.status != 304;
  std::string_view body;
  if (has_content && !form.omit_body) body = response.Body();
  constexpr size_t kHeadBytes = 512;
  out.reserve(out.size() + std::min(kHeadBytes + body.size(), form.bytes_max));
  out += "HTTP/1.1 ";
  AppendNumber(out, static_cast<uint64_t>(response.status));
  out.append(" ").append(ReasonPhrase(response.status)).append("\r\n");
  AppendField(out, "Date", HttpDate(form.now));
  if (has_content) {
    if (!response.content_type.empty()) AppendField(out, "Content-Type", response.content_type);
    if (response.gzipped) out += "Content-Encoding: gzip\r\n";
    out += "Content-Length: ";
    AppendNumber(out, response.Body().size());
    out += "\r\n";
  }
  AppendField(out, "Cache-Control", CacheControl(response.cache));
  if (!response.etag.empty()) AppendField(out, "ETag", response.etag);
  if (!response.location.empty()) AppendField(out, "Location", response.location);
  for (const auto& [name, value] : response.headers) AppendField(out, name, value);
  out.append("API-Version: v0\r\nX-Request-Id: ").append(form.request_id).append("\r\n");
  out += "X-Content-Type-Options: nosniff\r\n";
  if (form.close) out += "Connection: close\r\n";
  out += "\r\n";
  const size_t room = out.size() < form.bytes_max ? form.bytes_max - out.size() : 0;
  const std::string_view together = body.substr(0, room);
  out += together;
  return body.substr(together.size());
}

}  // namespace comanda::wire
