#include "base/log.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <mutex>
#include <new>
#include <stop_token>

#include "base/text.h"

namespace comanda::log {
namespace {

constexpr size_t kValueBytesMax = 4096;
constexpr size_t kKeyPrefixMin = 2;
constexpr size_t kKeyTailMin = 38;
constexpr std::string_view kMask = "***";
constexpr std::string_view kWebhookSecret = "whsec_";
constexpr std::chrono::milliseconds kGatheredFor{20};
constexpr size_t kGatheredBytesMax = 256 * 1024;

std::atomic<Level> threshold{Level::kInfo};
std::atomic<int> output{STDOUT_FILENO};
// Asked once: a line for every order asks nothing of the system but to be written.
std::atomic<bool> is_terminal{::isatty(STDOUT_FILENO) == 1};

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

// "<prefix>_live_" or "<prefix>_test_" and at least 38 letters and digits. `at` stands on the first
// underscore. Gives the length of the secret part after the second one, or 0.
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
      AppendHexEscape(out, text[++i]);  // C1 controls, which some terminals obey
    } else {
      out += c;
    }
  }
}

bool NeedsQuotes(std::string_view value) {
  return value.empty() || value.find_first_of(" \"\\=") != std::string_view::npos;
}

// Cut between characters.
std::string_view Shortened(std::string_view value) {
  if (value.size() <= kValueBytesMax) return value;
  size_t end = kValueBytesMax;
  while (end > kValueBytesMax - 4 && (static_cast<unsigned char>(value[end]) & 0xc0) == 0x80) --end;
  return value.substr(0, end);
}

constexpr std::array<bool, 256> MakeBareCharacters() {
  constexpr std::string_view kSpecial = "\"\\=_";  // with '_' it may be a key
  std::array<bool, 256> bare{};
  for (size_t c = '!'; c <= '~'; ++c) {
    bare[c] = kSpecial.find(static_cast<char>(c)) == std::string_view::npos;
  }
  return bare;
}
constexpr std::array<bool, 256> kBareCharacters = MakeBareCharacters();

// As nearly all names and values are: there is nothing to mask, quote, escape or cut.
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

// Nobody waits for who does not read the log: a little at first, then not at all until it is read
// again.
bool IsRead(int fd) {
  constexpr int kWaitMs = 100;
  static bool was_read = true;
  pollfd place{.fd = fd, .events = POLLOUT, .revents = 0};
  was_read = ::poll(&place, 1, was_read ? kWaitMs : 0) != 0;
  return was_read;
}

// As many whole lines as a pipe that has any place has place for.
std::string_view Piece(std::string_view lines) {
  if (lines.size() <= PIPE_BUF) return lines;
  const size_t end = lines.rfind('\n', PIPE_BUF - 1);
  return lines.substr(0, end == lines.npos ? PIPE_BUF : end + 1);
}

// Lines that cannot be written are lost: there is nobody left to tell.
void WriteWhole(int fd, std::string_view lines) {
  while (!lines.empty() && IsRead(fd)) {
    const std::string_view piece = Piece(lines);
    const ssize_t written = ::write(fd, piece.data(), piece.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    lines.remove_prefix(static_cast<size_t>(written));
  }
}

struct Gathered {
  std::mutex mutex;
  std::condition_variable_any arrived;
  std::string lines;       // guarded by mutex
  bool gathering = false;  // guarded by mutex
};
Gathered gathered;

std::mutex output_mutex;  // one writes at a time

void WriteGathered() {
  const std::lock_guard writing(output_mutex);
  std::string lines;
  {
    const std::lock_guard lock(gathered.mutex);
    lines.swap(gathered.lines);
  }
  WriteWhole(output.load(std::memory_order_relaxed), lines);
}

void Gather(Level level, std::string_view line) {
  bool at_once = level <= Level::kNotice;
  {
    const std::lock_guard lock(gathered.mutex);
    at_once |= !gathered.gathering;
    if (gathered.lines.empty()) gathered.arrived.notify_one();
    if (at_once || gathered.lines.size() < kGatheredBytesMax) gathered.lines += line;
  }
  if (at_once) WriteGathered();
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
    line += '\n';
    Gather(level, line);
  } catch (const std::bad_alloc&) {
    return;
  }
}

Gathering::Gathering() {
  {
    const std::lock_guard lock(gathered.mutex);
    gathered.gathering = true;
  }
  thread_ = std::jthread([](const std::stop_token& stop) {
    ::pthread_setname_np(::pthread_self(), "log");
    while (!stop.stop_requested()) {
      {
        std::unique_lock lock(gathered.mutex);
        gathered.arrived.wait(lock, stop, [] { return !gathered.lines.empty(); });
      }
      std::this_thread::sleep_for(kGatheredFor);
      WriteGathered();
    }
  });
}

Gathering::~Gathering() {
  {
    const std::lock_guard lock(gathered.mutex);
    gathered.gathering = false;
  }
  thread_.request_stop();
  thread_.join();
  WriteGathered();
}

}  // namespace comanda::log
