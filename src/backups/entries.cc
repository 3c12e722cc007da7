#include "backups/entries.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/problem.h"
#include "base/text.h"

namespace comanda::backups {
namespace {

constexpr size_t kEntriesMax = 10'000;
constexpr int kDepthMax = 8;

std::string NameOf(mode_t mode) {
  if (S_ISREG(mode)) return "a file";
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISLNK(mode)) return "a symbolic link";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

// Reads one directory after the other.
class Walk {
 public:
  explicit Walk(const std::string& root) : root_(root) {
    struct stat found = {};
    if (::stat(root.c_str(), &found) == 0) device_ = found.st_dev;
    Look("", 0);
  }

  Tree tree;

 private:
  void Look(const std::string& below, int depth) {
    const std::string directory = below.empty() ? root_ : root_ + "/" + below;
    const auto names = EntriesIn(directory);
    if (!names) {
      throw Fault(Fault::Kind::kInternal, "cannot read " + directory + ": " + std::strerror(errno));
    }
    for (const std::string& name : *names) {
      if (++count_ > kEntriesMax) {
        tree.strange[below.empty() ? "." : below] =
            "a directory with more than " + std::to_string(kEntriesMax) + " entries";
        return;
      }
      Add(below.empty() ? name : below + "/" + name, depth);
    }
  }

  void Add(const std::string& path, int depth) {
    struct stat found = {};
    if (::lstat((root_ + "/" + path).c_str(), &found) != 0) return;  // it is gone
    if (S_ISREG(found.st_mode)) {
      tree.files[path] = found.st_size;
    } else if (!S_ISDIR(found.st_mode)) {
      tree.strange[path] = NameOf(found.st_mode);
    } else if (found.st_dev != device_) {
      tree.strange[path] = "a directory on which another disk is mounted";
    } else if (depth == kDepthMax) {
      tree.strange[path] = "a directory nested too deep";
    } else {
      Look(path, depth + 1);
    }
  }

  const std::string root_;
  dev_t device_ = 0;
  size_t count_ = 0;
};

[[noreturn]] void Refuse(const std::string& path, const std::string& what) {
  throw Refusal(
      Problem::kValidationFailed,
      Visible(path) + " is " + what +
          ": a backup has only files and directories; remove that entry, or take another backup");
}

// A directory or file in an open directory; no symbolic link.
Fd OpenBelow(const Fd& directory, const std::string& name, int flags, const std::string& path) {
  // O_NONBLOCK: or opening a pipe would wait for a writer.
  Fd opened(::openat(directory.get(), name.c_str(),
                     flags | O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  const int error = errno;
  if (opened) return opened;
  const Kind kind = KindOf(path);
  if (error == ELOOP || error == ENXIO || (error == ENOTDIR && kind != Kind::kNone)) {
    Refuse(path, NameOfKind(path));
  }
  if (error == ENOENT) return opened;
  throw Fault(Fault::Kind::kInternal, "cannot open " + path + ": " + std::strerror(error));
}

// An empty Fd if there is none.
Fd FindFileIn(const std::string& directory, const std::string& name) {
  Fd at(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!at && errno == ENOENT) return Fd();
  if (!at) {
    throw Fault(Fault::Kind::kInternal, "cannot open " + directory + ": " + std::strerror(errno));
  }
  size_t begin = 0;
  for (size_t slash = name.find('/'); slash != name.npos; slash = name.find('/', begin)) {
    Fd next = OpenBelow(at, name.substr(begin, slash - begin), O_DIRECTORY,
                        directory + "/" + name.substr(0, slash));
    if (!next) return Fd();
    at = std::move(next);
    begin = slash + 1;
  }
  Fd file = OpenBelow(at, name.substr(begin), 0, directory + "/" + name);
  if (!file) return Fd();
  struct stat found = {};
  if (::fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)) {
    Refuse(directory + "/" + name, NameOf(found.st_mode));
  }
  return file;
}

}  // namespace

Kind KindOf(const std::string& path) {
  struct stat found = {};
  if (::lstat(path.c_str(), &found) != 0) return Kind::kNone;
  if (S_ISREG(found.st_mode)) return Kind::kFile;
  return S_ISDIR(found.st_mode) ? Kind::kDirectory : Kind::kOther;
}

std::string NameOfKind(const std::string& path) {
  struct stat found = {};
  return ::lstat(path.c_str(), &found) == 0 ? NameOf(found.st_mode) : "missing";
}

Tree TreeOf(const std::string& directory) { return std::move(Walk(directory).tree); }

Fd OpenFileIn(const std::string& directory, const std::string& name) {
  Fd file = FindFileIn(directory, name);
  if (file) return file;
  throw Fault(Fault::Kind::kInternal, "there is no " + directory + "/" + name);
}

std::optional<std::string> ReadFileIn(const std::string& directory, const std::string& name) {
  const Fd file = FindFileIn(directory, name);
  if (!file) return std::nullopt;
  struct stat found = {};
  if (::fstat(file.get(), &found) != 0 || found.st_size > kSmallFileBytesMax) {
    throw Fault(Fault::Kind::kInternal, directory + "/" + name + " is too large to be read");
  }
  return ReadUpTo(file, static_cast<size_t>(found.st_size), directory + "/" + name);
}

}  // namespace comanda::backups
