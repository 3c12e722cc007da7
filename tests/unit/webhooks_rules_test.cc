#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "webhooks/address_rules.h"
#include "webhooks/kinds.h"
#include "webhooks/schedule.h"
#include "webhooks/signature.h"

namespace comanda::webhooks {
namespace {

std::vector<std::string> NamesOf(std::string_view asked, const LoggedChange& change) {
  std::vector<std::string> names;
  for (const Kind kind : MessagesOf(Kinds::Parse(asked), change)) names.emplace_back(Name(kind));
  return names;
}

using Names = std::vector<std::string>;

TEST(WebhooksKinds, AnEventGivesWhatWasAskedFor) {
  const LoggedChange created{"ORDER_CREATED", "", "{}"};
  EXPECT_EQ(NamesOf("*", created), Names{"ORDER_CREATED"});
  EXPECT_EQ(NamesOf("ORDER_PAID", created), Names{});
  const LoggedChange paid{"ORDER_UPDATED", "payments,paid", R"({"paid":true})"};
  EXPECT_EQ(NamesOf("*", paid), Names{"ORDER_UPDATED"});
  EXPECT_EQ(NamesOf("ORDER_UPDATED,ORDER_PAID", paid), (Names{"ORDER_UPDATED", "ORDER_PAID"}));
  EXPECT_EQ(NamesOf("ORDER_PAID", {"ORDER_UPDATED", "payments,paid", R"({"paid":false})"}),
            Names{});
  const LoggedChange cancelled{"ORDER_UPDATED", "cancelled", "{}"};
  EXPECT_EQ(NamesOf("ORDER_CANCELLED,ORDER_STATUS_CHANGED", cancelled),
            (Names{"ORDER_STATUS_CHANGED", "ORDER_CANCELLED"}));
  EXPECT_EQ(NamesOf("ORDER_STATUS_CHANGED", {"ORDER_UPDATED", "delivery_status", "{}"}), Names{});
}

TEST(WebhooksKinds, AChangeCountsForLaterEventsAlone) {
  Selection selection;
  selection.Set(0, Kinds::Parse("ORDER_CREATED"));
  selection.Set(10, Kinds::Parse("*"));
  const Selection read = Selection::Parse(selection.Text());
  EXPECT_EQ(read.Text(), "0:ORDER_CREATED 10:*");
  EXPECT_FALSE(read.At(10).Has(Kind::kOrderUpdated));
  EXPECT_TRUE(read.At(11).Has(Kind::kOrderUpdated));
  selection.ForgetBefore(9);
  EXPECT_EQ(selection.Text(), "0:ORDER_CREATED 10:*");
  selection.ForgetBefore(10);
  EXPECT_EQ(selection.Text(), "10:*");
}

TEST(WebhooksKinds, ADerivedMessageHasAnIdOfItsOwnTheSameEveryTime) {
  const std::string event = "0190a5c8-6f2e-7c3a-9d41-2b7f5e8a1c90";
  EXPECT_EQ(MessageId(event, Kind::kOrderUpdated), event);
  EXPECT_NE(MessageId(event, Kind::kOrderPaid), event);
  EXPECT_NE(MessageId(event, Kind::kOrderPaid), MessageId(event, Kind::kOrderCancelled));
  EXPECT_EQ(MessageId(event, Kind::kOrderPaid), MessageId(event, Kind::kOrderPaid));
}

TEST(WebhooksSchedule, WaitsLongerWithEachFailure) {
  const std::vector<int64_t> waits_s = {30, 300, 1'800, 7'200, 14'400, 14'400};
  for (size_t i = 0; i < waits_s.size(); ++i) {
    const int64_t failures = static_cast<int64_t>(i) + 1;
    EXPECT_EQ(WaitMs(failures, 0), waits_s[i] * 900);
    EXPECT_EQ(WaitMs(failures, UINT64_MAX), waits_s[i] * 1'100);
  }
}

TEST(WebhooksSchedule, AReceiverIsDownAfterThreeFailuresOrAThousandLate) {
  EXPECT_FALSE(outbox::IsDown(kLaneRules, 2, 999));
  EXPECT_TRUE(outbox::IsDown(kLaneRules, 3, 0));
  EXPECT_TRUE(outbox::IsDown(kLaneRules, 1, 1'000));
  EXPECT_FALSE(outbox::IsDown(kLaneRules, 0, 1'000));  // the last attempt succeeded
  constexpr int64_t kHourMs = 3'600'000;
  EXPECT_FALSE(MustSuspend(72 * kHourMs, 14));
  EXPECT_FALSE(MustSuspend(72 * kHourMs - 1, 15));
  EXPECT_TRUE(MustSuspend(72 * kHourMs, 15));
}

TEST(WebhooksSignature, IsThatOfStandardWebhooksAndThePlatforms) {
  const Secrets secrets{"whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
                        "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8="};
  const auto headers = Sign(secrets, "id-1", 1'700'000'000'999, R"({"a":1})", "X-Own");
  EXPECT_EQ(headers,
            (std::vector<std::string>{
                "webhook-id: id-1", "webhook-timestamp: 1700000000",
                "webhook-signature: v1,/xVRErMUsvW5Hs6OAUAsFMdGJ6MJAY0XfwiCrZwSTBM= "
                "v1,QxBKVCZHnGTLVS2JRQZuoyGccK2hYACYeMZ5errft74=",
                "X-Own: sha256=c38b4404c678e66e75d3cb7c5c6269e24e1eb8585abd80dedf49330c39ed3263",
                "X-Own-New: "
                "sha256=d3f1ea16147b8b8d0304fe2a9559b4b4b84d057af19b132191df3378cbd1234a"}));
  EXPECT_EQ(MakeSecret().size(), secrets.current.size());
  EXPECT_NE(MakeSecret(), MakeSecret());
}

Networks Lan() {
  Networks networks;
  for (const char* own : {"192.168.1.10", "127.0.0.1", "::1"}) {
    networks.own.push_back(*ParseAddress(own));
  }
  networks.subnets.push_back(*AddressRange::Parse("192.168.1.0/24"));
  networks.allowed.push_back(*AddressRange::Parse("10.20.0.0/16"));
  return networks;
}

TEST(WebhooksAddressRules, NeighboursAndThePublicAreCalledAndNothingElse) {
  const Networks lan = Lan();
  for (const char* allowed : {"192.168.1.20", "10.20.3.4", "203.0.113.5", "2001:db8::5",
                              "::ffff:192.168.1.20", "64:ff9b::cb00:7105"}) {
    EXPECT_EQ(WhyRefused(lan, allowed, true), std::nullopt) << allowed;
  }
  for (const char* refused : {"127.0.0.1",
                              "127.0.0.2",
                              "::1",
                              "::ffff:127.0.0.1",
                              "64:ff9b::7f00:1",
                              "2002:7f00:1::",
                              "::7f00:1",
                              "0.0.0.0",
                              "::",
                              "169.254.169.254",
                              "fe80::1",
                              "224.0.0.1",
                              "255.255.255.255",
                              "ff02::1",
                              "192.168.1.10",
                              "::ffff:192.168.1.10",
                              "192.168.2.20",
                              "10.21.0.1",
                              "100.64.0.1",
                              "fd00::1"}) {
    EXPECT_NE(WhyRefused(lan, refused, true), std::nullopt) << refused;
  }
  EXPECT_EQ(WhyRefused(lan, "192.168.1.20", false), std::nullopt);
  EXPECT_NE(WhyRefused(lan, "203.0.113.5", false), std::nullopt);
}

// What the box says of an address; "" where it is called.
std::string Why(const Networks& networks, std::string_view address, bool is_https = true) {
  return WhyRefused(networks, address, is_https).value_or("");
}

Networks LanWith(const std::vector<std::string>& allowed) {
  Networks networks = Lan();
  networks.own.push_back(*ParseAddress("2001:db8:1::10"));
  networks.subnets.push_back(*AddressRange::Parse("2001:db8:1::/64"));
  networks.allowed.clear();
  for (const std::string& range : allowed) networks.allowed.push_back(*AddressRange::Parse(range));
  return networks;
}

TEST(WebhooksAddressRules, OnlyTheOwnerOpensLoopbackAndNeverTheBoxsOtherAddresses) {
  const Networks lan = LanWith({"127.0.0.1", "192.168.0.0/16"});
  EXPECT_EQ(Why(lan, "127.0.0.1", false), "");
  EXPECT_EQ(Why(lan, "127.0.0.2", false), "is loopback");
  EXPECT_EQ(Why(lan, "192.168.1.10"), "is this box's own address");
  EXPECT_EQ(Why(lan, "192.168.7.7", false), "");
}

TEST(WebhooksAddressRules, ANamedRangeOpensPrivateAddressesAndLoopbackAndNothingElse) {
  const Networks all = LanWith({"0.0.0.0/0", "::/0"});
  for (const char* opened : {"127.0.0.1", "127.0.0.2", "::1", "10.1.2.3", "172.16.0.1",
                             "192.168.7.7", "100.64.0.1", "fd00::1"}) {
    EXPECT_EQ(Why(all, opened, false), "") << opened;
  }
  struct Case {
    const char* address;
    const char* why;
  };
  constexpr std::array kCases = {
      Case{"0.0.0.0", "is the unspecified address"},
      Case{"0.1.2.3", "is the unspecified address"},
      Case{"::", "is the unspecified address"},
      Case{"169.254.169.254", "is link-local"},
      Case{"fe80::1", "is link-local"},
      Case{"fec0::1", "is site-local"},
      Case{"192.0.0.8", "is reserved"},
      Case{"224.0.0.1", "is multicast"},
      Case{"ff02::1", "is multicast"},
      Case{"240.0.0.1", "is reserved or broadcast"},
      Case{"255.255.255.255", "is reserved or broadcast"},
      Case{"192.168.1.10", "is this box's own address"},
      Case{"2001:db8:1::10", "is this box's own address"},
      Case{"192.168.1.255", "is broadcast"},
      Case{"2001:db8:1::", "is the anycast address of routers"},
  };
  for (const Case& one : kCases) EXPECT_EQ(Why(all, one.address), one.why) << one.address;
}

TEST(WebhooksAddressRules, PlainHttpIsRefusedForPublicAddressesAlsoWhereTheyAreNamed) {
  const Networks all = LanWith({"0.0.0.0/0", "::/0", "203.0.113.0/24", "64:ff9b::/96"});
  for (const char* address : {"203.0.113.5", "2001:db8::5", "2001:db8:1::20", "64:ff9b::cb00:7105",
                              "2002:cb00:7105::1", "::203.0.113.5"}) {
    EXPECT_EQ(Why(all, address, false), "is public, which needs https") << address;
    EXPECT_EQ(Why(all, address, true), "") << address;
  }
}

TEST(WebhooksAddressRules, JudgesTheIpv4AddressBehindATranslatorWhateverIsNamed) {
  struct Case {
    const char* inner;
    const char* why;
  };
  constexpr std::array kAlways = {
      Case{"127.0.0.1", "is loopback"},
      Case{"127.0.0.2", "is loopback"},
      Case{"192.168.1.10", "is this box's own address"},
      Case{"192.168.1.255", "is broadcast"},
      Case{"169.254.169.254", "is link-local"},
      Case{"224.0.0.1", "is multicast"},
      Case{"255.255.255.255", "is reserved or broadcast"},
  };
  // A neighbour of the box is none behind a translator, which may be in another network.
  constexpr std::array kUnlessNamed = {
      Case{"192.168.1.20", "is a private address behind a translator"},
      Case{"10.1.2.3", "is a private address behind a translator"},
      Case{"100.64.0.1", "is a private address behind a translator"},
  };
  const auto forms = [](const char* inner) {
    const Address bytes = *ParseAddress(inner);
    std::array<char, 40> six_to_four{};
    std::snprintf(six_to_four.data(), six_to_four.size(), "2002:%02x%02x:%02x%02x::1", bytes[12],
                  bytes[13], bytes[14], bytes[15]);
    return std::vector<std::string>{"64:ff9b::" + std::string(inner), six_to_four.data(),
                                    "::" + std::string(inner)};
  };
  const Networks all_named = LanWith({"0.0.0.0/0", "::/0"});
  const Networks inner_named = LanWith({"0.0.0.0/0"});
  const Networks outer_named = LanWith({"64:ff9b::/96", "2002::/16", "::/96"});
  for (const Case& one : kAlways) {
    for (const std::string& form : forms(one.inner)) {
      for (const Networks& networks : {Lan(), all_named, inner_named, outer_named}) {
        EXPECT_EQ(Why(networks, form), one.why) << form;
      }
    }
  }
  for (const Case& one : kUnlessNamed) {
    for (const std::string& form : forms(one.inner)) {
      EXPECT_EQ(Why(Lan(), form), one.why) << form;
      EXPECT_EQ(Why(outer_named, form), one.why) << form;
      EXPECT_EQ(Why(inner_named, form), "") << form;
    }
  }
}

TEST(WebhooksAddressRules, RefusesTheFormsWhoseIpv4AddressNobodyCanRead) {
  for (const Networks& networks : {Lan(), LanWith({"::/0", "64:ff9b:1::/48"})}) {
    EXPECT_EQ(Why(networks, "64:ff9b:1::7f00:1"), "is in the prefix of a local translator");
    EXPECT_EQ(Why(networks, "64:ff9b:1:7f00:0:100::"), "is in the prefix of a local translator");
    EXPECT_EQ(Why(networks, "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"),
              "is in the prefix of a local translator");
    EXPECT_EQ(Why(networks, "::ffff:0:127.0.0.1"), "is in the prefix of a local translator");
    EXPECT_EQ(Why(networks, "2001:0:cb00:7105::80ff:fffe"), "is in the prefix of a tunnel");
    EXPECT_EQ(Why(networks, "64:ff9b:2::1"), "");
    EXPECT_EQ(Why(networks, "2001:1::1"), "");
  }
}

TEST(WebhooksAddressRules, TheBroadcastAddressOfAnOwnSubnetIsNoReceiver) {
  Networks lan;
  for (const char* subnet : {"192.168.1.0/24", "10.1.2.0/30", "10.1.3.0/31", "10.1.4.4/32",
                             "203.0.113.0/28", "fd00:1::/64", "fd00:2::/127", "fd00:3::1/128"}) {
    lan.subnets.push_back(*AddressRange::Parse(subnet));
  }
  for (const char* broadcast : {"192.168.1.255", "10.1.2.3", "203.0.113.15", "::ffff:10.1.2.3"}) {
    EXPECT_EQ(Why(lan, broadcast), "is broadcast") << broadcast;
  }
  EXPECT_EQ(Why(lan, "fd00:1::"), "is the anycast address of routers");
  for (const char* neighbour :
       {"192.168.1.254", "10.1.2.2", "10.1.3.1", "10.1.3.0", "10.1.4.4", "203.0.113.14",
        "fd00:1::1", "fd00:1::ffff:ffff:ffff:ffff", "fd00:2::", "fd00:2::1", "fd00:3::1"}) {
    EXPECT_EQ(Why(lan, neighbour), "") << neighbour;
  }
}

TEST(WebhooksAddressRules, ReadsAUrlAsItIsCalled) {
  for (const char* url :
       {"http://2130706433:8080/", "http://0x7f.1:8080/", "http://0177.0.0.1:8080/",
        "http://127.1:8080/", "http://127.0.0.1.:8080/", "HTTP://127.0.0.1:8080"}) {
    const ParsedUrl parsed = ParseUrl(url);
    ASSERT_TRUE(parsed.target) << url;
    EXPECT_EQ(parsed.target->literal, ParseAddress("127.0.0.1")) << url;
  }
  EXPECT_EQ(ParseUrl("https://[FE80::1]/").target->literal, ParseAddress("fe80::1"));
  EXPECT_EQ(ParseUrl("https://[::ffff:1.2.3.4]/").target->literal, ParseAddress("1.2.3.4"));
  EXPECT_EQ(ParseUrl("https://Receiver.Example./x").target->host, "receiver.example");
  EXPECT_FALSE(ParseUrl("https://example.com/" + std::string(kUrlBytesMax, 'x')).target);
}

TEST(WebhooksAddressRules, RefusesAUrlThatReadersUnderstandDifferently) {
  constexpr const char* kNoUrl = "must be a whole URL, as https://example.com/comanda";
  constexpr const char* kHost = "must have a host name, or an IPv4 or IPv6 address, as its host";
  constexpr const char* kPort = "must have port 80, 443 or one from 1024 on";
  constexpr const char* kUser = "must not contain a user or password: use webhook_headers";
  constexpr const char* kFragment = "must not have a fragment (#…)";
  struct Case {
    std::string url;
    const char* wrong;
  };
  const std::vector<Case> cases = {
      {"", kNoUrl},
      {"example.com", kNoUrl},
      {"example.com:8443/x", kNoUrl},
      {"//example.com/", kNoUrl},
      {"ftp://example.com/", "must begin with https://"},
      {"file:///etc/passwd", kNoUrl},
      {"https", kNoUrl},
      {"https:", kNoUrl},
      {"https://", kNoUrl},
      {"https:///x", kNoUrl},
      {"https:////example.com/", kNoUrl},
      {"https:/example.com/", kNoUrl},
      {"https:example.com/", kNoUrl},
      {"https://?x", kNoUrl},
      {"https://:8443/", kNoUrl},
      // What is invisible, or a separator for some readers.
      {"https://exa mple.com/", kNoUrl},
      {" https://example.com/", kNoUrl},
      {"https://example.com/ ", kNoUrl},
      {"https://exa\tmple.com/", kNoUrl},
      {"https://example.com/\r\nX-A: b", kNoUrl},
      {std::string("https://example.com/\0x", 22), kNoUrl},
      {"https://ex\xC3\xA4mple.com/", kNoUrl},
      {"https:\\\\example.com/", kNoUrl},
      {"https://example.com\\@127.0.0.1/", kNoUrl},
      {"https://example.com/\\..\\x", kNoUrl},
      {"https://127.0.0.1\\.example.com/", kNoUrl},
      // Users, empty ones too.
      {"https://a@example.com/", kUser},
      {"https://a:b@example.com/", kUser},
      {"https://@example.com/", kUser},
      {"https://:@example.com/", kUser},
      {"https://example.com:443@127.0.0.1/", kUser},
      {"https://a@b@example.com/", kUser},
      // Fragments, empty ones too.
      {"https://example.com/#x", kFragment},
      {"https://example.com/#", kFragment},
      {"https://example.com#", kFragment},
      {"https://example.com#@127.0.0.1/", kFragment},
      {"https://example.com/?a#", kFragment},
      // Ports.
      {"https://example.com:22/", kPort},
      {"https://example.com:0/", kPort},
      {"https://example.com:/", kPort},
      {"https://example.com:", kPort},
      {"https://[::1]:/", kPort},
      {"https://example.com:00443/", kPort},
      {"https://example.com:65536/", kPort},
      {"https://example.com:4294967739/", kPort},
      {"https://example.com:+443/", kPort},
      {"https://example.com:-1/", kPort},
      {"https://example.com:4a3/", kPort},
      {"https://example.com:443:443/", kHost},
      // Hosts that are neither a name nor an address.
      {"https://./", kHost},
      {"https://../", kHost},
      {"https://a..b/", kHost},
      {"https://.example.com/", kHost},
      {"https://example.com../", kHost},
      {"https://127.0.0.1../", kHost},
      {"https://-example.com/", kHost},
      {"https://example-.com/", kHost},
      {"https://exa%6dple.com/", kHost},
      {"http://%31%32%37.0.0.1:8080/", kHost},
      {"https://example.com%00.a/", kHost},
      {"https://example.com%2f@a/", kUser},
      {"https://example%2ecom/", kHost},
      {"https://a,b/", kHost},
      {"https://a;b/", kHost},
      {"https://a|b/", kHost},
      {"https://a~b/", kHost},
      {"https://a*b/", kHost},
      {"https://{a,b}/", kHost},
      {"https://" + std::string(64, 'a') + ".com/", kHost},
      {"https://" + std::string(63, 'a') + "." + std::string(63, 'b') + "." + std::string(63, 'c') +
           "." + std::string(63, 'd') + "/",
       kHost},
      // Numbers that only some readers take for an address.
      {"https://256.256.256.256/", kHost},
      {"https://1.2.3.4.5/", kHost},
      {"https://1.2.3.08/", kHost},
      {"https://example.1/", kHost},
      {"https://example.0x7f/", kHost},
      {"https://0x7f.1./", kHost},
      {"https://2130706433./", kHost},
      {"https://4294967296/", kHost},
      {"https://0x/", kHost},
      {"https://1.2.3.0x/", kHost},
      // IPv6 with zones and without brackets.
      {"https://[fe80::1%25eth0]/", kHost},
      {"https://[fe80::1%eth0]/", kHost},
      {"https://[::1%251]/", kHost},
      {"https://::1/", kHost},
      {"https://fe80::1/", kHost},
      {"https://[::1/", kHost},
      {"https://::1]/", kHost},
      {"https://[]/", kHost},
      {"https://[127.0.0.1]/", kHost},
      {"https://[example.com]/", kHost},
      {"https://[v1.a]/", kHost},
      {"https://[::1]a/", kHost},
      {"https://[::1].example.com/", kHost},
      {"https://a[::1]/", kHost},
  };
  for (const Case& one : cases) {
    const ParsedUrl parsed = ParseUrl(one.url);
    EXPECT_FALSE(parsed.target) << one.url;
    EXPECT_EQ(parsed.wrong, one.wrong) << one.url;
  }
  for (const char* url :
       {"https://example.com", "https://example.com?x=1", "https://example.com/?u=https://b/",
        "https://example.com/a@b:c", "https://example.com/a|b%23c%5c?x=[1]", "https://a_b.c-d.e/",
        "https://xn--bcher-kva.example/", "https://3com.com/", "https://1.2.3.example/",
        "https://0x7f.example/", "https://till/", "https://till.local:8443/x", "https://a.b./",
        "https://example.com:443/", "https://example.com:65535/", "http://192.168.1.20:80/",
        "https://[2001:db8::1]:8443/x", "HTTPS://EXAMPLE.COM/", "https://example.com/a/../b"}) {
    EXPECT_TRUE(ParseUrl(url).target) << url << " " << ParseUrl(url).wrong;
  }
}

}  // namespace
}  // namespace comanda::webhooks
