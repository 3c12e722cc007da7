#include "cloud/orders/authority.h"

#include <gtest/gtest.h>

#include <string>

#include "orders/permission.h"

namespace comanda::cloud {
namespace {

using orders::Origin;

// Every cell: whether the box and the cloud may change a part of an order of the box, and of one of
// the cloud.
struct Cells {
  const char* name;
  Part part;
  bool box_of_box, cloud_of_box, box_of_cloud, cloud_of_cloud;
};
constexpr Cells kCells[] = {
    {"references", Part::kReferences, true, false, false, true},
    {"fields", Part::kFields, true, false, false, true},
    {"combos", Part::kCombos, true, false, false, true},
    {"payments", Part::kPayments, true, false, false, true},
    {"discounts", Part::kDiscounts, true, false, false, true},
    {"status", Part::kStatus, true, true, true, true},
    {"rider", Part::kRider, true, true, true, true},
    {"delivery", Part::kDelivery, true, true, true, true},
    {"cancel", Part::kCancel, true, true, false, true},
};
static_assert(std::size(kCells) == kAuthorities.size());

class CloudAuthority : public ::testing::TestWithParam<Cells> {};

TEST_P(CloudAuthority, TheBoxOfAnOrderOfTheBox) {
  EXPECT_EQ(MayChange(Side::kBox, Origin::kBox, GetParam().part), GetParam().box_of_box);
}
TEST_P(CloudAuthority, TheCloudOfAnOrderOfTheBox) {
  EXPECT_EQ(MayChange(Side::kCloud, Origin::kBox, GetParam().part), GetParam().cloud_of_box);
}
TEST_P(CloudAuthority, TheBoxOfAnOrderOfTheCloud) {
  EXPECT_EQ(MayChange(Side::kBox, Origin::kCloud, GetParam().part), GetParam().box_of_cloud);
}
TEST_P(CloudAuthority, TheCloudOfAnOrderOfTheCloud) {
  EXPECT_EQ(MayChange(Side::kCloud, Origin::kCloud, GetParam().part), GetParam().cloud_of_cloud);
}

INSTANTIATE_TEST_SUITE_P(EveryPart, CloudAuthority, ::testing::ValuesIn(kCells),
                         [](const auto& cells) { return std::string(cells.param.name); });

TEST(CloudAuthorityAndPermission, SayTheSame) {
  for (const Origin maker : {Origin::kBox, Origin::kCloud}) {
    for (const auto& [side, actor] :
         {std::pair(Side::kBox, "key:till"), std::pair(Side::kCloud, "cloud")}) {
      EXPECT_EQ(orders::MayEdit(actor, orders::kApiSource, maker),
                MayChange(side, maker, Part::kCombos))
          << actor;
      EXPECT_EQ(orders::MayCancel(actor, orders::kApiSource, maker),
                MayChange(side, maker, Part::kCancel))
          << actor;
    }
  }
}

}  // namespace
}  // namespace comanda::cloud
