#include "ops/service.h"

#include <gtest/gtest.h>

namespace comanda::ops {
namespace {

TEST(OpsService, FindsTheDataDirectoryOfTheUnit) {
  const auto property = [](const std::string& words) {
    return "{ path=/usr/bin/comanda ; argv[]=" + words +
           " ; ignore_errors=no ; start_time=[n/a] ; stop_time=[n/a] ; pid=0 ; code=(null) ; "
           "status=0/0 }";
  };
  EXPECT_EQ(DataDirectoryOf(property("/usr/bin/comanda serve --data /srv/comanda")),
            "/srv/comanda");
  EXPECT_EQ(DataDirectoryOf(property("/usr/bin/comanda serve --data=/srv/comanda --workers 8")),
            "/srv/comanda");
  EXPECT_EQ(DataDirectoryOf(property("/usr/bin/comanda serve")), "/var/lib/comanda");
  EXPECT_EQ(DataDirectoryOf(property("/usr/bin/comanda serve --data")), "/var/lib/comanda");
}

TEST(OpsService, FindsNoneWhereThereIsNoUnit) {
  EXPECT_EQ(DataDirectoryOf(""), "");
  EXPECT_EQ(DataDirectoryOf("Unit comanda.service could not be found."), "");
}

}  // namespace
}  // namespace comanda::ops
