#include "ops/local_name.h"

#include <gtest/gtest.h>

namespace comanda::ops {
namespace {

TEST(OpsLocalName, IsWhatAvahiMakesOfTheHostName) {
  EXPECT_EQ(LocalLabel("caja"), "caja");
  EXPECT_EQ(LocalLabel("Caja-1"), "caja-1");
  EXPECT_EQ(LocalLabel("caja.lan"), "caja");
  EXPECT_EQ(LocalLabel("La Mar_2"), "lamar2");
  EXPECT_EQ(LocalLabel("-caja-"), "caja");
  EXPECT_EQ(LocalLabel(std::string(70, 'x')), std::string(63, 'x'));
  EXPECT_EQ(LocalLabel(""), "comanda");
  EXPECT_EQ(LocalLabel("Ñ"), "comanda");
  EXPECT_EQ(LocalLabel(".lan"), "comanda");
}

TEST(OpsLocalName, KnowsWhatMayStandInACertificate) {
  for (const char* name : {"caja", "Caja-1", "caja.lan", "a.b.c", "7"}) {
    EXPECT_TRUE(IsDnsName(name)) << name;
  }
  for (const std::string& name :
       {std::string(), std::string("la mar"), std::string("caja_1"), std::string("caja."),
        std::string(".lan"), std::string("a..b"), std::string("-caja"), std::string("caja-"),
        std::string("Ñ"), std::string(64, 'x')}) {
    EXPECT_FALSE(IsDnsName(name)) << name;
  }
  EXPECT_FALSE(IsDnsName(std::string(252, 'x').append(".y")));
  EXPECT_TRUE(IsDnsName(std::string(63, 'x')));
}

}  // namespace
}  // namespace comanda::ops
