#include "ops/user.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace comanda::ops {
namespace {

TEST(OpsUser, HasTheGroupsThatListIt) {
  const std::string table =
      "root:x:0:\nplugdev:x:46:rosa,comanda\nbroken\n:::\ndisk:x:6:comandante\n"
      "backup:x:34:comanda\nnone:x:many:comanda\n";
  EXPECT_EQ(GroupsIn(table, "comanda"), (std::vector<gid_t>{46, 34}));
  EXPECT_TRUE(GroupsIn(table, "").empty());
  EXPECT_TRUE(GroupsIn("", "comanda").empty());
}

TEST(OpsUser, IsNoneOfADirectoryThatIsMissing) {
  EXPECT_FALSE(OwnerOf("/nowhere/at/all"));
  EXPECT_EQ(OwnerOf("/").value().name, "root");
}

}  // namespace
}  // namespace comanda::ops
