#include "wire/server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <mbedtls/net_sockets.h>
#include <mbedtls/ssl.h>
#include <mbedtls/x509_crt.h>
#include <netinet/in.h>
#include <poll.h>
#include <psa/crypto.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/handle.h"
#include "base/metrics.h"
#include "base/problem.h"
#include "crypto/certificate.h"
#include "support/test_authority.h"
#include "support/waiting.h"
#include "wire/listener.h"
#include "wire/problem.h"

namespace comanda::wire {
namespace {

const int kPatienceMs = static_cast<int>(testing::kPatienceMs);
constexpr size_t kBodyBytesMax = 1024;
// For so long connections of one kind do not evict each other, and a little more.
constexpr std::chrono::milliseconds kGrace{1'200};

// One end of a conversation, byte by byte.
class Client {
 public:
  explicit Client(int port) {
    fd_.Reset(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  explicit Client(const std::string& path) {
    fd_.Reset(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    connected_ = connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }

  bool connected() const { return connected_; }
  int fd() const { return fd_.get(); }

  void Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }

  // Up to and with the text, or all there is before the end or the time is over.
  std::string ReadUntil(std::string_view text, int patience_ms = kPatienceMs) {
    std::string out;
    while (!out.ends_with(text)) {
      char byte = 0;
      if (!Wait(patience_ms) || recv(fd_.get(), &byte, 1, 0) != 1) break;
      out += byte;
    }
    return out;
  }

  // Head and body of the next answer.
  std::string ReadAnswer(bool has_body = true) {
    std::string out = ReadUntil("\r\n\r\n");
    const size_t at = out.find("Content-Length: ");
    if (!has_body || at == std::string::npos) return out;
    const size_t total = out.size() + std::stoul(out.substr(at + 16));
    while (out.size() < total) {
      char byte = 0;
      if (!Wait(kPatienceMs) || recv(fd_.get(), &byte, 1, 0) != 1) break;
      out += byte;
    }
    return out;
  }

  // The server's end of the connection is closed, after whatever it still sends.
  bool IsClosed(int patience_ms = kPatienceMs) {
    for (;;) {
      char waste[4096];
      if (!Wait(patience_ms)) return false;
      if (recv(fd_.get(), waste, sizeof waste, 0) <= 0) return true;
    }
  }

 private:
  bool Wait(int patience_ms) const {
    pollfd wanted{fd_.get(), POLLIN, 0};
    return poll(&wanted, 1, patience_ms) == 1;
  }

  Fd fd_;
  bool connected_ = false;
};

bool HasStatus(const std::string& answer, int status) {
  return answer.starts_with("HTTP/1.1 " + std::to_string(status) + " ");
}

bool HasCode(const std::string& answer, const std::string& code) {
  return answer.find("Content-Type: application/problem+json\r\n") != std::string::npos &&
         answer.find("\"code\":\"" + code + "\"") != std::string::npos;
}

std::string Get(const std::string& path) {
  return "GET " + path + " HTTP/1.1\r\nHost: box\r\n\r\n";
}

std::string Post(const std::string& path, const std::string& fields, const std::string& body = "") {
  return "POST " + path + " HTTP/1.1\r\nHost: box\r\n" + fields + "\r\n" + body;
}

class WireServer : public ::testing::Test {
 protected:
  Server& Start(ServerSettings settings = {}) {
    if (settings.listen.empty() && settings.listeners.empty()) settings.listen = "127.0.0.1:0";
    settings.tls = tls_ != nullptr && !settings.local;
    settings.errors_base = "https://example.test/problems";
    if (settings.workers > 8) settings.workers = 8;
    server_ = std::make_unique<Server>(
        settings, [this](Exchange& exchange) { Answer(exchange); }, tls_.get(), SystemClock(),
        registry_);
    return *server_;
  }

  void Answer(Exchange& exchange) {
    const Request& request = exchange.request;
    Response& response = exchange.response;
    try {
      if (!request.path.starts_with("/unauthenticated")) exchange.Authenticate();
      if (request.path == "/echo") {
        response.body = exchange.ReadBody(kBodyBytesMax);
        if (response.body.empty()) response.body = "no body";
      } else if (request.path == "/wait") {
        begun_.count_down();
        go_on_.wait();
        response.body = "waited";
      } else {
        response.body = request.path + "?" + request.query + (request.local ? " local" : "");
      }
    } catch (const Refusal& refusal) {
      response = ProblemResponse(refusal, "https://example.test/problems", request.path,
                                 request.request_id);
    }
  }

  // Until so many connections are in the state, and the state of a next one begins later.
  void AwaitConnections(const std::string& state, int count) {
    const std::string shown = "state=\"" + state + "\"} " + std::to_string(count) + "\n";
    ASSERT_TRUE(testing::Await([&] { return registry_.Text().find(shown) != std::string::npos; }))
        << registry_.Text();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }

  std::latch begun_{1};
  std::latch go_on_{1};
  metrics::Registry registry_;
  std::unique_ptr<Tls> tls_;
  std::unique_ptr<Server> server_;
};

TEST_F(WireServer, AnswersPipelinedRequestsInOrder) {
  Client client(Start().port());

  client.Send(Get("/a?x=1") + Post("/echo", "Content-Length: 3\r\n", "abc") + Get("/b%2Fc"));

  EXPECT_TRUE(client.ReadAnswer().ends_with("/a?x=1"));
  EXPECT_TRUE(client.ReadAnswer().ends_with("abc"));
  EXPECT_TRUE(client.ReadAnswer().ends_with("/b%2Fc?"));
}

TEST_F(WireServer, ServesOnAllListenersThatItIsGiven) {
  const Fd one = OpenListener("127.0.0.1:0");
  const Fd other = OpenListener("[::]:0");
  ServerSettings settings;
  settings.listen = "127.0.0.1:0";
  settings.listeners = {one.get(), other.get()};
  const int own = Start(settings).port();

  for (const int fd : {one.get(), other.get()}) {
    const std::string address = ListeningAddress(fd).value();
    Client client(std::stoi(address.substr(address.rfind(':') + 1)));
    client.Send(Get("/a"));
    EXPECT_TRUE(client.ReadAnswer().ends_with("/a?")) << address;
  }
  Client client(own);
  client.Send(Get("/a"));
  EXPECT_TRUE(client.ReadAnswer().ends_with("/a?"));
}

TEST_F(WireServer, LeavesConnectionsToTheNextServerOnTheSameListener) {
  const Fd listener = OpenListener("127.0.0.1:0");
  ServerSettings settings;
  settings.listen = "";
  settings.listeners = {listener.get()};
  settings.leaves_connections_waiting = true;
  const std::string address = ListeningAddress(listener.get()).value();
  const int port = std::stoi(address.substr(address.rfind(':') + 1));
  Start(settings);
  server_->Stop(0);
  Client client(port);
  ASSERT_TRUE(client.connected());
  client.Send(Get("/a"));

  server_.reset();
  Start(settings);

  EXPECT_TRUE(client.ReadAnswer().ends_with("/a?"));
}

TEST_F(WireServer, LeavesTheBodyOutOfTheAnswerToHead) {
  Client client(Start().port());

  client.Send("HEAD /path HTTP/1.1\r\nHost: box\r\n\r\n" + Get("/next"));

  EXPECT_NE(client.ReadAnswer(false).find("Content-Length: 6\r\n"), std::string::npos);
  EXPECT_TRUE(client.ReadAnswer().ends_with("/next?"));
}

TEST_F(WireServer, AnswersFramingErrorsAsProblemsAndCloses) {
  const int port = Start().port();
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"GET / HTTP/1.1\n\n", "invalid_header"},
      {"GET /\x01 HTTP/1.1\r\n\r\n", "invalid_header"},
      {"GET /a HTTP/1.1\r\n\r\n", "invalid_header"},
      {"TRACK / HTTP/1.1\r\nHost: box\r\n\r\n", "not_implemented"},
      {"PRI * HTTP/2.0\r\n\r\n", "version_not_supported"},
      {Post("/echo", "Expect: magic\r\n"), "expectation_failed"},
      {Get("/" + std::string(9'000, 'a')), "uri_too_long"},
      {Get("/" + std::string(200'000, 'a')), "uri_too_long"},
      {Post("/", "X: " + std::string(17'000, 'a') + "\r\n"), "headers_too_large"},
      {Post("/", "X: " + std::string(200'000, 'a') + "\r\n"), "headers_too_large"},
  };
  for (const auto& [request, code] : cases) {
    Client client(port);
    client.Send(request);
    const std::string answer = client.ReadAnswer();
    EXPECT_TRUE(HasCode(answer, code)) << request.substr(0, 60) << "\n" << answer;
    EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos);
    EXPECT_NE(answer.find("API-Version: v0\r\n"), std::string::npos);
    EXPECT_TRUE(client.IsClosed()) << request.substr(0, 60);
  }
}

TEST_F(WireServer, AnswersOnlyToItsOwnHosts) {
  ServerSettings settings;
  settings.host_allowed = [](std::string_view host) { return host == "box" || host == "::1"; };
  const int port = Start(settings).port();

  Client own(port);
  own.Send("GET / HTTP/1.1\r\nHost: BOX:8443\r\n\r\nGET / HTTP/1.1\r\nHost: [::1]\r\n\r\n");
  EXPECT_TRUE(HasStatus(own.ReadAnswer(), 200));
  EXPECT_TRUE(HasStatus(own.ReadAnswer(), 200));

  Client other(port);
  other.Send("GET /x HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  EXPECT_TRUE(HasCode(other.ReadAnswer(), "misdirected_request"));

  Client absolute(port);
  absolute.Send("GET https://evil.example/x HTTP/1.1\r\nHost: box\r\n\r\n");
  EXPECT_TRUE(HasCode(absolute.ReadAnswer(), "misdirected_request"));
}

TEST_F(WireServer, ServesTheAbsoluteFormAndTheAsterisk) {
  Client client(Start().port());

  client.Send("GET http://box:1/v1/x?y HTTP/1.1\r\nHost: box\r\n\r\n");
  EXPECT_TRUE(client.ReadAnswer().ends_with("/v1/x?y"));

  client.Send("OPTIONS * HTTP/1.1\r\nHost: box\r\n\r\n");
  EXPECT_NE(client.ReadAnswer().find("Allow: GET, HEAD"), std::string::npos);
}

TEST_F(WireServer, EchoesASoundRequestIdAndReplacesOthers) {
  Client client(Start().port());

  client.Send("GET / HTTP/1.1\r\nHost: box\r\nX-Request-Id: pos-7.a_B\r\n\r\n");
  EXPECT_NE(client.ReadAnswer().find("X-Request-Id: pos-7.a_B\r\n"), std::string::npos);

  client.Send("GET / HTTP/1.1\r\nHost: box\r\nX-Request-Id: a b\r\n\r\n");
  EXPECT_EQ(client.ReadAnswer().find("X-Request-Id: a b"), std::string::npos);
}

TEST_F(WireServer, ReadsChunkedBodiesAndKeepsTheConnection) {
  Client client(Start().port());

  client.Send(Post("/echo", "Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"));
  EXPECT_TRUE(client.ReadAnswer().ends_with("abcde"));

  client.Send(Get("/next"));
  EXPECT_TRUE(client.ReadAnswer().ends_with("/next?"));
}

TEST_F(WireServer, RefusesMalformedChunks) {
  Client client(Start().port());

  client.Send(Post("/echo", "Transfer-Encoding: chunked\r\n", "3\r\nabcd\r\n0\r\n\r\n"));

  EXPECT_TRUE(HasCode(client.ReadAnswer(), "invalid_header"));
  EXPECT_TRUE(client.IsClosed());
}

TEST_F(WireServer, TakesAPostWithoutLengthAsEmpty) {
  Client client(Start().port());

  client.Send(Post("/echo", ""));

  EXPECT_TRUE(client.ReadAnswer().ends_with("no body"));
}

TEST_F(WireServer, RefusesALargeBodyToAClientThatIsStillSending) {
  Client client(Start().port());

  client.Send(Post("/echo", "Content-Length: 3000000\r\n", std::string(3'000'000, 'a')));

  EXPECT_TRUE(HasCode(client.ReadAnswer(), "payload_too_large"));
  EXPECT_TRUE(client.IsClosed());
}

TEST_F(WireServer, BoundsAChunkedBody) {
  Client client(Start().port());

  client.Send(Post("/echo", "Transfer-Encoding: chunked\r\n",
                   "1000\r\n" + std::string(0x1000, 'a') + "\r\n0\r\n\r\n"));

  EXPECT_TRUE(HasCode(client.ReadAnswer(), "payload_too_large"));
}

TEST_F(WireServer, PassesOverASmallBodyThatNobodyRead) {
  Client client(Start().port());

  client.Send(Post("/other", "Content-Length: 60000\r\n", std::string(60'000, 'a')) + Get("/next"));

  EXPECT_TRUE(client.ReadAnswer().ends_with("/other?"));
  EXPECT_TRUE(client.ReadAnswer().ends_with("/next?"));
}

TEST_F(WireServer, ClosesWhereMuchOfABodyIsUnread) {
  Client client(Start().port());

  client.Send(Post("/other", "Content-Length: 70000\r\n", std::string(70'000, 'a')));

  EXPECT_NE(client.ReadAnswer().find("Connection: close\r\n"), std::string::npos);
  EXPECT_TRUE(client.IsClosed());
}

TEST_F(WireServer, AsksForABodyOnlyWhenItIsRead) {
  const int port = Start().port();

  Client wanted(port);
  wanted.Send(Post("/echo", "Content-Length: 3\r\nExpect: 100-continue\r\n"));
  EXPECT_EQ(wanted.ReadAnswer(), "HTTP/1.1 100 Continue\r\n\r\n");
  wanted.Send("abc");
  EXPECT_TRUE(wanted.ReadAnswer().ends_with("abc"));

  Client unwanted(port);
  unwanted.Send(Post("/other", "Content-Length: 3\r\nExpect: 100-continue\r\n"));
  EXPECT_TRUE(HasStatus(unwanted.ReadAnswer(), 200));
  EXPECT_TRUE(unwanted.IsClosed());

  Client too_large(port);
  too_large.Send(Post("/echo", "Content-Length: 2000\r\nExpect: 100-continue\r\n"));
  EXPECT_TRUE(HasStatus(too_large.ReadAnswer(), 413));
}

TEST_F(WireServer, CutsSlowHeadsAndBodiesAndIdleConnections) {
  ServerSettings settings;
  settings.timeouts.head_ms = 300;
  settings.timeouts.body_ms = 300;
  settings.timeouts.idle_ms = 300;
  const int port = Start(settings).port();

  Client silent(port);
  Client head(port);
  head.Send("GET / HTTP");
  Client body(port);
  body.Send(Post("/echo", "Content-Length: 3\r\n", "a"));
  Client idle(port);
  idle.Send(Get("/"));

  EXPECT_TRUE(HasCode(head.ReadAnswer(), "request_timeout"));
  EXPECT_TRUE(head.IsClosed());
  EXPECT_TRUE(HasCode(body.ReadAnswer(), "request_timeout"));
  EXPECT_TRUE(body.IsClosed());
  EXPECT_TRUE(HasStatus(idle.ReadAnswer(), 200));
  EXPECT_EQ(idle.ReadUntil("never"), "");
  EXPECT_EQ(silent.ReadUntil("never"), "");
}

TEST_F(WireServer, CutsABodyThatDrips) {
  ServerSettings settings;
  settings.timeouts.body_ms = 500;
  Client client(Start(settings).port());

  client.Send(Post("/echo", "Content-Length: 1000\r\n"));
  std::string answer;
  EXPECT_TRUE(testing::Await([&] {
    client.Send("a");
    answer = client.ReadUntil("\r\n", 50);
    return !answer.empty();
  }));

  EXPECT_TRUE(HasStatus(answer, 408));
}

TEST_F(WireServer, ClosesTheLongestIdleConnectionForANewOne) {
  ServerSettings settings;
  settings.workers = 2;
  const int port = Start(settings).port();
  Client older(port);
  older.Send(Get("/"));
  older.ReadAnswer();
  AwaitConnections("idle", 1);
  Client newer(port);
  newer.Send(Get("/"));
  newer.ReadAnswer();
  AwaitConnections("idle", 2);

  Client third(port);
  third.Send(Get("/third"));

  EXPECT_TRUE(third.ReadAnswer().ends_with("/third?"));
  EXPECT_TRUE(older.IsClosed());
  newer.Send(Get("/newer"));
  EXPECT_TRUE(newer.ReadAnswer().ends_with("/newer?"));
}

TEST_F(WireServer, RefusesAConnectionWhereAllWorkersAnswer) {
  ServerSettings settings;
  settings.workers = 1;
  const int port = Start(settings).port();
  Client busy(port);
  busy.Send(Get("/wait"));
  begun_.wait();

  Client refused(port);
  EXPECT_TRUE(refused.IsClosed());

  go_on_.count_down();
  EXPECT_TRUE(busy.ReadAnswer().ends_with("waited"));
}

TEST_F(WireServer, PushesOutAConnectionThatNeverSendsItsRequest) {
  ServerSettings settings;
  settings.workers = 1;
  const int port = Start(settings).port();
  Client silent(port);
  AwaitConnections("head", 1);
  std::this_thread::sleep_for(kGrace);

  Client good(port);
  good.Send(Get("/good"));

  EXPECT_TRUE(good.ReadAnswer().ends_with("/good?"));
  EXPECT_TRUE(silent.IsClosed());
}

TEST_F(WireServer, LetsUnauthenticatedConnectionsHaveHalfOfTheWorkersAndEvictsTheOldest) {
  ServerSettings settings;
  settings.workers = 8;
  const int port = Start(settings).port();
  std::vector<Client> unauthenticated;
  for (int i = 0; i < 4; ++i) {
    unauthenticated.emplace_back(port);
    unauthenticated.back().Send(Get("/unauthenticated"));
    unauthenticated.back().ReadAnswer();
    AwaitConnections("idle", i + 1);
  }
  std::this_thread::sleep_for(kGrace);

  Client fifth(port);
  fifth.Send(Get("/unauthenticated"));

  EXPECT_TRUE(HasStatus(fifth.ReadAnswer(), 200));
  EXPECT_TRUE(unauthenticated[0].IsClosed());
  unauthenticated[1].Send(Get("/unauthenticated"));
  EXPECT_TRUE(HasStatus(unauthenticated[1].ReadAnswer(), 200));
}

TEST_F(WireServer, FinishesWhatIsUnderWayWhenItStops) {
  Server& server = Start();
  Client busy(server.port());
  busy.Send(Get("/wait"));
  begun_.wait();
  Client open(server.port());
  open.Send(Get("/"));
  open.ReadAnswer();

  std::thread stopper([&] { server.Stop(kPatienceMs); });
  Client late(server.port());
  while (late.connected() && !late.IsClosed(50)) late = Client(server.port());
  open.Send(Get("/more"));
  const std::string refused = open.ReadAnswer();
  EXPECT_TRUE(HasCode(refused, "service_unavailable")) << refused;
  EXPECT_NE(refused.find("Retry-After: 5\r\n"), std::string::npos);
  EXPECT_TRUE(open.IsClosed());
  go_on_.count_down();

  EXPECT_TRUE(busy.ReadAnswer().ends_with("waited"));
  stopper.join();
  EXPECT_TRUE(busy.IsClosed());
}

TEST_F(WireServer, StopsAtOnceWithIdleConnections) {
  Server& server = Start();
  Client idle(server.port());
  idle.Send(Get("/"));
  idle.ReadAnswer();

  const auto begun = std::chrono::steady_clock::now();
  server.Stop(kPatienceMs);

  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(kPatienceMs / 2));
  EXPECT_TRUE(idle.IsClosed());
}

TEST_F(WireServer, SaysWhichAddressIsTaken) {
  const std::string address = "127.0.0.1:" + std::to_string(Start().port());
  ServerSettings settings;
  settings.listen = address;
  settings.tls = false;
  metrics::Registry registry;

  try {
    Server second(
        settings, [](Exchange&) {}, nullptr, SystemClock(), registry);
    FAIL() << "two servers on one address";
  } catch (const Fault& fault) {
    EXPECT_NE(fault.cause.find(address), std::string::npos) << fault.cause;
    EXPECT_NE(fault.cause.find("Address already in use"), std::string::npos) << fault.cause;
  }
}

TEST_F(WireServer, ListensOnIpv6) {
  ServerSettings settings;
  settings.listen = "[::1]:0";
  EXPECT_GT(Start(settings).port(), 0);
}

TEST_F(WireServer, ListensOnAllAddressesOfBothFamilies) {
  ServerSettings settings;
  settings.listen = "[::]:0";
  Client client(Start(settings).port());
  client.Send(Get("/v4"));
  EXPECT_TRUE(client.ReadAnswer().ends_with("/v4?"));
}

TEST_F(WireServer, ServesItsOwnerAloneOnAUnixSocket) {
  const std::string path = ::testing::TempDir() + "comanda_control_" + std::to_string(getpid());
  ServerSettings settings;
  settings.listen = path;
  settings.local = true;
  for (int round = 0; round < 2; ++round) {  // the second finds no file in its way
    Start(settings);
    struct stat found {};
    ASSERT_EQ(stat(path.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600u);
    Client client(path);
    client.Send(Get("/x"));
    EXPECT_TRUE(client.ReadAnswer().ends_with("/x? local"));
    server_.reset();
    EXPECT_NE(stat(path.c_str(), &found), 0);
  }
}

// -- TLS
// ---------------------------------------------------------------------------------------------

crypto::KeyPair Certificate(const std::string& name) {
  const UtcMs now = SystemClock().Now();
  const crypto::Authority authority = testing::MakeTestAuthority(now);
  return crypto::MakeServerCertificate(authority.issuing, name, {name}, {"127.0.0.1"},
                                       crypto::ServerFrom(now));
}

int Random(void*, unsigned char* out, size_t size) {
  return psa_generate_random(out, size) == PSA_SUCCESS ? 0 : -1;
}

int Push(void* context, const unsigned char* bytes, size_t size) {
  return static_cast<int>(send(*static_cast<int*>(context), bytes, size, MSG_NOSIGNAL));
}

int Pull(void* context, unsigned char* bytes, size_t size) {
  return static_cast<int>(recv(*static_cast<int*>(context), bytes, size, 0));
}

// A client that speaks one version of TLS and believes every certificate.
class TlsClient {
 public:
  TlsClient(int port, mbedtls_ssl_protocol_version version, const int* suites = nullptr)
      : client_(port), fd_(client_.fd()) {
    mbedtls_ssl_init(&ssl_);
    mbedtls_ssl_config_init(&config_);
    mbedtls_ssl_config_defaults(&config_, MBEDTLS_SSL_IS_CLIENT, MBEDTLS_SSL_TRANSPORT_STREAM,
                                MBEDTLS_SSL_PRESET_DEFAULT);
    mbedtls_ssl_conf_rng(&config_, Random, nullptr);
    mbedtls_ssl_conf_authmode(&config_, MBEDTLS_SSL_VERIFY_NONE);
    mbedtls_ssl_conf_min_tls_version(&config_, version);
    mbedtls_ssl_conf_max_tls_version(&config_, version);
    mbedtls_ssl_conf_alpn_protocols(&config_, protocols_);
    if (suites != nullptr) mbedtls_ssl_conf_ciphersuites(&config_, suites);
    mbedtls_ssl_setup(&ssl_, &config_);
    mbedtls_ssl_set_hostname(&ssl_, nullptr);
    mbedtls_ssl_set_bio(&ssl_, &fd_, Push, Pull, nullptr);
    shaken_ = mbedtls_ssl_handshake(&ssl_) == 0;
  }
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;
  ~TlsClient() {
    mbedtls_ssl_free(&ssl_);
    mbedtls_ssl_config_free(&config_);
  }

  bool shaken() const { return shaken_; }
  std::string protocol() const {
    const char* name = mbedtls_ssl_get_alpn_protocol(&ssl_);
    return name == nullptr ? "" : name;
  }
  std::string suite() const { return mbedtls_ssl_get_ciphersuite(&ssl_); }
  std::string subject() const {
    char text[256] = "";
    mbedtls_x509_dn_gets(text, sizeof text, &mbedtls_ssl_get_peer_cert(&ssl_)->subject);
    return text;
  }
  std::string Ask(const std::string& request) {
    mbedtls_ssl_write(&ssl_, reinterpret_cast<const unsigned char*>(request.data()),
                      request.size());
    unsigned char buffer[4096];
    int got = 0;
    do {
      got = mbedtls_ssl_read(&ssl_, buffer, sizeof buffer);
    } while (got == MBEDTLS_ERR_SSL_RECEIVED_NEW_SESSION_TICKET);
    return got > 0 ? std::string(reinterpret_cast<char*>(buffer), static_cast<size_t>(got)) : "";
  }

 private:
  const char* protocols_[3] = {"h2", "http/1.1", nullptr};
  Client client_;
  int fd_;
  mbedtls_ssl_context ssl_;
  mbedtls_ssl_config config_;
  bool shaken_ = false;
};

class WireServerTls : public WireServer {
 protected:
  WireServerTls() { tls_ = std::make_unique<Tls>(Certificate("first.test")); }
};

TEST_F(WireServerTls, SpeaksBothVersionsAndHttp11Alone) {
  const int port = Start().port();
  for (const auto version : {MBEDTLS_SSL_VERSION_TLS1_2, MBEDTLS_SSL_VERSION_TLS1_3}) {
    TlsClient client(port, version);
    ASSERT_TRUE(client.shaken());
    EXPECT_EQ(client.protocol(), "http/1.1");
    EXPECT_TRUE(client.Ask(Get("/over/tls")).ends_with("/over/tls?"));
  }
}

TEST_F(WireServerTls, RefusesOldSuites) {
  const int cbc[] = {MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256,
                     MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, 0};
  const int gcm[] = {MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, 0};
  const int port = Start().port();

  EXPECT_FALSE(TlsClient(port, MBEDTLS_SSL_VERSION_TLS1_2, cbc).shaken());
  EXPECT_TRUE(TlsClient(port, MBEDTLS_SSL_VERSION_TLS1_2, gcm).shaken());
}

class WireServerCipher : public WireServerTls, public ::testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(AesInstructions, WireServerCipher, ::testing::Bool());

TEST_P(WireServerCipher, IsTheOneItsProcessorIsFastestWithWhateverTheClientLikesBest) {
  const int aes_first[] = {MBEDTLS_TLS1_3_AES_256_GCM_SHA384,
                           MBEDTLS_TLS1_3_CHACHA20_POLY1305_SHA256,
                           MBEDTLS_TLS1_3_AES_128_GCM_SHA256,
                           MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
                           MBEDTLS_TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
                           MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
                           0};
  const int chacha_first[] = {MBEDTLS_TLS1_3_CHACHA20_POLY1305_SHA256,
                              MBEDTLS_TLS1_3_AES_256_GCM_SHA384,
                              MBEDTLS_TLS1_3_AES_128_GCM_SHA256,
                              MBEDTLS_TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
                              MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
                              MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
                              0};
  tls_ = std::make_unique<Tls>(Certificate("first.test"), GetParam());
  const int port = Start().port();

  for (const int* suites : {aes_first, chacha_first}) {
    EXPECT_EQ(TlsClient(port, MBEDTLS_SSL_VERSION_TLS1_3, suites).suite(),
              GetParam() ? "TLS1-3-AES-128-GCM-SHA256" : "TLS1-3-CHACHA20-POLY1305-SHA256");
    EXPECT_EQ(TlsClient(port, MBEDTLS_SSL_VERSION_TLS1_2, suites).suite(),
              GetParam() ? "TLS-ECDHE-ECDSA-WITH-AES-128-GCM-SHA256"
                         : "TLS-ECDHE-ECDSA-WITH-CHACHA20-POLY1305-SHA256");
  }
}

TEST_F(WireServerTls, TakesTheOnlyCipherThatAClientHas) {
  const int aes_alone[] = {MBEDTLS_TLS1_3_AES_256_GCM_SHA384, 0};
  const int chacha_alone[] = {MBEDTLS_TLS1_3_CHACHA20_POLY1305_SHA256, 0};
  const int port = Start().port();

  EXPECT_TRUE(TlsClient(port, MBEDTLS_SSL_VERSION_TLS1_3, aes_alone).shaken());
  EXPECT_TRUE(TlsClient(port, MBEDTLS_SSL_VERSION_TLS1_3, chacha_alone).shaken());
}

TEST_F(WireServerTls, ShowsANewCertificateToNewConnectionsAndKeepsTheOldOnes) {
  const int port = Start().port();
  TlsClient before(port, MBEDTLS_SSL_VERSION_TLS1_3);

  tls_->Replace(Certificate("second.test"));
  TlsClient after(port, MBEDTLS_SSL_VERSION_TLS1_3);

  EXPECT_NE(before.subject().find("first.test"), std::string::npos);
  EXPECT_NE(after.subject().find("second.test"), std::string::npos);
  EXPECT_TRUE(before.Ask(Get("/old")).ends_with("/old?"));
  EXPECT_TRUE(after.Ask(Get("/new")).ends_with("/new?"));
}

TEST_F(WireServerTls, KeepsTheOldCertificateWhereTheNewPairIsNone) {
  const int port = Start().port();
  const crypto::KeyPair one = Certificate("one.test");
  const crypto::KeyPair other = Certificate("other.test");

  EXPECT_THROW(tls_->Replace({one.certificate_pem, other.key_pem}), Refusal);
  EXPECT_THROW(tls_->Replace({"no certificate", one.key_pem}), Refusal);
  EXPECT_THROW(tls_->Replace({one.certificate_pem, ""}), Refusal);

  TlsClient client(port, MBEDTLS_SSL_VERSION_TLS1_3);
  EXPECT_NE(client.subject().find("first.test"), std::string::npos);
}

TEST_F(WireServerTls, CutsAClientThatDoesNotShakeHands) {
  ServerSettings settings;
  settings.timeouts.handshake_ms = 300;
  const int port = Start(settings).port();

  Client silent(port);
  Client slow(port);
  slow.Send("\x16\x03\x01");

  EXPECT_TRUE(silent.IsClosed());
  EXPECT_TRUE(slow.IsClosed());
  EXPECT_NE(registry_.Text().find(
                "comanda_http_handshakes_failed_total{listener=\"https\",reason=\"timeout\"} 2"),
            std::string::npos);
}

TEST_F(WireServerTls, WaitsForSilentClientsWithoutWork) {
  ServerSettings settings;
  const int port = Start(settings).port();
  Client first(port);
  Client second(port);
  const auto cpu_ms = [] {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return used.tv_sec * 1000 + used.tv_nsec / 1'000'000;
  };

  const auto before = cpu_ms();
  std::this_thread::sleep_for(std::chrono::milliseconds(1'000));

  EXPECT_LT(cpu_ms() - before, 500);  // a loop takes all of the second
}

}  // namespace
}  // namespace comanda::wire
