#include "http/query.h"

#include <gtest/gtest.h>

#include <array>

#include "base/problem.h"

namespace comanda::http {
namespace {

constexpr std::array<std::string_view, 6> kAllowed = {
    "page", "per_page", "sort", "filter[status]", "filter[paid]", "filter[start_date]"};
constexpr std::array<std::string_view, 3> kStatuses = {"PENDING", "READY", "CANCELLED"};

// The detail of the refusal, which must be invalid_parameter; empty where there was none.
template <typename Act>
std::string Refused(Act act) {
  try {
    act();
    return "";
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.problem, Problem::kInvalidParameter);
    return refusal.detail;
  }
}

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string RefusedQuery(std::string_view raw) {
  return Refused([&] { Query::Parse(raw).AllowOnly(kAllowed); });
}

TEST(HttpQuery, DecodesNamesAndValues) {
  const Query query = Query::Parse("filter%5Bstatus%5D=a%20b+c&page=2");
  EXPECT_EQ(query.Find("filter[status]"), "a b c");
  EXPECT_EQ(query.Find("page"), "2");
  EXPECT_EQ(query.Find("sort"), std::nullopt);
  EXPECT_TRUE(Query::Parse("").empty());
}

TEST(HttpQuery, RefusesEmptyRepeatedAndMalformed) {
  EXPECT_TRUE(Has(RefusedQuery("page="), "page"));
  EXPECT_TRUE(Has(RefusedQuery("page"), "page"));
  EXPECT_TRUE(Has(RefusedQuery("page=1&page=1"), "twice"));
  EXPECT_NE(RefusedQuery("page=%4"), "");
  EXPECT_NE(RefusedQuery("page=%zz"), "");
  EXPECT_NE(RefusedQuery("page=%ff"), "");
  EXPECT_NE(RefusedQuery("page=%00"), "");
  EXPECT_NE(RefusedQuery(std::string_view("page=1\0", 7)), "");
}

TEST(HttpQuery, NamesTheFixForCommonMistakes) {
  EXPECT_EQ(RefusedQuery("page=1&sort=x&filter[paid]=true"), "");
  for (const char* mistake : {"page[size]=5", "page[number]=2", "limit=5", "offset=5"}) {
    EXPECT_TRUE(Has(RefusedQuery(mistake), "use page and per_page")) << mistake;
  }
  EXPECT_TRUE(Has(RefusedQuery("start_date=2026-01-01"), "use filter[start_date]"));
  EXPECT_TRUE(Has(RefusedQuery("filter[statu]=x"), "filter[status]"));
  EXPECT_TRUE(Has(RefusedQuery("zzzzzzzzz=1"), "filter[start_date]")) << "lists what is allowed";
}

TEST(HttpQuery, ReadsPaging) {
  EXPECT_EQ(Query::Parse("").ReadPaging().per_page, 20);
  const Paging paging = Query::Parse("page=3&per_page=100").ReadPaging();
  EXPECT_EQ(paging.offset(), 200);
  for (const char* wrong : {"page=0", "page=-1", "page=x", "page=1.5", "page=1x", "per_page=0",
                            "per_page=101", "page=99999999999999999999", "page= 1"}) {
    EXPECT_NE(Refused([&] { Query::Parse(wrong).ReadPaging(); }), "") << wrong;
  }
}

TEST(HttpQuery, ReadsTheSort) {
  constexpr std::array<std::string_view, 2> kFields = {"created_at", "total"};
  const auto read = [&](std::string_view raw) {
    return Query::Parse(raw).ReadSort(kFields, "-created_at");
  };
  EXPECT_EQ(read("").index, 0u);
  EXPECT_TRUE(read("").descending);
  EXPECT_EQ(read("sort=total").index, 1u);
  EXPECT_FALSE(read("sort=total").descending);
  EXPECT_TRUE(read("sort=-total").descending);
  EXPECT_TRUE(Has(Refused([&] { read("sort=id"); }), "created_at, total"));
  EXPECT_NE(Refused([&] { read("sort=--total"); }), "");
}

TEST(HttpQuery, ReadsWordsInAnyCaseWithoutRepeats) {
  const auto read = [&](std::string_view raw) {
    return Query::Parse(raw).ReadWords("filter[status]", kStatuses);
  };
  EXPECT_EQ(read("filter[status]=ready,Pending,READY"), (std::vector<size_t>{1, 0}));
  EXPECT_EQ(read(""), (std::vector<size_t>{}));
  EXPECT_TRUE(Has(Refused([&] { read("filter[status]=ACCEPTED"); }), "PENDING, READY, CANCELLED"));
  EXPECT_NE(Refused([&] { read("filter[status]=READY,"); }), "");
}

TEST(HttpQuery, ReadsBooleansAndIds) {
  EXPECT_EQ(Query::Parse("a=TRUE").ReadBoolean("a"), true);
  EXPECT_EQ(Query::Parse("a=false").ReadBoolean("a"), false);
  EXPECT_NE(Refused([] { Query::Parse("a=1").ReadBoolean("a"); }), "");
  EXPECT_EQ(Query::Parse("a=0190A5C8-6F2E-7C3A-9D41-2B7F5E8A1C90").ReadUuid("a"),
            "0190a5c8-6f2e-7c3a-9d41-2b7f5e8a1c90");
  EXPECT_NE(Refused([] { Query::Parse("a=5").ReadUuid("a"); }), "");
}

TEST(HttpQuery, ReadsADayInTheZoneOfTheCompany) {
  const Days lima{.zone = *Zone::Find("America/Lima")};
  const auto read = [&](std::string_view raw, bool is_end) {
    return *Query::Parse(raw).ReadDayOrInstant("a", lima, is_end);
  };
  EXPECT_EQ(FormatInstant(read("a=2026-11-20", false).instant), "2026-11-20T05:00:00.000Z");
  EXPECT_EQ(FormatInstant(read("a=2026-11-20", true).instant), "2026-11-21T05:00:00.000Z");
  EXPECT_EQ(read("a=2026-11-20", true).day, (Day{2026, 11, 20}));
  EXPECT_FALSE(read("a=2026-11-20T18:00:00Z", true).day);
  const Days from_five{.zone = lima.zone, .starts_at = 300};
  EXPECT_EQ(
      FormatInstant(Query::Parse("a=2026-11-20").ReadDayOrInstant("a", from_five, true)->instant),
      "2026-11-21T10:00:00.000Z");
  EXPECT_EQ(FormatInstant(read("a=2026-11-20T18:00:00+02:00", true).instant),
            "2026-11-20T16:00:00.000Z")
      << "a plus sign that was not escaped";
  EXPECT_NE(Refused([&] { read("a=2026-02-30", false); }), "");
  EXPECT_NE(Refused([&] { Query::Parse("a=2026-11-20").ReadInstant("a"); }), "");
}

TEST(HttpQuery, HasOneCanonicalTextWhateverTheOrder) {
  EXPECT_EQ(Query::Parse("b=2&a=1").Canonical(), Query::Parse("a=%31&b=2").Canonical());
  EXPECT_NE(Query::Parse("a=1").Canonical(), Query::Parse("a=2").Canonical());
}

TEST(HttpListTail, SaysWhetherThereIsMore) {
  EXPECT_EQ(ListTail({.page = 1, .per_page = 2}, 3),
            R"(],"pagination":{"current_page":1,"per_page":2,"total":3,"has_more":true}})");
  EXPECT_TRUE(Has(ListTail({.page = 2, .per_page = 2}, 4), R"("has_more":false)"));
  EXPECT_TRUE(Has(ListTail({.page = 9, .per_page = 2}, 4), R"("has_more":false)"));
  EXPECT_TRUE(Has(ListTail({}, 0), R"("current_page":1,"per_page":20,"total":0,"has_more":false)"));
}

}  // namespace
}  // namespace comanda::http
