#include "cloud/orders/orders_reader.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "aliases/aliases.h"
#include "base/concat.h"
#include "cloud/orders/journal_store.h"
#include "cloud/readings.h"
#include "company/companies.h"
#include "orders/orders.h"
#include "support/restaurant_database.h"

namespace comanda::cloud {
namespace {

using aliases::Kind;
using orders::Status;
using testing::kCompany;
using testing::RestaurantDatabase;

constexpr int64_t kPollMs = 15'000;
constexpr int64_t kRecentMs = 300'000;

Reply Answered(int status, std::string body,
               std::vector<std::pair<std::string, std::string>> headers = {}) {
  Reply reply;
  reply.answer = net::Reply(
      net::Answer{.status = status, .headers = std::move(headers), .body = std::move(body)});
  if (status == 200) reply.verdict = Verdict::kOk;
  if (status == 304) reply.verdict = Verdict::kNotModified;
  if (status >= 400 && status < 500) reply.verdict = Verdict::kRefused;
  return reply;
}

Reply TooLarge() {
  Reply reply;
  reply.reachability = Reachability::kUnusable;
  reply.answer = net::Reply(net::Answer{.outcome = net::Outcome::kAnswerTooLarge});
  return reply;
}

std::string IdOf(int number) {
  const std::string digits = std::to_string(number);
  return "7f3c2f1e-0000-4000-8000-" + std::string(12 - digits.size(), '0') + digits;
}

std::string RecordOf(int number, std::string_view status = "PENDING",
                     std::string_view more = R"("combos":[])") {
  return Concat({R"({"id":")", IdOf(number), R"(","status":")", status, R"(",)", more, "}"});
}

// A cloud that lists orders, in pages, by their status.
class FakeCloud : public Line {
 public:
  Reply Ask(const Request& request) override {
    requests.push_back(request);
    if (intercept) {
      if (auto reply = intercept(request)) return *std::move(reply);
    }
    if (request.path.starts_with("/v1/orders/")) return One(request.path.substr(11));
    return List(request.path);
  }

  std::vector<std::string> Paths() const {
    std::vector<std::string> paths;
    for (const Request& request : requests) paths.push_back(request.path);
    return paths;
  }

  static std::string Value(const std::string& path, std::string_view name) {
    size_t at = path.find(Concat({"&", name, "="}));
    if (at == path.npos) at = path.find(Concat({"?", name, "="}));
    if (at == path.npos) return "";
    const size_t begin = at + name.size() + 2;
    return path.substr(begin, path.find('&', begin) - begin);
  }

  std::map<int, std::string> orders;  // by number: the status
  std::vector<Request> requests;
  std::function<std::optional<Reply>(const Request&)> intercept;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string more = R"("combos":[])";
  size_t rows_max = 100;  // of a page, however many are asked for

 private:
  Reply One(const std::string& id) {
    for (const auto& [number, status] : orders) {
      if (IdOf(number) == id) {
        return Answered(200, R"({"data":)" + RecordOf(number, status) + "}");
      }
    }
    return Answered(404, R"({"type":"x/not_found","status":404})");
  }

  Reply List(const std::string& path) {
    const std::string wanted = "," + Value(path, "filter[status]") + ",";
    const size_t per_page = std::min(std::stoul(Value(path, "per_page")), rows_max);
    const size_t first = (std::stoul(Value(path, "page")) - 1) * per_page;
    std::vector<std::string> rows;
    for (const auto& [number, status] : orders) {
      const bool fits = wanted == ",," || wanted.find("," + status + ",") != wanted.npos;
      if (fits) rows.push_back(RecordOf(number, status, more));
    }
    std::string data;
    for (size_t i = first; i < rows.size() && i < first + per_page; ++i) {
      data += (data.empty() ? "" : ",") + rows[i];
    }
    const bool has_more = first + per_page < rows.size();
    return Answered(200,
                    Concat({R"({"data":[)", data, R"(],"pagination":{"has_more":)",
                            has_more ? "true" : "false", "}}"}),
                    headers);
  }
};

class CloudOrdersReader : public ::testing::Test {
 protected:
  CloudOrdersReader() {
    linked.link.url = "https://cloud.example";
    linked.link.features.takes_status_list = true;
    database->Write([&](db::Tx& tx, const db::Stamp&) { PutLink(tx, kCompany, linked.link); });
  }

  void Read() { reader.Read(linked, cloud); }
  // The cloud's ids of the orders of which a difference says that they cannot be read.
  std::vector<std::string> Unreadable() {
    return database->Read([](db::Snapshot& snapshot) {
      return snapshot.FindTexts(
          "SELECT cloud FROM cloud_difference WHERE company_id = $1 AND kind = 'unreadable'",
          kCompany);
    });
  }
  void ReadAfter(int64_t ms) {
    database.clock.Advance(ms);
    cloud.requests.clear();
    Read();
  }
  bool TakeEvents(const Reply& reply) {
    const bool is_echo = reader.TakeEvents(linked, reply);
    ReadLink();
    return is_echo;
  }
  void ReadLink() {
    const Link link =
        *database->Read([](db::Snapshot& snapshot) { return FindLink(snapshot, kCompany); });
    linked.link.cursor = link.cursor;
    linked.link.progress = link.progress;
  }
  std::optional<orders::Order> Here(int number) {
    return database->Read(
        [&](db::Snapshot& snapshot) { return orders::Load(snapshot, kCompany, IdOf(number)); });
  }
  int64_t CountOfOrders() {
    return database->Read([](db::Snapshot& snapshot) {
      return snapshot.GetInt("SELECT count(*) FROM orders WHERE company_id = $1", kCompany);
    });
  }
  void Follow() {
    linked.link.features.has_events = true;
    cloud.headers = {{"X-Event-Cursor", "7:1"}};
    Read();
    ReadLink();
  }

  RestaurantDatabase database;
  FakeCloud cloud;
  Linked linked{.company = kCompany, .link = {}};
  OrdersReader reader{
      {.database = *database, .clock = database.clock, .poll_ms = kPollMs, .rider_provider = "t"}};
};

// Polling

TEST_F(CloudOrdersReader, PollsOpenOrdersOftenAndRecentOnesSeldom) {
  cloud.orders = {{1, "PENDING"}, {2, "FINALIZED"}};
  EXPECT_EQ(reader.DueInMs(linked), 0);
  Read();
  EXPECT_TRUE(Here(1));
  EXPECT_TRUE(Here(2)) << "one of the last two days";
  EXPECT_EQ(reader.DueInMs(linked), kPollMs);
  ReadAfter(kPollMs);
  EXPECT_EQ(cloud.Paths(),
            std::vector<std::string>{"/v1/orders?filter[status]=PENDING,PREPARING,READY,DELIVERED"
                                     "&sort=created_at&per_page=100&page=1"});
  ReadAfter(kRecentMs);
  EXPECT_EQ(cloud.requests.size(), 2U);
}

TEST_F(CloudOrdersReader, AsksForEachStatusWhereAListIsRefused) {
  linked.link.features.takes_status_list = false;
  cloud.orders = {{1, "PENDING"}, {2, "READY"}};
  Read();
  EXPECT_EQ(FakeCloud::Value(cloud.requests[0].path, "filter[status]"), "PENDING");
  EXPECT_EQ(FakeCloud::Value(cloud.requests[3].path, "filter[status]"), "DELIVERED");
  EXPECT_TRUE(Here(1) && Here(2));
}

TEST_F(CloudOrdersReader, SendsBothDatesWhereTheCloudTakesThem) {
  Read();
  const std::string& without = cloud.requests.back().path;
  EXPECT_EQ(FakeCloud::Value(without, "filter[start_date]"), "2027-01-13");
  EXPECT_EQ(without.find("end_date"), without.npos);
  linked.link.features.takes_end_date = true;
  ReadAfter(kRecentMs);
  EXPECT_EQ(FakeCloud::Value(cloud.requests.back().path, "filter[end_date]"), "2027-01-16");
}

TEST_F(CloudOrdersReader, AnOrderThatLeavesTheListIsReadByItsIdOnce) {
  cloud.orders = {{1, "PENDING"}};
  Read();
  cloud.orders = {{1, "FINALIZED"}};
  ReadAfter(kPollMs);
  EXPECT_EQ(cloud.requests.size(), 2U);
  EXPECT_EQ(Here(1)->status, Status::kFinalized);
  ReadAfter(kPollMs);
  EXPECT_EQ(cloud.requests.size(), 1U);
}

TEST_F(CloudOrdersReader, AnOrderThatIsNotFoundIsGone) {
  cloud.orders = {{1, "PENDING"}};
  Read();
  cloud.orders.clear();
  ReadAfter(kPollMs);
  EXPECT_TRUE(Here(1)->gone_at);
  ReadAfter(kPollMs);
  EXPECT_EQ(cloud.requests.size(), 1U) << "asked once";
}

TEST_F(CloudOrdersReader, AnOrderThatCouldNotBeReadIsReadAgain) {
  cloud.orders = {{1, "PENDING"}};
  Read();
  cloud.orders = {{1, "FINALIZED"}};
  cloud.intercept = [](const Request& request) -> std::optional<Reply> {
    if (!request.path.starts_with("/v1/orders/")) return std::nullopt;
    return Answered(400, "{}");
  };
  ReadAfter(kPollMs);
  EXPECT_EQ(Here(1)->status, Status::kPending);
  cloud.intercept = nullptr;
  ReadAfter(kPollMs);
  EXPECT_EQ(Here(1)->status, Status::kFinalized);
}

TEST_F(CloudOrdersReader, OrdersThatLeftWhileTheBoxWasOffAreReadByTheirIds) {
  cloud.orders = {{1, "PENDING"}};
  Read();
  cloud.orders = {{1, "CANCELLED"}};
  reader.Restart();  // remembers nothing, as a new process
  cloud.intercept = [](const Request& request) -> std::optional<Reply> {
    if (request.path.find("start_date") == request.path.npos) return std::nullopt;
    return Answered(200, R"({"data":[]})");
  };
  Read();
  EXPECT_EQ(Here(1)->status, Status::kCancelled);
}

TEST_F(CloudOrdersReader, ARecordThatDidNotChangeIsNotTakenAgain) {
  cloud.orders = {{1, "PENDING"}};
  Read();
  database->Write([](db::Tx& tx, const db::Stamp&) {
    tx.Run("DELETE FROM cloud_order WHERE company_id = $1", kCompany);
  });
  ReadAfter(kPollMs);
  const auto is_taken = [&] {
    return database->Read([](db::Snapshot& snapshot) {
      return store::FindOrder(snapshot, kCompany, IdOf(1)).has_value();
    });
  };
  EXPECT_FALSE(is_taken());
  reader.Restart();
  Read();
  EXPECT_TRUE(is_taken());
}

TEST_F(CloudOrdersReader, APageThatIsNotModifiedKeepsItsOrdersOpen) {
  cloud.orders = {{1, "PENDING"}};
  cloud.headers = {{"ETag", R"(W/"1")"}};
  Read();
  EXPECT_EQ(cloud.requests[0].etag, "");
  cloud.intercept = [](const Request& request) -> std::optional<Reply> {
    EXPECT_EQ(request.etag, R"(W/"1")");
    return Answered(304, "");
  };
  ReadAfter(kPollMs);
  EXPECT_EQ(cloud.requests.size(), 1U) << "the order has not left";
  EXPECT_FALSE(Here(1)->gone_at);
}

TEST_F(CloudOrdersReader, AListWithoutItemsIsReadByIds) {
  cloud.orders = {{1, "PENDING"}};
  cloud.more = R"("total":5)";
  Read();
  EXPECT_EQ(cloud.requests[1].path, "/v1/orders/" + IdOf(1));
  ReadAfter(kPollMs);
  EXPECT_EQ(cloud.requests.size(), 1U) << "nothing has changed";
}

// Bounds

TEST_F(CloudOrdersReader, ReadsAllPages) {
  for (int i = 1; i <= 250; ++i) cloud.orders[i] = "READY";
  Read();
  EXPECT_EQ(CountOfOrders(), 250);
}

TEST_F(CloudOrdersReader, HasMoreThatLiesEndsTheReading) {
  cloud.intercept = [](const Request& request) -> std::optional<Reply> {
    if (FakeCloud::Value(request.path, "page") != "1") {
      return Answered(200, R"({"data":[],"pagination":{"has_more":true}})");
    }
    return Answered(200,
                    Concat({R"({"data":[)", RecordOf(1), R"(],"pagination":{"has_more":true}})"}));
  };
  Read();
  EXPECT_EQ(cloud.requests.size(), 4U) << "two pages of each of two lists";
  EXPECT_TRUE(Here(1));
}

TEST_F(CloudOrdersReader, RepeatedPagesEndTheReading) {
  cloud.intercept = [](const Request&) -> std::optional<Reply> {
    return Answered(200, Concat({R"({"data":[)", RecordOf(1), ",", RecordOf(2),
                                 R"(],"pagination":{"has_more":true}})"}));
  };
  Read();
  EXPECT_EQ(cloud.requests.size(), 4U);
}

TEST_F(CloudOrdersReader, NewIdsEachTimeAreBounded) {
  int number = 0;
  cloud.intercept = [&](const Request&) -> std::optional<Reply> {
    return Answered(
        200, Concat({R"({"data":[)", RecordOf(++number), R"(],"pagination":{"has_more":true}})"}));
  };
  Read();
  EXPECT_EQ(cloud.requests.size(), 2U * kOrderPagesMax);
  EXPECT_EQ(reader.DueInMs(linked), kPollMs);
}

TEST_F(CloudOrdersReader, RecordsThatCannotBeReadAreLeftOut) {
  cloud.intercept = [](const Request&) -> std::optional<Reply> {
    return Answered(200, Concat({R"({"data":[null,7,[],{"id":{}},{"id":"x","status":"READY",)",
                                 R"("combos":[],"total":0.001},)", RecordOf(1), "]}"}));
  };
  Read();
  EXPECT_EQ(CountOfOrders(), 1);
  ReadAfter(kPollMs);
  EXPECT_EQ(CountOfOrders(), 1);
}

TEST_F(CloudOrdersReader, AnOrderThatIsTooLargeHidesNoOther) {
  for (int i = 1; i <= 120; ++i) cloud.orders[i] = "READY";
  cloud.intercept = [](const Request& request) -> std::optional<Reply> {
    const int per_page = std::stoi(FakeCloud::Value(request.path, "per_page"));
    const int page = std::stoi(FakeCloud::Value(request.path, "page"));
    const bool has_it = (page - 1) * per_page < 42 && 42 <= page * per_page;
    return has_it ? std::optional(TooLarge()) : std::nullopt;
  };
  Read();
  EXPECT_EQ(CountOfOrders(), 119);
  EXPECT_FALSE(Here(42));
  EXPECT_EQ(cloud.requests.size(), 2U * (2 + 10 + 10));
}

// One of several in a test.
struct OneReader : CloudOrdersReader {
  using CloudOrdersReader::cloud;
  using CloudOrdersReader::CountOfOrders;
  using CloudOrdersReader::Read;
  void TestBody() override {}
};

TEST_F(CloudOrdersReader, AnOrderThatIsTooLargeHidesNoOtherInPagesOfAnySize) {
  constexpr int kOrders = 120;
  for (const int rows_max : {7, 20, 50}) {
    for (int large = 1; large <= kOrders; large += 3) {
      OneReader one;
      one.cloud.rows_max = static_cast<size_t>(rows_max);
      for (int i = 1; i <= kOrders; ++i) one.cloud.orders[i] = "READY";
      one.cloud.intercept = [&](const Request& request) -> std::optional<Reply> {
        const int rows = std::min(std::stoi(FakeCloud::Value(request.path, "per_page")), rows_max);
        const int page = std::stoi(FakeCloud::Value(request.path, "page"));
        const bool has_it = (page - 1) * rows < large && large <= page * rows;
        return has_it ? std::optional(TooLarge()) : std::nullopt;
      };
      one.Read();
      EXPECT_EQ(one.CountOfOrders(), kOrders - 1) << large << " in pages of " << rows_max;
    }
  }
}

TEST_F(CloudOrdersReader, AListThatIsGivenUpIsATroubleUntilItIsRead) {
  // The open ones alone.
  cloud.intercept = [](const Request& request) -> std::optional<Reply> {
    if (request.path.find("status") == request.path.npos) return std::nullopt;
    return Answered(400, "{}");
  };
  Read();
  const auto visit = [&] {
    return database->Read([](db::Snapshot& snapshot) {
      return VisitOf(FindLink(snapshot, kCompany)->progress, kOrdersPart);
    });
  };
  EXPECT_EQ(visit().failures, 1);
  cloud.intercept = nullptr;
  ReadAfter(kPollMs);
  EXPECT_EQ(visit().failures, 0);
}

TEST_F(CloudOrdersReader, EventsThatCannotBeReadAreATroubleUntilTheyCan) {
  Follow();
  const auto failures = [&] {
    return database->Read([](db::Snapshot& snapshot) {
      return VisitOf(FindLink(snapshot, kCompany)->progress, kOrdersPart).failures;
    });
  };
  EXPECT_EQ(failures(), 0);
  TakeEvents(Answered(200, R"({"data":[]})"));
  EXPECT_EQ(failures(), 1);
  TakeEvents(TooLarge());
  EXPECT_GE(failures(), 1);
  TakeEvents(Answered(200, R"({"data":[],"next":"7:2"})"));
  EXPECT_EQ(failures(), 0);
}

TEST_F(CloudOrdersReader, ATroubleThatARestartMetEndsWithTheNextEvents) {
  Follow();
  TakeEvents(Answered(200, R"({"data":[]})"));
  const auto visit = [&] { return VisitOf(linked.link.progress, kOrdersPart); };
  EXPECT_EQ(visit().failures, 1);
  reader.Restart();
  const auto request = reader.EventsRequest(linked);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->wait_s, 0) << "its end is known at once";
  TakeEvents(Answered(200, R"({"data":[],"next":"7:2"})"));
  EXPECT_EQ(visit().failures, 0);
  database.clock.Advance(kPollMs);
  const auto next = reader.EventsRequest(linked);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->wait_s, 25);
}

TEST_F(CloudOrdersReader, ATroubleThatARestartMetEndsWithTheWholeListing) {
  cloud.intercept = [](const Request& request) -> std::optional<Reply> {
    if (request.path.find("start_date") == request.path.npos) return std::nullopt;
    return Answered(400, "{}");
  };
  Read();
  ReadLink();
  const auto visit = [&] { return VisitOf(linked.link.progress, kOrdersPart); };
  EXPECT_EQ(visit().failures, 1);
  reader.Restart();
  Read();
  ReadLink();
  EXPECT_GE(visit().failures, 1) << "the open ones alone were read";
  cloud.intercept = nullptr;
  reader.Restart();
  Read();
  ReadLink();
  EXPECT_EQ(visit().failures, 0);
}

TEST_F(CloudOrdersReader, NoAnswerAtAllIsGivenUpUntilTheNextPoll) {
  cloud.intercept = [](const Request&) { return TooLarge(); };
  Read();
  EXPECT_LE(cloud.requests.size(), 10U);
  EXPECT_EQ(reader.DueInMs(linked), kPollMs);
  cloud.intercept = [](const Request&) { return Answered(400, "{}"); };
  ReadAfter(kRecentMs);
  EXPECT_EQ(cloud.requests.size(), 2U);
}

TEST_F(CloudOrdersReader, AnInterruptedReadingGoesOnWhereItWas) {
  for (int i = 1; i <= 250; ++i) cloud.orders[i] = "READY";
  cloud.intercept = [](const Request& request) -> std::optional<Reply> {
    if (FakeCloud::Value(request.path, "page") == "3") throw Interrupted();
    return std::nullopt;
  };
  EXPECT_THROW(Read(), Interrupted);
  EXPECT_EQ(CountOfOrders(), 200) << "what was read stays";
  EXPECT_EQ(reader.DueInMs(linked), 0);
  cloud.intercept = nullptr;
  ReadAfter(0);
  EXPECT_EQ(FakeCloud::Value(cloud.requests[0].path, "page"), "3");
  EXPECT_EQ(CountOfOrders(), 250);
}

// Orders of this box

TEST_F(CloudOrdersReader, AnOrderOfThisBoxComesBackAndIsMerged) {
  const std::string box_id = "0190a5c8-1111-7000-8000-000000000001";
  database->Write([&](db::Tx& tx, const db::Stamp& stamp) {
    orders::Place(tx, company::Get(tx, kCompany), {},
                  {.id = box_id,
                   .public_numbers = {"1000000001"},
                   .reference = "till-1",
                   .fingerprint = "f",
                   .actor = "key:till"},
                  stamp);
  });
  cloud.orders = {{1, "READY"}};
  cloud.more = R"("combos":[],"reference":"till-1")";
  Read();
  EXPECT_EQ(CountOfOrders(), 1);
  database->Read([&](db::Snapshot& snapshot) {
    EXPECT_EQ(orders::Load(snapshot, kCompany, box_id)->status, Status::kReady);
    return 0;
  });
}

// Following

std::string WithVersion(const std::string& record) {
  static int version = 0;
  return Concat({R"({"version":)", ++version, ",", record.substr(1)});
}

std::string EventOf(int number, const std::string& record) {
  return Concat({R"({"cursor":"7:)", number, R"(","event_type":"ORDER_UPDATED",)",
                 R"("subject":{"type":"order","id":")", IdOf(number), R"("},"data":)", record,
                 "}"});
}
std::string Event(int number, std::string_view status) {
  return EventOf(number, WithVersion(RecordOf(number, status)));
}

TEST_F(CloudOrdersReader, FollowsTheEventsAfterOneListing) {
  cloud.orders = {{1, "PENDING"}};
  linked.link.features.has_events = true;
  EXPECT_FALSE(reader.EventsRequest(linked)) << "the listing is due";
  Follow();
  EXPECT_EQ(linked.link.cursor, "7:1");
  EXPECT_TRUE(Here(1));
  EXPECT_GT(reader.DueInMs(linked), kRecentMs) << "nothing is polled";
  const auto request = reader.EventsRequest(linked);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->path, "/v1/events?after=7%3A1&per_page=100");
  EXPECT_EQ(request->wait_s, 25);
}

TEST_F(CloudOrdersReader, AnEventWithoutAVersionNamesAnOrderThatIsRead) {
  cloud.orders = {{1, "READY"}};
  Follow();
  const std::string cursor = *linked.link.cursor;
  TakeEvents(Answered(
      200, Concat({R"({"data":[)", EventOf(1, RecordOf(1, "PENDING")), R"(],"next":"7:5"})"})));
  EXPECT_EQ(linked.link.cursor, cursor) << "until the order is read";
  EXPECT_EQ(reader.DueInMs(linked), 0);
  EXPECT_FALSE(reader.EventsRequest(linked));
  cloud.orders = {{1, "DELIVERED"}};
  Read();
  EXPECT_EQ(Here(1)->status, Status::kDelivered) << "as it is now";
  ReadLink();
  EXPECT_EQ(linked.link.cursor, "7:5");
  EXPECT_TRUE(reader.EventsRequest(linked));
}

TEST_F(CloudOrdersReader, AnOrderThatTheCloudDoesNotGiveIsToldAndAskedForAgain) {
  cloud.orders = {{1, "READY"}, {2, "READY"}};
  Follow();
  cloud.intercept = [](const Request& request) -> std::optional<Reply> {
    if (!request.path.ends_with(IdOf(1))) return std::nullopt;
    return Answered(200, "{}");
  };
  cloud.orders = {{1, "DELIVERED"}, {2, "DELIVERED"}};
  TakeEvents(Answered(200, Concat({R"({"data":[)", EventOf(1, RecordOf(1, "DELIVERED")), ",",
                                   EventOf(2, RecordOf(2, "DELIVERED")), R"(],"next":"7:5"})"})));
  Read();
  ReadLink();
  EXPECT_EQ(linked.link.cursor, "7:5") << "it keeps no other waiting";
  EXPECT_EQ(Here(2)->status, Status::kDelivered);
  EXPECT_EQ(Unreadable(), std::vector<std::string>{IdOf(1)});
  EXPECT_EQ(reader.DueInMs(linked), kPollMs);
  cloud.intercept = nullptr;
  ReadAfter(kPollMs);
  EXPECT_EQ(Here(1)->status, Status::kDelivered);
  EXPECT_EQ(Unreadable(), std::vector<std::string>{});
}

TEST_F(CloudOrdersReader, ARecordThatCannotBeReadIsADifferenceUntilItCan) {
  cloud.orders = {{1, "PENDING"}};
  cloud.more = R"("combos":[],"total":1.005)";
  Read();
  EXPECT_EQ(Unreadable(), std::vector<std::string>{IdOf(1)});
  cloud.more = R"("combos":[])";
  ReadAfter(kPollMs);
  EXPECT_EQ(Unreadable(), std::vector<std::string>{});
}

TEST_F(CloudOrdersReader, TakesTheOrdersOfEventsAndTheirCursor) {
  Follow();
  TakeEvents(Answered(200, Concat({R"({"data":[)", Event(1, "PENDING"), ",", Event(1, "READY"),
                                   R"(,{"cursor":"7:4","subject":{"type":"product"},"data":)",
                                   RecordOf(9), R"(},null,{"data":7}],"next":"7:5"})"})));
  EXPECT_EQ(linked.link.cursor, "7:5");
  EXPECT_EQ(Here(1)->status, Status::kReady);
  EXPECT_FALSE(Here(9)) << "no order";
}

TEST_F(CloudOrdersReader, AnEventThatShowsWhatWasSeenBeforeIsAnEcho) {
  Follow();
  const auto event = [](int version, std::string_view status) {
    const std::string versioned =
        Concat({R"("data":{"version":)", version, R"(,"updated_at":"2026-01-01T00:00:0)", version,
                R"(.000Z",)"});
    std::string text = EventOf(1, RecordOf(1, status));
    text.replace(text.find(R"("data":{)"), 8, versioned);
    return text;
  };
  int cursor = 1;
  const auto is_echo = [&](const std::string& events) {
    return TakeEvents(
        Answered(200, Concat({R"({"data":[)", events, R"(],"next":"7:)", ++cursor, R"("})"})));
  };
  EXPECT_FALSE(is_echo(event(3, "READY")));
  EXPECT_TRUE(is_echo(event(3, "READY")));
  EXPECT_TRUE(is_echo(event(2, "PENDING")));
  EXPECT_EQ(linked.link.cursor, "7:4") << "it is stored all the same";
  EXPECT_FALSE(is_echo(Concat({event(3, "READY"), ",", event(4, "DELIVERED")})));
  EXPECT_EQ(Here(1)->status, Status::kDelivered);
  EXPECT_FALSE(is_echo(EventOf(1, RecordOf(1, "DELIVERED")))) << "no version is shown";
  EXPECT_FALSE(is_echo("")) << "the poll has waited for nothing";
}

TEST_F(CloudOrdersReader, ACursorThatHasExpiredBeginsWithAListing) {
  Follow();
  TakeEvents(Answered(410, R"({"type":"x/cursor_expired","status":410})"));
  EXPECT_FALSE(linked.link.cursor);
  EXPECT_EQ(reader.DueInMs(linked), 0);
  cloud.orders = {{3, "READY"}};
  Follow();
  EXPECT_EQ(linked.link.cursor, "7:1");
  EXPECT_TRUE(Here(3));
  EXPECT_FALSE(reader.EventsRequest(linked)) << "not at once";
  database.clock.Advance(kPollMs);
  EXPECT_TRUE(reader.EventsRequest(linked));
}

TEST_F(CloudOrdersReader, ACloudWithoutEventsAfterAllIsPolled) {
  Follow();
  TakeEvents(Answered(404, R"({"type":"x/not_found","status":404})"));
  cloud.requests.clear();
  EXPECT_EQ(reader.DueInMs(linked), 0);
  Read();
  EXPECT_EQ(reader.DueInMs(linked), kPollMs);
  EXPECT_FALSE(reader.EventsRequest(linked));
}

TEST_F(CloudOrdersReader, AListingWithoutACursorIsPolledOn) {
  linked.link.features.has_events = true;
  Read();
  EXPECT_LE(reader.DueInMs(linked), kPollMs);
  ReadAfter(kPollMs);
  EXPECT_FALSE(cloud.requests.empty());
}

TEST_F(CloudOrdersReader, ACloudThatDoesNotWaitIsAskedAtThePaceOfAPoll) {
  Follow();
  TakeEvents(Answered(200, R"({"data":[],"next":"7:1"})"));
  EXPECT_FALSE(reader.EventsRequest(linked));
  EXPECT_EQ(reader.DueInMs(linked), kPollMs);
  database.clock.Advance(kPollMs);
  EXPECT_TRUE(reader.EventsRequest(linked));
  TakeEvents(Answered(200, Concat({R"({"data":[)", Event(1, "READY"), R"(],"next":"7:1"})"})));
  EXPECT_FALSE(reader.EventsRequest(linked)) << "the same page again";
  database.clock.Advance(kPollMs);
  TakeEvents(Answered(200, R"({"data":[]})"));
  EXPECT_FALSE(reader.EventsRequest(linked)) << "no cursor";
}

TEST_F(CloudOrdersReader, AWaitThatEndsWithoutNewsIsRepeatedAtOnce) {
  Follow();
  TakeEvents(Answered(200, R"({"data":[],"next":"7:2"})", {{"Preference-Applied", "wait=25"}}));
  EXPECT_TRUE(reader.EventsRequest(linked));
}

}  // namespace
}  // namespace comanda::cloud
