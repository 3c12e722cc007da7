#include "integrity/file_head.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/file.h"
#include "base/handle.h"
#include "base/problem.h"

namespace comanda::integrity {
namespace {

constexpr size_t kHeadBytes = 100;
constexpr std::string_view kMagic("SQLite format 3\0", 16);

// Places in the head of the file (SQLite's file format, section 1.3).
constexpr size_t kPageSizeAt = 16;
constexpr size_t kChangesAt = 24;
constexpr size_t kPagesAt = 28;
constexpr size_t kSchemaAt = 60;
constexpr size_t kApplicationAt = 68;
constexpr size_t kPagesValidForAt = 92;

int64_t BigEndian(std::string_view head, size_t at, size_t size) {
  int64_t value = 0;
  for (const char byte : head.substr(at, size)) value = value << 8 | static_cast<uint8_t>(byte);
  return value;
}

[[noreturn]] void Fail(const std::string& path, std::string_view why) {
  throw Fault(Fault::Kind::kInternal, path + ": " + std::string(why));
}

}  // namespace

std::optional<FileHead> ReadFileHead(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd && errno == ENOENT) return std::nullopt;
  struct stat found {};
  if (!fd || ::fstat(fd.get(), &found) != 0) Fail(path, std::strerror(errno));
  if (!S_ISREG(found.st_mode)) Fail(path, "it is no regular file");
  std::array<char, kHeadBytes> bytes;
  const ssize_t size = ::pread(fd.get(), bytes.data(), bytes.size(), 0);
  if (size < 0) Fail(path, std::strerror(errno));

  FileHead file{.bytes = found.st_size, .log_bytes = SizeOf(path + "-wal")};
  const std::string_view head(bytes.data(), static_cast<size_t>(size));
  file.is_sqlite = head.size() == kHeadBytes && head.starts_with(kMagic);
  if (!file.is_sqlite) return file;
  const int64_t page = BigEndian(head, kPageSizeAt, 2);
  // The number of pages counts only if the last program that wrote knew of it.
  if (BigEndian(head, kChangesAt, 4) == BigEndian(head, kPagesValidForAt, 4)) {
    file.expected_bytes = (page == 1 ? 65'536 : page) * BigEndian(head, kPagesAt, 4);
  }
  file.schema = BigEndian(head, kSchemaAt, 4);
  file.application = BigEndian(head, kApplicationAt, 4);
  return file;
}

}  // namespace comanda::integrity
