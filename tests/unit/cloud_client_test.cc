#include "cloud/link/client.h"

#include <gtest/gtest.h>

#include <mutex>

#include "base/concat.h"
#include "base/gzip.h"
#include "support/fake_clock.h"
#include "support/test_authority.h"
#include "support/test_receiver.h"
#include "wire/response_writer.h"

namespace comanda::cloud {
namespace {

using testing::FakeClock;
using testing::ReceiverConnection;
using testing::TestReceiver;

class CloudClient : public ::testing::Test {
 protected:
  // What the client makes of one answer: status line and headers, and a body with its length.
  Reply Ask(const std::string& head, const std::string& body, Request request = {}) {
    TestReceiver server([&](ReceiverConnection& connection) {
      std::string asked = connection.Next();
      {
        const std::lock_guard lock(mutex_);
        asked_ = std::move(asked);
      }
      connection.Write(
          Concat({"HTTP/1.1 ", head, "\r\nContent-Length: ", body.size(), "\r\n\r\n", body}));
    });
    return AskAt(server.Url(), std::move(request));
  }
  Reply AskAt(const std::string& url, Request request = {}) {
    std::string base = url.substr(0, url.rfind('/'));  // without /hook
    client_ = std::make_unique<Client>(Target{.url = std::move(base), .key = "secret"}, network_,
                                       clock_, 70);
    request.path = "/v1/company";
    return client_->Send(request, {});
  }
  bool Asked(std::string_view words) {
    const std::lock_guard lock(mutex_);
    return asked_.find(words) != asked_.npos;
  }

  FakeClock clock_;
  Heartbeats heartbeats_{SystemClock()};
  metrics::Registry registry_;
  net::Network network_{heartbeats_, registry_};
  std::unique_ptr<Client> client_;
  std::mutex mutex_;
  std::string asked_;
};

constexpr std::string_view kProblem = R"({"type":"x/not_found","status":404,"detail":"no"})";

TEST_F(CloudClient, SendsWhatTheContractAsksFor) {
  const Reply reply = Ask("200 OK", R"({"data":{}})",
                          {.method = "POST",
                           .body = R"({"a":1})",
                           .idempotency_key = "k-1",
                           .occurred_at = FormatInstant(1'763'000'000'123),
                           .etag = "W/\"7\"",
                           .wait_s = 25});
  EXPECT_EQ(reply.verdict, Verdict::kOk);
  EXPECT_EQ(reply.trouble, "");
  for (const std::string_view words :
       {"POST /v1/company HTTP/1.1\r\n", "Authorization: Bearer secret\r\n",
        "Accept-Encoding: gzip\r\n", "Content-Type: application/json\r\n",
        "Idempotency-Key: k-1\r\n", "Comanda-Occurred-At: 2025-11-13T02:13:20.123Z\r\n",
        "If-None-Match: W/\"7\"\r\n", "Prefer: wait=25\r\n", "\r\n\r\n{\"a\":1}"}) {
    EXPECT_TRUE(Asked(words)) << words;
  }
  EXPECT_EQ(client_->requests(), 1);
  EXPECT_EQ(client_->bytes(), 7 + 11);
}

TEST_F(CloudClient, JudgesEveryStatus) {
  struct Row {
    std::string head;
    std::string body;
    Verdict verdict;
    Reachability reachability;
  };
  const std::string problem(kProblem);
  const std::string html = "<html>";
  using enum Reachability;
  for (const Row& row : std::vector<Row>{
           {"200 OK", R"({"data":[]})", Verdict::kOk, kReached},
           {"201 Created", R"({"data":{"id":"1"}})", Verdict::kOk, kReached},
           {"204 No Content", "", Verdict::kOk, kReached},
           {"304 Not Modified", "", Verdict::kNotModified, kReached},
           {"200 OK", R"({"date":[]})", Verdict::kLater, kUnusable},
           {"200 OK", "[]", Verdict::kLater, kUnusable},
           {"200 OK", html, Verdict::kLater, kUnusable},
           {"200 OK", "", Verdict::kLater, kUnusable},
           {"302 Found\r\nLocation: https://portal.example/", "", Verdict::kLater, kUnusable},
           {"400 Bad Request", problem, Verdict::kRefused, kReached},
           {"404 Not Found", problem, Verdict::kRefused, kReached},
           {"404 Not Found", html, Verdict::kLater, kUnusable},
           {"422 Unprocessable", problem, Verdict::kRefused, kReached},
           {"401 Unauthorized", problem, Verdict::kKeyRefused, kReached},
           {"401 Unauthorized", html, Verdict::kLater, kUnusable},
           {"403 Forbidden", problem, Verdict::kScopeMissing, kReached},
           {"408 Request Timeout", problem, Verdict::kLater, kReached},
           {"429 Too Many Requests", problem, Verdict::kLater, kReached},
           {"500 Internal Server Error", problem, Verdict::kLater, kReached},
           {"502 Bad Gateway", html, Verdict::kLater, kUnusable},
           {"503 Service Unavailable", problem, Verdict::kLater, kReached},
       }) {
    const Reply reply = Ask(row.head, row.body);
    EXPECT_EQ(reply.verdict, row.verdict) << row.head << row.body;
    EXPECT_EQ(reply.reachability, row.reachability) << row.head << row.body;
    const bool is_fine = row.verdict == Verdict::kOk || row.verdict == Verdict::kNotModified;
    EXPECT_EQ(reply.trouble.empty(), is_fine) << row.head << reply.trouble;
    EXPECT_EQ(reply.trouble.find("secret"), std::string::npos);
  }
}

TEST_F(CloudClient, DecompressesUpToABound) {
  const std::string body = R"({"data":")" + std::string(100'000, 'x') + "\"}";
  Reply reply = Ask("200 OK\r\nContent-Encoding: gzip", Gzip(body));
  EXPECT_EQ(reply.verdict, Verdict::kOk);
  EXPECT_EQ(reply.answer.Text("data").size(), 100'000U);
  EXPECT_LT(reply.body_bytes, 2'000);

  const std::string bomb = Gzip(std::string(kAnswerBytesMax + 1, ' '));
  EXPECT_LT(bomb.size(), 100'000U);
  for (const std::string& unusable : {bomb, std::string("no gzip at all, but long enough")}) {
    reply = Ask("200 OK\r\nContent-Encoding: gzip", unusable);
    EXPECT_EQ(reply.verdict, Verdict::kLater);
    EXPECT_EQ(reply.reachability, Reachability::kUnusable);
  }
  reply = Ask("200 OK\r\nContent-Encoding: br", R"({"data":1})");
  EXPECT_EQ(reply.reachability, Reachability::kUnusable);
}

TEST_F(CloudClient, AnAnswerThatIsTooLargeOrCutIsNone) {
  Reply reply = Ask("200 OK", R"({"data":")" + std::string(kAnswerBytesMax, 'x') + "\"}");
  EXPECT_EQ(reply.verdict, Verdict::kLater);
  EXPECT_EQ(reply.reachability, Reachability::kUnusable);

  TestReceiver cutting([](ReceiverConnection& connection) {
    connection.Next();
    connection.Write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"data\":1}");
  });
  reply = AskAt(cutting.Url());
  EXPECT_EQ(reply.verdict, Verdict::kLater);
  EXPECT_EQ(reply.reachability, Reachability::kUnreachable);
}

TEST_F(CloudClient, AnAnswerThatTakesTooLongIsNone) {
  TestReceiver server([](ReceiverConnection& connection) {
    connection.Next();
    connection.Next();  // until the client goes
  });
  const Reply reply = AskAt(server.Url(), {.answer_ms = 50});
  EXPECT_EQ(reply.verdict, Verdict::kLater);
  EXPECT_EQ(reply.reachability, Reachability::kUnreachable);
}

TEST_F(CloudClient, NobodyThereIsUnreachableAndAnUnknownAuthorityACertificate) {
  EXPECT_EQ(AskAt("http://127.0.0.1:1/hook").reachability, Reachability::kRefused);
  EXPECT_EQ(AskAt("https://name.invalid/hook").reachability, Reachability::kUnreachable);
  const UtcMs now = SystemClock().Now();
  const crypto::KeyPair identity =
      crypto::MakeServerCertificate(testing::MakeTestAuthority(now).issuing, "test", {"localhost"},
                                    {"127.0.0.1"}, crypto::ServerFrom(now));
  TestReceiver server([](ReceiverConnection& connection) { connection.Next(); }, identity);
  const Reply reply = AskAt(server.Url());
  EXPECT_EQ(reply.verdict, Verdict::kLater);
  EXPECT_EQ(reply.reachability, Reachability::kCertificate);
  EXPECT_NE(reply.trouble, "");
}

TEST_F(CloudClient, AClockThatIsFiveMinutesOffIsTold) {
  const auto at = [&](int64_t skew_ms) {
    return "200 OK\r\nDate: " + wire::HttpDate(clock_.Now() - skew_ms);
  };
  Reply reply = Ask(at(200'000), R"({"data":1})");
  EXPECT_EQ(reply.verdict, Verdict::kOk);
  EXPECT_NEAR(static_cast<double>(client_->clock_skew_ms().value()), 200'000, 1'000);
  for (const int64_t skew_ms : {400'000, -400'000}) {
    reply = Ask(at(skew_ms), R"({"data":1})");
    EXPECT_EQ(reply.verdict, Verdict::kLater);
    EXPECT_EQ(reply.reachability, Reachability::kClock);
    EXPECT_NE(reply.trouble.find(skew_ms > 0 ? "ahead" : "behind"), std::string::npos);
  }
}

}  // namespace
}  // namespace comanda::cloud
