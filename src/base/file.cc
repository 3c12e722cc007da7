#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <system_error>

#include "base/handle.h"
#include "base/problem.h"

namespace comanda {
namespace {

constexpr size_t kFileBytesMax = 64 * 1024 * 1024;
constexpr size_t kChunkBytes = 64 * 1024;

// statfs(2). FUSE is what exfat-fuse and ntfs-3g are for the kernel.
constexpr std::array<unsigned, 8> kWithoutOwners = {
    0x4d44 /* FAT */,      0x2011bab0 /* exFAT */, 0x5346544e /* NTFS */, 0x7366746e /* ntfs3 */,
    0x65735546 /* FUSE */, 0xff534d42 /* CIFS */,  0xfe534d42 /* SMB */,  0x6969 /* NFS */,
};

[[noreturn]] void Fail(std::string_view action, const std::string& path, int error = errno) {
  const auto kind = error == ENOSPC || error == EDQUOT ? Fault::Kind::kDiskFull
                    : error == EROFS                   ? Fault::Kind::kDiskReadOnly
                                                       : Fault::Kind::kInternal;
  const std::string advice = error == EACCES || error == EPERM ? AccessAdvice({path}) : "";
  throw Fault(kind, std::string(action) + " " + path + ": " +
                        std::generic_category().message(error) +
                        (advice.empty() ? "" : ": " + advice));
}

// Why `path` cannot be accessed as `wanted`, and how to correct it. Empty if it can, or does not
// exist.
std::string AccessProblem(const std::string& path, int wanted) {
  struct stat status {};
  if (::faccessat(AT_FDCWD, path.c_str(), wanted, AT_EACCESS) == 0) return "";
  if (errno != EACCES || ::stat(path.c_str(), &status) != 0) return "";
  const std::string user = NameOfUser(::geteuid());
  const bool is_ours = status.st_uid == ::geteuid();
  char mode[8];
  std::snprintf(mode, sizeof mode, "%04o", static_cast<unsigned>(status.st_mode & 07777));
  const std::string rights = S_ISDIR(status.st_mode) ? "u+rwx " : "u+rw ";
  return path + " belongs to " + NameOfUser(status.st_uid) + " (mode " + mode +
         ") and must belong to " + user + ", as whom this runs; as root: " +
         (is_ours ? "" : "chown " + user + ": '" + path + "' && ") + "chmod " + rights + "'" +
         path + "'";
}

Fd OpenDirectory(const std::string& path) {
  Fd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) Fail("open directory", path);
  return directory;
}

// A file next to its target, deleted unless it has replaced the target.
class Temporary {
 public:
  explicit Temporary(const std::string& target) : path_(target + ".XXXXXX") {
    fd_.Reset(::mkostemp(path_.data(), O_CLOEXEC));
    if (!fd_) Fail("create beside", target);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (!renamed_) ::unlink(path_.c_str());
  }

  const Fd& fd() const { return fd_; }
  const std::string& path() const { return path_; }
  void RenameTo(const std::string& target) {
    if (::rename(path_.c_str(), target.c_str()) != 0) Fail("rename to", target);
    renamed_ = true;
  }

 private:
  std::string path_;
  Fd fd_;
  bool renamed_ = false;
};

bool IsDirectory(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

void MakeDirectory(const std::string& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) == 0) {
    // mkdir() applies the umask.
    if (::chmod(path.c_str(), mode) != 0) Fail("set the mode of", path);
    TakeOwnerOfDirectory(path);
  } else if (const int error = errno; !IsDirectory(path)) {
    Fail("make directory", path, error == EEXIST ? ENOTDIR : error);
  }
}

}  // namespace

std::string WithoutSlash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::optional<std::string> ReadFile(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd && errno == ENOENT) return std::nullopt;
  if (!fd) Fail("open", path);
  std::string content;
  while (true) {
    const size_t size = content.size();
    content.resize(size + kChunkBytes);
    const ssize_t got = ::read(fd.get(), content.data() + size, kChunkBytes);
    const int error = errno;
    content.resize(size + static_cast<size_t>(got > 0 ? got : 0));
    if (got == 0) return content;
    if (got < 0 && error != EINTR) Fail("read", path, error);
    if (content.size() > kFileBytesMax) Fail("read", path, EFBIG);
  }
}

void ReplaceFile(const std::string& path, std::string_view content, mode_t mode) {
  const std::string directory_path = DirectoryOf(path);
  const Fd directory = OpenDirectory(directory_path);
  Temporary temporary(path);
  WriteAll(temporary.fd(), content, path);
  TakeOwnerOfDirectory(temporary.path());
  if (::fchmod(temporary.fd().get(), mode) != 0) Fail("set the mode of", path);
  if (::fsync(temporary.fd().get()) != 0) Fail("sync", path);
  temporary.RenameTo(path);
  if (::fsync(directory.get()) != 0) Fail("sync directory", directory_path);
}

bool IsThere(const std::string& path) {
  struct stat found = {};
  return ::lstat(path.c_str(), &found) == 0;
}

int64_t SizeOf(const std::string& path) {
  struct stat found = {};
  return ::stat(path.c_str(), &found) == 0 ? found.st_size : 0;
}

std::optional<std::vector<std::string>> EntriesIn(const std::string& directory) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(directory.c_str()), &::closedir);
  if (!entries) return std::nullopt;
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  if (errno != 0) return std::nullopt;
  return names;
}

std::optional<std::vector<std::string>> FilesIn(const std::string& directory) {
  auto names = EntriesIn(directory);
  if (names) std::erase_if(*names, [&](auto& name) { return IsDirectory(directory + "/" + name); });
  return names;
}

std::optional<std::vector<std::string>> DirectoriesIn(const std::string& directory) {
  auto names = EntriesIn(directory);
  if (names)
    std::erase_if(*names, [&](auto& name) { return !IsDirectory(directory + "/" + name); });
  return names;
}

void RemoveAll(const std::string& path) {
  if (std::remove(path.c_str()) == 0) return;
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) return;
  const auto names = EntriesIn(path);
  if (!names) return;
  for (const std::string& name : *names) RemoveAll(path + "/" + name);
  std::remove(path.c_str());
}

void WriteAll(const Fd& fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) Fail("write", path);
    content.remove_prefix(static_cast<size_t>(written));
  }
}

Fd OpenToRead(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) Fail("open", path);
  return fd;
}

Fd CreateFile(const std::string& path, mode_t mode) {
  Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!fd) Fail("make", path);
  TakeOwnerOfDirectory(path);
  return fd;
}

std::string ReadUpTo(const Fd& fd, size_t bytes, const std::string& path) {
  std::string content(bytes, '\0');
  size_t size = 0;
  while (size < bytes) {
    const ssize_t got = ::read(fd.get(), content.data() + size, bytes - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) Fail("read", path);
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  content.resize(size);
  return content;
}

void SyncFile(const Fd& fd, const std::string& path) {
  if (::fsync(fd.get()) != 0) Fail("sync", path);
}

void SyncDirectory(const std::string& path) {
  if (::fsync(OpenDirectory(path).get()) != 0) Fail("sync directory", path);
}

void RenameDurably(const std::string& from, const std::string& to) {
  const Fd directory = OpenDirectory(DirectoryOf(to));
  if (::rename(from.c_str(), to.c_str()) != 0) Fail("rename to", to);
  if (::fsync(directory.get()) != 0) Fail("sync directory", DirectoryOf(to));
}

void MakeDirectories(const std::string& path, mode_t mode) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    MakeDirectory(path.substr(0, slash), mode);
  }
  if (!path.empty() && path.back() != '/') MakeDirectory(path, mode);
}

std::string AccessAdvice(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    for (size_t slash = path.find('/', 1); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
      const std::string advice = AccessProblem(path.substr(0, slash), X_OK);
      if (!advice.empty()) return advice;
    }
    const std::string advice =
        AccessProblem(path, IsDirectory(path) ? R_OK | W_OK | X_OK : R_OK | W_OK);
    if (!advice.empty()) return advice;
  }
  return "";
}

// Reads /etc/passwd directly: getpwuid() loads NSS modules, which a static program cannot.
std::string NameOfUser(uid_t id) {
  const Fd fd(::open("/etc/passwd", O_RDONLY | O_CLOEXEC));
  std::string users(kChunkBytes, '\0');
  const ssize_t got = fd ? ::read(fd.get(), users.data(), users.size()) : 0;
  users.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  // NAME:SECRET:NUMBER:…
  const std::string number = std::to_string(id);
  for (size_t line = 0; line < users.size(); line = users.find('\n', line) + 1) {
    const size_t end = std::min(users.find('\n', line), users.size());
    const size_t name = users.find(':', line);
    const size_t secret = name < end ? users.find(':', name + 1) : users.npos;
    if (secret < end && users.compare(secret + 1, number.size() + 1, number + ":") == 0) {
      return users.substr(line, name - line);
    }
    if (end == users.size()) break;
  }
  return number;
}

bool MayLackOwners(const std::string& path) {
  struct statfs found {};
  if (::statfs(path.c_str(), &found) != 0) return false;
  return std::ranges::find(kWithoutOwners, static_cast<unsigned>(found.f_type)) !=
         kWithoutOwners.end();
}

void TakeOwnerOfDirectory(const std::string& path) {
  if (::geteuid() != 0) return;
  std::string trimmed = path;
  while (trimmed.size() > 1 && trimmed.back() == '/') trimmed.pop_back();
  const std::string directory = DirectoryOf(trimmed);
  struct stat status {};
  if (::stat(directory.c_str(), &status) != 0) Fail("look at", directory);
  // Not through a symbolic link: the owner of the directory could point it at a file of root.
  if (::lchown(trimmed.c_str(), status.st_uid, status.st_gid) == 0) return;
  const int error = errno;
  if (!MayLackOwners(directory)) Fail("set the owner of", path, error);
}

}  // namespace comanda
