#include "menu/slug.h"

#include <gtest/gtest.h>

namespace comanda::menu {
namespace {

TEST(MenuSlug, IsLowerCaseWithoutAccentsAndWithSingleDashes) {
  EXPECT_EQ(Slug("Arroz con mariscos (familiar)"), "arroz-con-mariscos-familiar");
  EXPECT_EQ(Slug("  Dúos & tríos "), "duos-trios");
  EXPECT_EQ(Slug("Ñoquis 4x4"), "noquis-4x4");
}

TEST(MenuSlug, IsNeverEmpty) {
  EXPECT_EQ(Slug("!!!"), "-");
  EXPECT_EQ(Slug("寿司"), "-");
}

}  // namespace
}  // namespace comanda::menu
