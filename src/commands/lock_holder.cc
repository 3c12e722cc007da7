#include "commands/lock_holder.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include "base/text.h"

namespace comanda::commands {

std::vector<std::string> CommandOf(const doctor::Machine& machine, int64_t process) {
  const std::string text =
      machine.Read("/proc/" + std::to_string(process) + "/cmdline").value_or("");
  std::vector<std::string> words;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    words.emplace_back(word);
  }
  return words;
}

std::optional<int64_t> FindLockHolder(const doctor::Machine& machine, const std::string& data) {
  struct stat found {};
  if (::stat((data + "/comanda.lock").c_str(), &found) != 0) return std::nullopt;
  const std::string inode = ":" + std::to_string(found.st_ino);
  std::array<char, 64> exact = {};
  std::snprintf(exact.data(), exact.size(), "%02x:%02x%s", major(found.st_dev), minor(found.st_dev),
                inode.c_str());
  const std::string locks = machine.Read("/proc/locks").value_or("");
  std::string_view rest = locks;
  while (!rest.empty()) {
    // 1: FLOCK  ADVISORY  WRITE 712 b3:02:131 0 EOF
    const std::vector<std::string_view> words = doctor::WordsOf(TakePiece(rest, '\n'));
    if (words.size() < 6 || words[1] != "FLOCK" || !words[5].ends_with(inode)) continue;
    const int64_t process = std::max<int64_t>(0, doctor::ParseNumber(words[4]).value_or(0));
    // Of some file systems the device has other numbers here than those of stat(2).
    const std::vector<std::string> command = CommandOf(machine, process);
    if (words[5] == exact.data() || std::ranges::find(command, "serve") != command.end()) {
      return process;
    }
  }
  return std::nullopt;
}

}  // namespace comanda::commands
