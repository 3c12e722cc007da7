#include "backups/sealed.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "backups/medium.h"
#include "backups/unfinished_backup.h"
#include "base/file.h"
#include "base/problem.h"
#include "base/text.h"

namespace comanda::backups {
namespace {

constexpr std::string_view kMagic = "comanda-sealed-1";
constexpr size_t kContentBytes = 64 * 1024;
constexpr size_t kMessageBytes = kContentBytes + crypto::kMessageOverheadBytes;
constexpr size_t kPathBytesMax = 1024;
// What the program writes itself: the header is not authenticated before the key is derived, and
// could ask for hours and for all memory.
constexpr crypto::KeyCost kCostMax = {};
constexpr size_t kPassphraseMin = 8;

template <size_t bytes>
std::string Number(uint64_t value) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i) text += static_cast<char>((value >> (8 * i)) & 0xff);
  return text;
}

uint64_t NumberIn(std::string_view text) {
  uint64_t value = 0;
  for (size_t i = text.size(); i > 0; --i)
    value = value << 8 | static_cast<unsigned char>(text[i - 1]);
  return value;
}

[[noreturn]] void Refuse(const std::string& file, const std::string& why) {
  throw Refusal(Problem::kValidationFailed, file + " " + why);
}

[[noreturn]] void RefuseDamaged(const std::string& file, uint64_t position) {
  Refuse(file, "is damaged or was cut, at or before byte " + std::to_string(position) +
                   ": nothing of it was used; take another backup");
}

// Collects bytes to messages of kContentBytes and writes those to a file.
class Output {
 public:
  Output(const std::string& path, const std::string& passphrase, const crypto::KeyCost& cost)
      : path_(path), fd_(CreatePrivateFile(path)) {
    ::flock(fd_.get(), LOCK_EX | LOCK_NB);
    const std::string salt = crypto::RandomSalt();
    const crypto::StreamKey key(passphrase, salt, cost);
    stream_.emplace(key);
    const std::string head = std::string(kMagic) + Number<4>(cost.passes) +
                             Number<4>(cost.memory_kib) + salt + stream_->header();
    WriteAll(fd_, head, path_);
    WriteAll(fd_, stream_->Write({}, false, head), path_);
  }

  void Add(std::string_view bytes) {
    while (!bytes.empty()) {
      if (content_.size() == kContentBytes) Flush(false);
      const size_t count = std::min(bytes.size(), kContentBytes - content_.size());
      content_ += bytes.substr(0, count);
      bytes.remove_prefix(count);
    }
  }

  Fd Finish() {
    Flush(true);
    SyncFile(fd_, path_);
    return std::move(fd_);
  }

 private:
  void Flush(bool is_last) {
    WriteAll(fd_, stream_->Write(content_, is_last), path_);
    content_.clear();
  }

  const std::string path_;
  Fd fd_;
  std::optional<crypto::StreamWriter> stream_;
  std::string content_;
};

// A link to a sealed backup is followed; a pipe is not waited for.
Fd OpenSealed(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) {
    throw Fault(Fault::Kind::kInternal, "cannot open " + path + ": " + std::strerror(errno));
  }
  struct stat found = {};
  if (::fstat(fd.get(), &found) == 0 && S_ISREG(found.st_mode)) return fd;
  Refuse(path, "is not a sealed backup: it is no file");
}

// Reads back what an Output wrote. Refusal where the file is anything else.
class Input {
 public:
  Input(const std::string& path, const std::string& passphrase)
      : path_(path), fd_(OpenSealed(path)) {
    const std::string head =
        ReadUpTo(fd_, kMagic.size() + 8 + crypto::kSaltBytes + crypto::kStreamHeaderBytes, path_);
    if (!head.starts_with(kMagic)) Refuse(path_, "is not a sealed backup");
    position_ = head.size();
    std::string_view rest = std::string_view(head).substr(kMagic.size());
    const auto next = [&rest](size_t bytes) {
      const std::string_view part = rest.substr(0, bytes);
      rest.remove_prefix(part.size());
      return part;
    };
    const crypto::KeyCost cost = {.passes = static_cast<uint32_t>(NumberIn(next(4))),
                                  .memory_kib = static_cast<uint32_t>(NumberIn(next(4)))};
    const std::string_view salt = next(crypto::kSaltBytes);
    if (rest.size() != crypto::kStreamHeaderBytes || cost.passes == 0 || cost.memory_kib < 8) {
      RefuseDamaged(path_, position_);
    }
    if (cost.passes > kCostMax.passes || cost.memory_kib > kCostMax.memory_kib) {
      Refuse(path_,
             "asks for more time or memory to derive its key than this program uses: its first " +
                 std::to_string(position_) + " bytes were changed, or a newer program made it");
    }
    const crypto::StreamKey key(passphrase, salt, cost);
    stream_.emplace(key, rest);
    const std::string first = ReadUpTo(fd_, crypto::kMessageOverheadBytes, path_);
    position_ += first.size();
    if (first.size() < crypto::kMessageOverheadBytes) RefuseDamaged(path_, position_);
    if (!stream_->Read(first, content_, head)) {
      Refuse(path_,
             "cannot be opened: the passphrase is not the one that sealed it, or its first " +
                 std::to_string(position_) + " bytes were changed");
    }
  }

  // Exactly that many bytes, at most kContentBytes.
  std::string Take(size_t bytes) {
    std::string taken;
    while (taken.size() < bytes) {
      const std::string_view some = Some(bytes - taken.size());
      taken += some;
    }
    return taken;
  }

  // From 1 to `most` bytes; valid until the next call.
  std::string_view Some(uint64_t most) {
    if (at_ == content_.size()) ReadMessage();
    const auto count = static_cast<size_t>(std::min<uint64_t>(most, content_.size() - at_));
    at_ += count;
    return std::string_view(content_).substr(at_ - count, count);
  }

  void RequireEnd() {
    if (!stream_->is_last() || at_ != content_.size() || !ReadUpTo(fd_, 1, path_).empty()) {
      RefuseDamaged(path_, position_);
    }
  }

  [[noreturn]] void Damaged() const { RefuseDamaged(path_, position_); }

 private:
  void ReadMessage() {
    if (stream_->is_last()) Damaged();
    const std::string message = ReadUpTo(fd_, kMessageBytes, path_);
    position_ += message.size();
    if (!stream_->Read(message, content_)) Damaged();
    if (content_.empty() || (!stream_->is_last() && content_.size() != kContentBytes)) Damaged();
    at_ = 0;
  }

  const std::string path_;
  const Fd fd_;
  uint64_t position_ = 0;
  std::optional<crypto::StreamReader> stream_;
  std::string content_;
  size_t at_ = 0;  // what is before it in content_ was taken
};

void AddEntries(const std::string& root, const std::string& below, Output& output,
                uint32_t& count) {
  const std::string directory = below.empty() ? root : root + "/" + below;
  auto files = FilesIn(directory);
  auto directories = DirectoriesIn(directory);
  if (!files || !directories) {
    throw Fault(Fault::Kind::kInternal, "cannot read " + directory + ": " + std::strerror(errno));
  }
  std::ranges::sort(*files);
  std::ranges::sort(*directories);
  const auto path_of = [&](const std::string& name) {
    return below.empty() ? name : below + "/" + name;
  };
  for (const std::string& name : *files) {
    const std::string path = path_of(name);
    const Fd fd = OpenToRead(root + "/" + path);
    struct stat found = {};
    if (::fstat(fd.get(), &found) != 0 || !S_ISREG(found.st_mode)) {
      throw Fault(Fault::Kind::kInternal, root + "/" + path + " is not a regular file");
    }
    auto left = static_cast<uint64_t>(found.st_size);
    output.Add("F" + Number<2>(path.size()) + path + Number<8>(left));
    while (left > 0) {
      const std::string some =
          ReadUpTo(fd, static_cast<size_t>(std::min<uint64_t>(left, kContentBytes)), path);
      if (some.empty()) {
        throw Fault(Fault::Kind::kInternal, root + "/" + path + " became shorter meanwhile");
      }
      output.Add(some);
      left -= some.size();
    }
    ++count;
  }
  for (const std::string& name : *directories) {
    const std::string path = path_of(name);
    output.Add("D" + Number<2>(path.size()) + path);
    ++count;
    AddEntries(root, path, output, count);
  }
}

bool IsRelativePath(std::string_view path) {
  if (path.empty() || path.size() > kPathBytesMax || path.find('\0') != path.npos) return false;
  while (true) {
    const size_t end = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, end);
    if (part.empty() || part == "." || part == "..") return false;
    if (end == path.size()) return true;
    path.remove_prefix(end + 1);
  }
}

// What is done with the entries. For a file: begin, then its content in pieces, then end.
struct Visitor {
  std::function<void(const std::string& path)> on_directory;
  std::function<void(const std::string& path)> begin_file;
  std::function<void(std::string_view bytes)> on_bytes;
  std::function<void()> end_file;
};

void Visit(const std::string& file, const std::string& passphrase, const Visitor& visitor) {
  Input input(file, passphrase);
  uint32_t count = 0;
  while (true) {
    const char kind = input.Take(1)[0];
    if (kind == 'E') break;
    if (kind != 'D' && kind != 'F') input.Damaged();
    const std::string path = input.Take(NumberIn(input.Take(2)));
    if (!IsRelativePath(path)) input.Damaged();
    ++count;
    if (kind == 'D') {
      visitor.on_directory(path);
      continue;
    }
    visitor.begin_file(path);
    for (uint64_t left = NumberIn(input.Take(8)); left > 0;) {
      const std::string_view some = input.Some(left);
      visitor.on_bytes(some);
      left -= some.size();
    }
    visitor.end_file();
  }
  if (NumberIn(input.Take(4)) != count) input.Damaged();
  input.RequireEnd();
}

}  // namespace

Fd Seal(const std::string& directory, const std::string& file, const std::string& passphrase,
        const crypto::KeyCost& cost) {
  Output output(file, passphrase, cost);
  uint32_t count = 0;
  AddEntries(directory, "", output, count);
  output.Add("E" + Number<4>(count));
  return output.Finish();
}

void UnsealInto(const std::string& file, const std::string& directory,
                const std::string& passphrase) {
  Fd current;
  std::string current_path;
  Visit(file, passphrase,
        {.on_directory =
             [&](const std::string& path) { MakeDirectories(directory + "/" + path, 0700); },
         .begin_file =
             [&](const std::string& path) {
               current_path = directory + "/" + path;
               current = CreateFile(current_path, 0600);
             },
         .on_bytes = [&](std::string_view bytes) { WriteAll(current, bytes, current_path); },
         .end_file = [&] { SyncFile(current, current_path); }});
}

std::map<std::string, std::string> ReadSealed(const std::string& file,
                                              const std::string& passphrase) {
  std::map<std::string, std::string> digests;
  std::string current_path;
  std::optional<crypto::Blake2b> current;
  Visit(file, passphrase,
        {.on_directory = [](const std::string&) {},
         .begin_file =
             [&](const std::string& path) {
               current_path = path;
               current.emplace();
             },
         .on_bytes = [&](std::string_view bytes) { current->Add(bytes); },
         .end_file = [&] { digests[current_path] = current->Finish(); }});
  return digests;
}

bool IsSealed(const std::string& file) {
  const Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  std::string begin(kMagic.size(), '\0');
  return fd && ::read(fd.get(), begin.data(), begin.size()) == static_cast<ssize_t>(begin.size()) &&
         begin == kMagic;
}

std::string ReadPassphrase(const std::string& file) {
  struct stat found = {};
  if (::stat(file.c_str(), &found) != 0) {
    Refuse(file,
           std::string("cannot be read as the file of the passphrase: ") + std::strerror(errno));
  }
  if (!S_ISREG(found.st_mode)) Refuse(file, "is not a file, and should hold the passphrase");
  if ((found.st_mode & 077) != 0) {
    Refuse(file,
           "holds the passphrase, and others than its owner may read it: chmod 600 '" + file + "'");
  }
  const std::string content = ReadFile(file).value_or("");
  std::string_view line = std::string_view(content).substr(0, content.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.size() < kPassphraseMin) {
    Refuse(file, "must have the passphrase in its first line, at least " +
                     std::to_string(kPassphraseMin) + " characters");
  }
  return std::string(line);
}

}  // namespace comanda::backups
