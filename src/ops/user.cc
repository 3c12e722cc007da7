#include "ops/user.h"

#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

#include "base/file.h"
#include "base/problem.h"
#include "base/text.h"

namespace comanda::ops {

std::vector<gid_t> GroupsIn(const std::string& table, const std::string& user) {
  std::vector<gid_t> groups;
  std::string_view rest = table;
  while (!rest.empty()) {
    // NAME:SECRET:NUMBER:USER,USER
    std::string_view line = TakePiece(rest, '\n');
    std::array<std::string_view, 3> parts;
    for (std::string_view& part : parts) part = TakePiece(line, ':');
    gid_t number = 0;
    const auto result = std::from_chars(parts[2].data(), parts[2].data() + parts[2].size(), number);
    if (result.ec != std::errc()) continue;
    while (!line.empty()) {
      if (TakePiece(line, ',') == user) groups.push_back(number);
    }
  }
  return groups;
}

std::optional<User> OwnerOf(const std::string& data_directory) {
  struct stat found = {};
  if (::stat(data_directory.c_str(), &found) != 0) return std::nullopt;
  User user{.user = found.st_uid, .group = found.st_gid, .name = NameOfUser(found.st_uid)};
  try {
    user.groups = GroupsIn(ReadFile("/etc/group").value_or(""), user.name);
  } catch (const Fault&) {  // then it has its own group alone
  }
  return user;
}

void Become(const User& user) {
  if (::geteuid() != 0 || user.user == 0) return;
  if (::setgroups(user.groups.size(), user.groups.data()) == 0 &&
      ::setresgid(user.group, user.group, user.group) == 0 &&
      ::setresuid(user.user, user.user, user.user) == 0) {
    return;
  }
  throw Fault(Fault::Kind::kInternal,
              "cannot work as " + user.name + ", the owner of the data: " + std::strerror(errno));
}

}  // namespace comanda::ops
