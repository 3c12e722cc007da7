#pragma once

// The user as whom the service runs: the owner of the data directory, which systemd gives to the
// user of the unit. Commands that root types do some of their work as this user, so that what
// succeeds by hand succeeds for the service, too.

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace comanda::ops {

struct User {
  uid_t user = 0;
  gid_t group = 0;
  std::vector<gid_t> groups;  // the others, as /etc/group has them
  std::string name;           // as /etc/passwd has it; the number if it has none
};

// Nothing if the directory is missing.
std::optional<User> OwnerOf(const std::string& data_directory);

// Makes this process one of that user, for good. Does nothing where it is one already, or is not
// root. Fault if the system refuses. Call it before other threads exist.
void Become(const User& user);

// The numbers of the groups that list that user, in the format of /etc/group. Pure.
std::vector<gid_t> GroupsIn(const std::string& table, const std::string& user);

}  // namespace comanda::ops
