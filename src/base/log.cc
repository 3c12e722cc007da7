#include "base/log.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <mutex>
#include <new>

#include "base/text.h"

namespace comanda::log {
namespace {

constexpr size_t kValueBytesMax = 4096;
constexpr size_t kKeyPrefixMin = 2;
constexpr size_t kKeyTailMin = 38;
constexpr std::string_view kMask = "***";
constexpr std::string_view kWebhookSecret = "whsec_";

std::atomic<Level> threshold{Level::kInfo};
std::atomic<int> output{STDOUT_FILENO};
std::atomic<bool> is_terminal{::isatty(STDOUT_FILENO) == 1};

bool IsPipe(int fd) {
  struct stat found = {};
  return ::fstat(fd, &found) == 0 && S_ISFIFO(found.st_mode);
}

std::atomic<bool> is_pipe{IsPipe(STDOUT_FILENO)};

bool IsLowerOrDigit(char c) { return (c >= 'a' && c <= 'z') || IsDigit(c); }
bool IsBase64(char c) {
  return IsAlphanumeric(c) || c == '+' || c == '/' || c == '-' || c == '_' || c == '=';
}

template <typename Predicate>
size_t RunLength(std::string_view text, size_t from, Predicate predicate) {
  size_t end = from;
  while (end < text.size() && predicate(text[end])) ++end;
  return end - from;
}

// Recognises an API key at its first underscore `at`: "<prefix>_live_" or "<prefix>_test_" and at
// least 38 letters and digits. Returns the length of the part after the second underscore, or 0.
size_t KeyTailLength(std::string_view text, size_t at) {
  const std::string_view infix = text.substr(at, 6);
  if (infix != "_live_" && infix != "_test_") return 0;
  size_t prefix = 0;
  while (prefix < at && IsLowerOrDigit(text[at - 1 - prefix])) ++prefix;
  const size_t tail = RunLength(text, at + 6, IsAlphanumeric);
  return prefix >= kKeyPrefixMin && tail >= kKeyTailMin ? tail : 0;
}

std::string Masked(std::string_view text) {
  if (text.find('_') == text.npos) return std::string(text);
  std::string out;
  size_t i = 0;
  while (i < text.size()) {
    if (text[i] == '_') {
      if (const size_t tail = KeyTailLength(text, i); tail > 0) {
        out.append(text.substr(i, 6)).append(kMask);
        i += 6 + tail;
        continue;
      }
    }
    if (text.substr(i, kWebhookSecret.size()) == kWebhookSecret) {
      out.append(kWebhookSecret).append(kMask);
      i += kWebhookSecret.size();
      i += RunLength(text, i, IsBase64);
      continue;
    }
    out += text[i++];
  }
  return out;
}

void AppendHexEscape(std::string& out, char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  out.append("\\x") += kHex[byte >> 4];
  out += kHex[byte & 15];
}

bool IsPlain(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

void AppendEscaped(std::string& out, std::string_view text, bool quoted) {
  if (std::ranges::all_of(text, IsPlain)) {
    out += text;
    return;
  }
  const bool utf8 = IsUtf8(text);
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (quoted && (c == '"' || c == '\\')) {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !utf8)) {
      AppendHexEscape(out, c);
    } else if (byte == 0xc2 && static_cast<unsigned char>(text[i + 1]) < 0xa0) {
      // C1 controls, which some terminals execute.
      AppendHexEscape(out, text[++i]);
    } else {
      out += c;
    }
  }
}

bool NeedsQuotes(std::string_view value) {
  return value.empty() || value.find_first_of(" \"\\=") != std::string_view::npos;
}

// Cuts at a character boundary.
std::string_view Shortened(std::string_view value) {
  if (value.size() <= kValueBytesMax) return value;
  size_t end = kValueBytesMax;
  while (end > kValueBytesMax - 4 && (static_cast<unsigned char>(value[end]) & 0xc0) == 0x80) --end;
  return value.substr(0, end);
}

constexpr std::array<bool, 256> MakeBareCharacters() {
  // An underscore may be part of a key, so the text needs masking.
  constexpr std::string_view kSpecial = "\"\\=_";
  std::array<bool, 256> bare{};
  for (size_t c = '!'; c <= '~'; ++c) {
    bare[c] = kSpecial.find(static_cast<char>(c)) == std::string_view::npos;
  }
  return bare;
}
constexpr std::array<bool, 256> kBareCharacters = MakeBareCharacters();

// True if the text needs neither masking, quoting, escaping nor cutting: the fast path.
bool IsBare(std::string_view text) {
  return !text.empty() && text.size() <= kValueBytesMax && std::ranges::all_of(text, [](char c) {
    return kBareCharacters[static_cast<unsigned char>(c)];
  });
}

void AppendValue(std::string& out, std::string_view value) {
  if (IsBare(value)) {
    out += value;
    return;
  }
  const std::string masked = Masked(value);
  const std::string_view shortened = Shortened(masked);
  const bool quoted = NeedsQuotes(shortened);
  if (quoted) out += '"';
  AppendEscaped(out, shortened, quoted);
  if (quoted) out += '"';
  if (shortened.size() < masked.size()) out += "...";
}

// False while the output is a full pipe: the last line was dropped.
std::atomic<bool> took_last{true};

// True if the output accepts PIPE_BUF bytes without blocking. Waits for that only if it accepted
// the last line.
bool TakesMore(int fd) {
  constexpr int kWaitMs = 100;
  pollfd output_state{.fd = fd, .events = POLLOUT, .revents = 0};
  const int wait_ms = took_last.load(std::memory_order_relaxed) ? kWaitMs : 0;
  const bool takes = ::poll(&output_state, 1, wait_ms) != 0;
  if (takes != took_last.load(std::memory_order_relaxed)) {
    took_last.store(takes, std::memory_order_relaxed);
  }
  return takes;
}

// Held from poll() to write() if the output is a pipe. poll() reports room for one line only;
// without the mutex another thread could fill that room, and write() would block.
std::mutex pipe_mutex;

// One write() of at most PIPE_BUF bytes is atomic, so that lines of different threads do not
// interleave. A failed write is ignored: there is no other place to report it.
void WriteLine(std::string_view line) {
  const int fd = output.load(std::memory_order_relaxed);
  std::unique_lock lock(pipe_mutex, std::defer_lock);
  if (is_pipe.load(std::memory_order_relaxed)) lock.lock();
  if (!TakesMore(fd)) return;
  while (::write(fd, line.data(), line.size()) < 0 && errno == EINTR) continue;
}

// Truncates the line so that "..." and the line end still fit in PIPE_BUF bytes.
void Cut(std::string& line) {
  constexpr std::string_view kMark = "...";
  if (line.size() < PIPE_BUF) return;
  size_t end = PIPE_BUF - kMark.size() - 1;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) --end;
  line.resize(end);
  line += kMark;
}

void AppendLine(std::string& out, std::string_view message, Fields fields) {
  if (IsBare(message)) {
    out += message;
  } else {
    AppendEscaped(out, Shortened(Masked(message)), false);
  }
  for (const Field& field : fields) {
    out += ' ';
    AppendEscaped(out, field.name, false);
    out += '=';
    AppendValue(out, field.value());
  }
}

}  // namespace

void SetOutput(int fd) {
  output.store(fd, std::memory_order_relaxed);
  is_terminal.store(::isatty(fd) == 1, std::memory_order_relaxed);
  is_pipe.store(IsPipe(fd), std::memory_order_relaxed);
}

void SetLevel(Level level) { threshold.store(level, std::memory_order_relaxed); }

std::string Line(std::string_view message, Fields fields) {
  std::string line;
  AppendLine(line, message, fields);
  return line;
}

void Write(Level level, std::string_view message, Fields fields) noexcept {
  if (level > threshold.load(std::memory_order_relaxed)) return;
  try {
    constexpr size_t kUsualBytes = 256;
    std::string line;
    line.reserve(kUsualBytes);
    if (!is_terminal.load(std::memory_order_relaxed)) {
      line = {'<', static_cast<char>('0' + static_cast<int>(level)), '>'};
    }
    AppendLine(line, message, fields);
    Cut(line);
    line += '\n';
    WriteLine(line);
  } catch (const std::bad_alloc&) {
    return;
  }
}

}  // namespace comanda::log
