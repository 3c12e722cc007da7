#include "net/network.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <future>
#include <vector>

#include <gtest/gtest.h>

#include "crypto/hash.h"
#include "support/test_authority.h"
#include "support/test_receiver.h"
#include "support/waiting.h"

#include "mbedtls/base64.h"

namespace comanda::net {
namespace {

using testing::ReceiverConnection;
using testing::TestReceiver;

constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: b\r\n\r\nok";

void AnswerAll(ReceiverConnection& connection) {
  while (!connection.Next().empty() && connection.Write(kOk)) continue;
}

// A certificate for 127.0.0.1 and localhost, and who signed it.
struct Identity {
  Identity() : Identity({"127.0.0.1"}) {}
  explicit Identity(const std::vector<std::string>& addresses) {
    const UtcMs now = SystemClock().Now();
    const crypto::Authority authority = testing::MakeTestAuthority(now);
    server = crypto::MakeServerCertificate(authority.issuing, "test", {"localhost"}, addresses,
                                           crypto::ServerFrom(now));
    authorities = std::make_shared<crypto::Authorities>(authority.root_pem);
  }
  crypto::KeyPair server;
  std::shared_ptr<const crypto::Authorities> authorities;
};

class NetNetwork : public ::testing::Test {
 protected:
  Answer Get(const std::string& url) { return network_.Send({.url = url}); }
  int64_t Metric(const std::string& line) const {
    const std::string text = registry_.Text();
    const size_t at = text.find("\n" + line + " ");
    return at == text.npos ? -1 : std::stoll(text.substr(at + line.size() + 2));
  }

  Heartbeats heartbeats_{SystemClock()};
  metrics::Registry registry_;
  Network network_{heartbeats_, registry_};
};

TEST_F(NetNetwork, GivesTheWholeAnswerAndUsesTheConnectionAgain) {
  TestReceiver server(AnswerAll);
  for (int i = 0; i < 3; ++i) {
    const Answer answer = Get(server.Url());
    EXPECT_EQ(answer.outcome, Outcome::kAnswered) << answer.error;
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "ok");
    EXPECT_EQ(answer.Header("x-a"), "b");
    EXPECT_EQ(answer.address, "127.0.0.1");
  }
  EXPECT_EQ(server.accepted(), 1);
  EXPECT_EQ(Metric("comanda_net_transfers_started_total{purpose=\"other\"}"), 3);
  EXPECT_EQ(Metric("comanda_net_calls_total{purpose=\"other\",outcome=\"answered\"}"), 3);
  EXPECT_EQ(Metric("comanda_net_transfer_seconds_count{purpose=\"other\"}"), 3);
}

TEST_F(NetNetwork, SendsALargeBodyWithoutWaitingForPermission) {
  std::promise<std::string> received;
  TestReceiver server([&](ReceiverConnection& connection) {
    received.set_value(connection.Next());
    connection.Write(kOk);
  });
  const Answer answer = network_.Send({.method = "POST",
                                       .url = server.Url(),
                                       .headers = {"X-B: c"},
                                       .body = std::string(200'000, 'x')});
  const std::string request = received.get_future().get();
  EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(request.starts_with("POST /hook HTTP/1.1\r\n"));
  EXPECT_NE(request.find("X-B: c\r\n"), request.npos);
  EXPECT_EQ(request.find("Expect"), request.npos);
  EXPECT_TRUE(request.ends_with("xxx"));
}

TEST_F(NetNetwork, GivesUpOnAServerThatHangsDripsOrNeverEndsItsInterimAnswers) {
  const std::vector<TestReceiver::Behaviour> behaviours = {
      [](ReceiverConnection& connection) { connection.Hang(); },
      [](ReceiverConnection& connection) {
        connection.Next();
        for (const char c : "HTTP/1.1 200 OK\r\nX: " + std::string(1'000, 'x')) {
          if (!connection.Write({&c, 1})) return;
          connection.Pause(20);
        }
      },
      [](ReceiverConnection& connection) {
        connection.Next();
        while (connection.IsOpen() && connection.Write("HTTP/1.1 102 Processing\r\n\r\n")) {
          connection.Pause(5);
        }
      },
  };
  // More often than there are slots: each is free again.
  for (int i = 0; i < 6; ++i) {
    TestReceiver server(behaviours[static_cast<size_t>(i) % behaviours.size()]);
    const Answer answer = network_.Send({.url = server.Url(), .timeout_ms = 300});
    ASSERT_EQ(answer.outcome, Outcome::kTimeout) << answer.error;
    EXPECT_EQ(answer.status, 0);
    EXPECT_GE(answer.duration_ms, 250);
  }
}

TEST_F(NetNetwork, KeepsTheStatusOfAnAnswerWhoseBodyNeverEnds) {
  TestReceiver server([](ReceiverConnection& connection) {
    connection.Next();
    connection.Write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun");
    connection.Hang();
  });
  const Answer answer = network_.Send({.url = server.Url(), .timeout_ms = 3'000});
  EXPECT_EQ(answer.outcome, Outcome::kTimeout);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "begun");
}

TEST_F(NetNetwork, ReadsNoMoreOfABodyThanAsked) {
  std::atomic<bool> sent_all = false;
  TestReceiver server([&](ReceiverConnection& connection) {
    connection.Next();
    const std::string piece(65'536, 'x');
    bool open = connection.Write("HTTP/1.1 200 OK\r\nContent-Length: 52428800\r\n\r\n");
    for (int i = 0; i < 800 && open; ++i) open = connection.Write(piece);
    sent_all = open;
  });
  const Answer answer = network_.Send({.url = server.Url(), .answer_bytes_max = 4'000});
  EXPECT_EQ(answer.outcome, Outcome::kAnswerTooLarge) << answer.error;
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body.size(), 4'000U);
  EXPECT_FALSE(sent_all);
}

TEST_F(NetNetwork, WaitsForABodyNoLongerThanAsked) {
  TestReceiver server([](ReceiverConnection& connection) {
    connection.Next();
    connection.Write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nx");
    connection.Hang();
  });
  const Answer answer =
      network_.Send({.url = server.Url(), .timeout_ms = 300'000, .body_timeout_ms = 100});
  EXPECT_EQ(answer.outcome, Outcome::kTimeout) << answer.error;
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "x");
  EXPECT_LT(answer.duration_ms, 200'000);
}

TEST_F(NetNetwork, FollowsNoRedirect) {
  TestReceiver target(AnswerAll);
  TestReceiver server([&](ReceiverConnection& connection) {
    connection.Next();
    connection.Write("HTTP/1.1 307 Temporary Redirect\r\nContent-Length: 0\r\nLocation: " +
                     target.Url() + "\r\n\r\n");
  });
  EXPECT_EQ(Get(server.Url()).status, 307);
  EXPECT_EQ(target.accepted(), 0);
}

TEST_F(NetNetwork, IgnoresTheProxyVariables) {
  TestReceiver proxy(AnswerAll);
  TestReceiver server(AnswerAll);
  ::setenv("http_proxy", proxy.Url().c_str(), 1);
  EXPECT_EQ(Get(server.Url()).status, 200);
  ::unsetenv("http_proxy");
  EXPECT_EQ(proxy.accepted(), 0);
}

TEST_F(NetNetwork, NamesWhatWentWrong) {
  int closed_port = 0;
  {
    TestReceiver gone(AnswerAll);
    closed_port = gone.port();
  }
  const Answer refused = Get("http://127.0.0.1:" + std::to_string(closed_port) + "/");
  EXPECT_EQ(refused.outcome, Outcome::kConnectionFailed);
  EXPECT_TRUE(refused.is_refused);
  TestReceiver rude([](ReceiverConnection& connection) { connection.Next(); });
  const Answer broken = Get(rude.Url());
  EXPECT_EQ(broken.outcome, Outcome::kConnectionFailed);
  EXPECT_FALSE(broken.is_refused);
  TestReceiver no_http([](ReceiverConnection& connection) {
    connection.Next();
    connection.Write("hello\r\n");
  });
  EXPECT_EQ(Get(no_http.Url()).outcome, Outcome::kConnectionFailed);
  EXPECT_EQ(Get("ftp://127.0.0.1/").outcome, Outcome::kInvalidCall);
  EXPECT_EQ(Get("http://").outcome, Outcome::kInvalidCall);
  // RFC 7686: such names are not asked of any server, so the test needs none.
  EXPECT_EQ(Get("http://nowhere.onion/").outcome, Outcome::kNameNotFound);
}

// TLS

TEST_F(NetNetwork, TrustsTheGivenAuthoritiesAlone) {
  const Identity identity;
  const Identity other;
  TestReceiver server(AnswerAll, identity.server);

  const Answer trusted = network_.Send(
      {.url = server.Url(), .authorities = identity.authorities, .describes_security = true});
  EXPECT_EQ(trusted.outcome, Outcome::kAnswered) << trusted.error;
  EXPECT_EQ(trusted.security.tls_version, "TLSv1.3");
  ASSERT_TRUE(trusted.security.certificate);
  EXPECT_GT(trusted.security.certificate->validity.not_after, SystemClock().Now());

  // A connection is open, but it was opened with other authorities.
  EXPECT_EQ(network_.Send({.url = server.Url(), .authorities = other.authorities}).outcome,
            Outcome::kTlsUntrusted);
  EXPECT_EQ(Get(server.Url()).outcome, Outcome::kTlsUntrusted);
  EXPECT_EQ(network_.Send({.url = server.Url(), .authorities = identity.authorities}).outcome,
            Outcome::kAnswered);
  EXPECT_EQ(server.accepted(), 3);
}

TEST_F(NetNetwork, RefusesACertificateOfAnotherNameOrPast) {
  const Identity elsewhere({"192.0.2.1"});
  TestReceiver server(AnswerAll, elsewhere.server);
  EXPECT_EQ(network_.Send({.url = server.Url(), .authorities = elsewhere.authorities}).outcome,
            Outcome::kTlsUntrusted);

  const UtcMs long_ago = SystemClock().Now() - int64_t{500} * 86'400'000;
  const crypto::Authority authority = testing::MakeTestAuthority(long_ago);
  TestReceiver expired(AnswerAll,
                       crypto::MakeServerCertificate(authority.issuing, "test", {}, {"127.0.0.1"},
                                                     crypto::ServerFrom(long_ago)));
  const auto authorities = std::make_shared<crypto::Authorities>(authority.root_pem);
  EXPECT_EQ(network_.Send({.url = expired.Url(), .authorities = authorities}).outcome,
            Outcome::kTlsUntrusted);
}

// "sha256//" and base64 of the hash of the key in the first certificate.
std::string PinOf(const std::string& certificate_pem) {
  mbedtls_x509_crt certificate;
  mbedtls_x509_crt_init(&certificate);
  mbedtls_x509_crt_parse(&certificate,
                         reinterpret_cast<const unsigned char*>(certificate_pem.c_str()),
                         certificate_pem.size() + 1);
  std::array<unsigned char, 1'000> der;
  const int size = mbedtls_pk_write_pubkey_der(&certificate.pk, der.data(), der.size());
  mbedtls_x509_crt_free(&certificate);
  const char* end = reinterpret_cast<const char*>(der.data()) + der.size();
  const crypto::Sha256Digest digest = crypto::Sha256({end - size, static_cast<size_t>(size)});
  std::array<unsigned char, 100> text{};
  size_t written = 0;
  mbedtls_base64_encode(text.data(), text.size(), &written, digest.data(), digest.size());
  return "sha256//" + std::string(reinterpret_cast<const char*>(text.data()), written);
}

TEST_F(NetNetwork, ChecksAPinInPlaceOfAuthoritiesAndName) {
  const Identity identity({"192.0.2.1"});
  TestReceiver server(AnswerAll, identity.server);

  const Answer answer = network_.Send(
      {.url = server.Url(), .public_key_pin = PinOf(identity.server.certificate_pem)});
  EXPECT_EQ(answer.outcome, Outcome::kAnswered) << answer.error;

  const Identity other({"127.0.0.1"});
  const Answer wrong = network_.Send({.url = server.Url(),
                                      .authorities = identity.authorities,
                                      .public_key_pin = PinOf(other.server.certificate_pem)});
  EXPECT_EQ(wrong.outcome, Outcome::kTlsPinMismatch) << wrong.error;
  // The pinned connection is of no use to a call without a pin.
  EXPECT_EQ(network_.Send({.url = server.Url(), .authorities = identity.authorities}).outcome,
            Outcome::kTlsUntrusted);
}

TEST_F(NetNetwork, ShowsTheCertificateOfAnUntrustedServerAndSendsItNothing) {
  const Identity identity({"192.0.2.1"});
  std::promise<std::string> received;
  TestReceiver server(
      [&](ReceiverConnection& connection) { received.set_value(connection.Next()); },
      identity.server);
  const std::string pin = PinOf(identity.server.certificate_pem);
  {
    Heartbeats heartbeats(SystemClock());
    metrics::Registry registry;
    Network network(heartbeats, registry);

    const Answer answer = network.Send({.url = server.Url(), .is_handshake_only = true});

    EXPECT_EQ(answer.outcome, Outcome::kAnswered) << answer.error;
    EXPECT_EQ(answer.status, 0);
    EXPECT_EQ(answer.address, "127.0.0.1");
    EXPECT_EQ(answer.security.tls_version, "TLSv1.3");
    ASSERT_TRUE(answer.security.certificate);
    EXPECT_EQ(answer.security.certificate->public_key_pin, pin);
    EXPECT_EQ(answer.security.certificate->addresses, std::vector<std::string>{"192.0.2.1"});
    // The unverified connection is of no use to a call that verifies.
    EXPECT_EQ(network.Send({.url = server.Url()}).outcome, Outcome::kTlsUntrusted);
  }
  EXPECT_EQ(received.get_future().get(), "");

  const Answer refused = network_.Send({.url = server.Url(),
                                        .is_handshake_only = true,
                                        .allows_address = [](std::string_view) { return false; }});
  EXPECT_EQ(refused.outcome, Outcome::kAddressRefused);
  EXPECT_FALSE(refused.security.certificate);
  TestReceiver plain([](ReceiverConnection& connection) { connection.Write(kOk); });
  const Answer none =
      network_.Send({.url = "https" + plain.Url().substr(4), .is_handshake_only = true});
  EXPECT_EQ(none.outcome, Outcome::kConnectionFailed) << none.error;
}

TEST_F(NetNetwork, GivesUpOnAHandshakeThatTakesLongerThanConnectingMay) {
  const Identity identity;
  TestReceiver server([](ReceiverConnection& connection) { connection.Hang(); });
  const Answer answer = network_.Send({.url = "https" + server.Url().substr(4),
                                       .authorities = identity.authorities,
                                       .connect_timeout_ms = 200,
                                       .timeout_ms = 60'000});
  EXPECT_EQ(answer.outcome, Outcome::kTimeout) << answer.error;
  EXPECT_LT(answer.duration_ms, 30'000);
}

// Addresses

TEST_F(NetNetwork, DialsNoAddressThatTheCallRefusesHoweverItIsSpelt) {
  TestReceiver server(AnswerAll);
  std::vector<std::string> asked;
  const AddressCheck not_loopback = [&](std::string_view address) {
    asked.emplace_back(address);
    return !address.starts_with("127.") && address != "::1";
  };
  for (const char* host : {"127.0.0.1", "2130706433", "0x7f000001", "0177.1", "localhost"}) {
    const Answer answer = network_.Send({.url = server.Url(host), .allows_address = not_loopback});
    EXPECT_EQ(answer.outcome, Outcome::kAddressRefused) << host << " " << answer.error;
    EXPECT_TRUE(answer.address == "127.0.0.1" || answer.address == "::1") << answer.address;
  }
  EXPECT_GE(asked.size(), 5U);
  EXPECT_EQ(server.accepted(), 0);
}

TEST_F(NetNetwork, RefusesAnAddressAlsoWhereAConnectionToItIsOpen) {
  std::atomic<int> requests = 0;
  TestReceiver server([&](ReceiverConnection& connection) {
    while (!connection.Next().empty()) {
      ++requests;  // before its answer, after which the test looks
      if (!connection.Write(kOk)) return;
    }
  });
  EXPECT_EQ(Get(server.Url()).outcome, Outcome::kAnswered);

  const Answer answer = network_.Send(
      {.url = server.Url(), .allows_address = [](std::string_view) { return false; }});

  EXPECT_EQ(answer.outcome, Outcome::kAddressRefused) << answer.error;
  EXPECT_EQ(requests, 1);
}

// Slots, cancelling, the end

TEST_F(NetNetwork, MakesAHundredCallsWithFourAtOnce) {
  std::atomic<int> now = 0;
  std::atomic<int> most = 0;
  TestReceiver server([&](ReceiverConnection& connection) {
    while (!connection.Next().empty()) {
      const int at_once = ++now;
      for (int seen = most; at_once > seen && !most.compare_exchange_weak(seen, at_once);) continue;
      EXPECT_TRUE(testing::Await([&] { return most >= 4; }));  // the first waits for the fourth
      --now;
      connection.Write(kOk);
    }
  });
  std::atomic<int> answered = 0;
  std::promise<void> done;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(network_.Start({.url = server.Url(), .timeout_ms = 30'000}, [&](Answer answer) {
      EXPECT_EQ(answer.outcome, Outcome::kAnswered) << answer.error;
      if (++answered == 100) done.set_value();
    }));
  }
  done.get_future().wait();
  EXPECT_EQ(most, 4);
  EXPECT_LE(server.accepted(), 4);
}

TEST_F(NetNetwork, CountsNoWaitForASlotAgainstTheTimeoutAndDelaysNoOtherPurpose) {
  constexpr int64_t kTimeoutMs = 3'000;
  TestReceiver hanging([](ReceiverConnection& connection) { connection.Hang(); });
  for (int i = 0; i < 16; ++i) {
    network_.Start({.purpose = Purpose::kWebhooks, .url = hanging.Url(), .timeout_ms = 60'000},
                   [](Answer) {});
  }
  TestReceiver slow([](ReceiverConnection& connection) {
    if (connection.Next().empty()) return;
    connection.Pause(kTimeoutMs + 500);
    connection.Write(kOk);
  });
  std::vector<std::future<Answer>> answers;
  const auto send = [&](const TestReceiver& server, int64_t timeout_ms) {
    answers.push_back(std::async(std::launch::async, [this, &server, timeout_ms] {
      return network_.Send({.url = server.Url(), .timeout_ms = timeout_ms});
    }));
  };
  for (int i = 0; i < 4; ++i) send(slow, 60'000);
  ASSERT_TRUE(testing::Await([&] { return slow.accepted() == 4; }));
  TestReceiver server(AnswerAll);
  for (int i = 0; i < 8; ++i) send(server, kTimeoutMs);  // they wait for a slot for longer
  for (auto& answer : answers) EXPECT_EQ(answer.get().outcome, Outcome::kAnswered);
}

TEST_F(NetNetwork, RefusesCallsBeyondABoundedQueue) {
  TestReceiver hanging([](ReceiverConnection& connection) { connection.Hang(); });
  size_t taken = 0;
  while (network_.Start({.url = hanging.Url()}, [](Answer) {})) ++taken;
  EXPECT_GE(taken, kWaitingMax);
  EXPECT_LE(taken, kWaitingMax + 4);
  EXPECT_EQ(network_.Send({.url = hanging.Url()}).outcome, Outcome::kNotStarted);
}

TEST_F(NetNetwork, CancelsACallUnderWayAndOneThatWaits) {
  TestReceiver hanging([](ReceiverConnection& connection) { connection.Hang(); });
  std::vector<std::future<Answer>> answers;
  std::stop_source stop;
  for (int i = 0; i < 6; ++i) {
    answers.push_back(std::async(std::launch::async, [&] {
      return network_.Send({.url = hanging.Url(), .timeout_ms = 60'000}, stop.get_token());
    }));
  }
  ASSERT_TRUE(testing::Await([&] { return hanging.accepted() == 4; }));
  stop.request_stop();
  for (auto& answer : answers) EXPECT_EQ(answer.get().outcome, Outcome::kCancelled);

  TestReceiver server(AnswerAll);
  EXPECT_EQ(Get(server.Url()).outcome, Outcome::kAnswered);  // the slots are free again
}

TEST(NetNetworkStop, EndsAllCallsAtOnce) {
  TestReceiver hanging([](ReceiverConnection& connection) { connection.Hang(); });
  Heartbeats heartbeats(SystemClock());
  metrics::Registry registry;
  int cancelled = 0;
  const int64_t begin = SystemClock().MonotonicMs();
  {
    Network network(heartbeats, registry);
    for (int i = 0; i < 20; ++i) {
      network.Start({.url = hanging.Url(), .timeout_ms = 60'000}, [&](Answer answer) {
        cancelled += answer.outcome == Outcome::kCancelled ? 1 : 0;
      });
    }
    ASSERT_TRUE(testing::Await([&] { return hanging.accepted() == 4; }));
  }
  EXPECT_EQ(cancelled, 20);
  EXPECT_LT(SystemClock().MonotonicMs() - begin, 30'000);
}

TEST_F(NetNetwork, GoesOnAfterACallbackThatThrows) {
  TestReceiver server(AnswerAll);
  network_.Start({.url = server.Url()}, [](Answer) { throw std::runtime_error("a mistake"); });
  EXPECT_EQ(Get(server.Url()).outcome, Outcome::kAnswered);
}

}  // namespace
}  // namespace comanda::net
