#include "ops/addresses.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.h"

namespace comanda::ops {
namespace {

using Addresses = std::set<std::string>;

TEST(OpsAddresses, RecordsWhatDevicesAreGiven) {
  EXPECT_EQ(RecordedAddresses({"127.0.0.1", "::1", "169.254.3.4", "2001:db8::1", "192.168.1.20"}),
            Addresses{"192.168.1.20"});
}

TEST(OpsAddresses, BeginsWithARecordAndNoFormerAddress) {
  const auto record = NextRecord(std::nullopt, {"192.168.1.20"}, 5);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->addresses, Addresses{"192.168.1.20"});
  EXPECT_TRUE(record->former.empty());
}

TEST(OpsAddresses, NotesAChangeOnce) {
  const AddressRecord before{.addresses = {"192.168.1.20"}};
  const auto after = NextRecord(before, {"127.0.0.1", "192.168.1.31"}, 5);
  ASSERT_TRUE(after);
  EXPECT_EQ(*after, (AddressRecord{{"192.168.1.31"}, {"192.168.1.20"}, 5}));
  EXPECT_FALSE(NextRecord(after, {"192.168.1.31"}, 6));
}

TEST(OpsAddresses, KeepsTheRecordWhileTheMachineHasNoAddress) {
  const AddressRecord before{.addresses = {"192.168.1.20"}};
  EXPECT_FALSE(NextRecord(before, {"127.0.0.1", "169.254.1.1"}, 5));
  EXPECT_FALSE(NextRecord(before, {}, 5));
}

class OpsAddressesFile : public testing::Test {
 protected:
  OpsAddressesFile() { directory_ = ::mkdtemp(name_); }
  ~OpsAddressesFile() override { RemoveAll(directory_); }
  char name_[32] = "/tmp/comanda-addresses-XXXXXX";
  std::string directory_;
};

TEST_F(OpsAddressesFile, ReadsWhatItWrote) {
  FollowAddresses(directory_, {"192.168.1.20", "10.0.0.2"}, 1'700'000'000'000);
  FollowAddresses(directory_, {"192.168.1.31"}, 1'700'000'001'000);
  EXPECT_EQ(ReadAddressRecord(directory_),
            (AddressRecord{{"192.168.1.31"}, {"10.0.0.2", "192.168.1.20"}, 1'700'000'001'000}));
}

TEST_F(OpsAddressesFile, TakesAnotherFileForNoRecord) {
  for (const std::string content : {"", "\n\n\n", "no address\nnone\nyesterday", "\x01\xff\n"}) {
    ReplaceFile(directory_ + "/addresses", content, 0600);
    EXPECT_FALSE(ReadAddressRecord(directory_)) << content;
  }
}

}  // namespace
}  // namespace comanda::ops
