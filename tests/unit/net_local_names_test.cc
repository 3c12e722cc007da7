#include "net/local_names.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/time/clock.h"
#include "net/network.h"
#include "net/resolve.h"
#include "support/test_authority.h"
#include "support/test_receiver.h"
#include "support/waiting.h"

namespace comanda::net {
namespace {

using testing::ReceiverConnection;
using testing::TestReceiver;

constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

void AnswerAll(ReceiverConnection& connection) {
  while (!connection.Next().empty() && connection.Write(kOk)) continue;
}

// What avahi-daemon answers, on a socket of its own, and a hosts file beside it.
class Imitation {
 public:
  // Takes the bytes of a question and returns the bytes to answer with. After the answer the
  // connection is closed if `closes`, else when the imitation ends.
  using Answer = std::function<std::string(const std::string& question)>;

  explicit Imitation(Answer answer, bool closes = false)
      : answer_(std::move(answer)), closes_(closes) {
    std::string pattern = ::testing::TempDir() + "comanda_avahi_XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, names().avahi_socket.c_str(), sizeof(address.sun_path) - 1);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    ::listen(listener_, 64);
    std::ofstream(names().hosts_file) << "127.0.0.1 localhost\n192.0.2.7 LISTED.local listed\n";
    thread_ = std::jthread([this](const std::stop_token& stop) { Serve(stop); });
  }
  ~Imitation() {
    thread_.request_stop();
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
    std::filesystem::remove_all(directory_);
  }

  LocalNames names() const {
    return {.avahi_socket = directory_ + "/socket", .hosts_file = directory_ + "/hosts"};
  }
  std::vector<std::string> questions() const {
    const std::lock_guard lock(mutex_);
    return questions_;
  }

 private:
  void Serve(const std::stop_token& stop) {
    std::vector<int> open;
    while (!stop.stop_requested()) {
      const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) break;
      std::array<char, 512> bytes{};
      const ssize_t count = ::recv(socket, bytes.data(), bytes.size(), 0);
      const std::string question(bytes.data(), static_cast<size_t>(std::max<ssize_t>(count, 0)));
      {
        const std::lock_guard lock(mutex_);
        questions_.push_back(question);
      }
      const std::string answer = answer_(question);
      // In two pieces, as a stream may be.
      const size_t half = answer.size() / 2;
      ::send(socket, answer.data(), half, MSG_NOSIGNAL);
      ::send(socket, answer.data() + half, answer.size() - half, MSG_NOSIGNAL);
      if (closes_) {
        ::close(socket);
      } else {
        open.push_back(socket);
      }
    }
    for (const int socket : open) ::close(socket);
  }

  const Answer answer_;
  const bool closes_;
  std::string directory_;
  int listener_ = -1;
  mutable std::mutex mutex_;
  std::vector<std::string> questions_;  // guarded by mutex_
  std::jthread thread_;
};

Imitation::Answer Says(std::string text) {
  return [text = std::move(text)](const std::string&) { return text; };
}

// A process's outgoing calls, with that in place of avahi.
struct Calls {
  explicit Calls(LocalNames names) : network(heartbeats, registry, std::move(names)) {}
  Heartbeats heartbeats{SystemClock()};
  metrics::Registry registry;
  Network network;
};

TEST(NetLocalNames, KnowsWhichNamesAvahiAnswersFor) {
  for (const char* name : {"till.local", "TILL.Local", "till.local.", "a_b-2.local"}) {
    EXPECT_TRUE(IsMulticastName(name)) << name;
  }
  for (const char* name : {"", "local", ".local", "till", "till.local.example", "till.locals",
                           "till.shop.local", "192.168.1.20", "till\n.local", "ti ll.local"}) {
    EXPECT_FALSE(IsMulticastName(name)) << name;
  }
}

TEST(NetLocalNames, ReadsTheHostsFile) {
  const Imitation avahi(Says(""));
  const std::string file = avahi.names().hosts_file;
  EXPECT_TRUE(IsInHosts("listed.local", file));
  EXPECT_TRUE(IsInHosts("Listed.LOCAL.", file));
  EXPECT_FALSE(IsInHosts("till.local", file));
  EXPECT_FALSE(IsInHosts("listed.local", file + ".missing"));
}

TEST(NetLocalNames, CallsTheAddressThatAvahiGives) {
  const Imitation avahi(Says("+ 2 0 till.local 127.0.0.1\n"));
  Calls calls(avahi.names());
  std::string host;
  TestReceiver server([&](ReceiverConnection& connection) {
    host = connection.Next();
    connection.Write(kOk);
  });

  const Answer answer = calls.network.Send({.url = server.Url("Till.local")});

  EXPECT_EQ(answer.outcome, Outcome::kAnswered) << answer.error;
  EXPECT_EQ(answer.address, "127.0.0.1");
  EXPECT_NE(host.find("Host: Till.local:"), host.npos) << host;
  EXPECT_EQ(avahi.questions(), std::vector<std::string>{"RESOLVE-HOSTNAME-IPV4 till.local\n"});
}

TEST(NetLocalNames, AnotherAddressIsDialledAsSoonAsAvahiGivesIt) {
  std::atomic<bool> moved = false;
  const Imitation avahi([&](const std::string&) {
    return std::string(moved ? "+ 2 0 till.local 127.0.0.2\n" : "+ 2 0 till.local 127.0.0.1\n");
  });
  Calls calls(avahi.names());
  TestReceiver server(AnswerAll);
  std::vector<std::string> dialled;
  const auto call = [&] {
    return calls.network.Send(
        {.url = server.Url("till.local"), .allows_address = [&](std::string_view address) {
           dialled.emplace_back(address);
           return true;
         }});
  };
  EXPECT_EQ(call().address, "127.0.0.1");
  dialled.clear();
  moved = true;
  // The receiver listens on 127.0.0.1 alone, to which a connection is open.
  EXPECT_EQ(call().outcome, Outcome::kConnectionFailed);
  EXPECT_EQ(dialled, std::vector<std::string>{"127.0.0.2"});
}

TEST(NetLocalNames, ChecksTheAddressThatAvahiGives) {
  const Imitation avahi(Says("+ 2 0 till.local 127.0.0.1\n"));
  Calls calls(avahi.names());
  TestReceiver server(AnswerAll);
  const Answer answer = calls.network.Send(
      {.url = server.Url("till.local"),
       .allows_address = [](std::string_view address) { return address != "127.0.0.1"; }});
  EXPECT_EQ(answer.outcome, Outcome::kAddressRefused) << answer.error;
  EXPECT_EQ(server.accepted(), 0);
}

TEST(NetLocalNames, TheCertificateIsOfTheName) {
  const UtcMs now = SystemClock().Now();
  const crypto::Authority authority = testing::MakeTestAuthority(now);
  const auto call = [&](const std::string& name) {
    const Imitation avahi(Says("+ 2 0 till.local 127.0.0.1\n"));
    Calls calls(avahi.names());
    TestReceiver server(AnswerAll, crypto::MakeServerCertificate(authority.issuing, "test", {name},
                                                                 {}, crypto::ServerFrom(now)));
    return calls.network
        .Send({.url = server.Url("till.local"),
               .authorities = std::make_shared<crypto::Authorities>(authority.root_pem)})
        .outcome;
  };
  EXPECT_EQ(call("till.local"), Outcome::kAnswered);
  EXPECT_EQ(call("other.local"), Outcome::kTlsUntrusted);
}

TEST(NetLocalNames, WhatIsNoAddressIsNameNotFoundWithWhatToDo) {
  struct Case {
    std::string answer;
    bool closes;
    const char* says;
  };
  const std::vector<Case> cases = {
      {"-15 Timeout reached\n", false, "(avahi-daemon: Timeout reached)"},
      {"-15 \x1b[2J\n", false, "(avahi-daemon: \\u001b[2J)"},
      {"", true, "closed the connection"},
      {"+ 2 0 till.local 127.0.0.1", true, "closed the connection"},
      {"\n", false, "is not understood"},
      {"+\n", false, "is not understood"},
      {"-\n", false, "is not understood"},
      {"+ 2 0 till.local\n", false, "is not understood"},
      {"+ 2 0 till.local 127.0.0.1:80\n", false, "is not understood"},
      {"+ 2 1 till.local fe80::1\n", false, "is not understood"},
      {"+ 2 0 till.local 127.0.0.1 more\n", false, "is not understood"},
      {"HTTP/1.1 400 Bad Request\r\n\r\n", true, "is not understood"},
      {std::string(3, '\0') + "\n", false, "is not understood"},
      {std::string(100'000, 'x'), true, "has no end"},
  };
  TestReceiver server(AnswerAll);
  for (const Case& one : cases) {
    const Imitation avahi(Says(one.answer), one.closes);
    Calls calls(avahi.names());
    const Answer answer = calls.network.Send({.url = server.Url("till.local")});
    EXPECT_EQ(answer.outcome, Outcome::kNameNotFound) << one.answer.substr(0, 50);
    EXPECT_NE(answer.error.find(one.says), answer.error.npos) << answer.error;
    EXPECT_TRUE(answer.error.ends_with("use its address or /etc/hosts")) << answer.error;
    EXPECT_EQ(FindAddresses("till.local", 2'000, avahi.names()), std::vector<std::string>{});
  }
  EXPECT_EQ(server.accepted(), 0);
}

TEST(NetLocalNames, WithoutAvahiNobodyIsAskedAndTheCallEndsAtOnce) {
  const LocalNames nobody{.avahi_socket = ::testing::TempDir() + "no/avahi"};
  Calls calls(nobody);
  const Answer answer = calls.network.Send({.url = "http://till.local:8080/"});
  EXPECT_EQ(answer.outcome, Outcome::kNameNotFound);
  EXPECT_EQ(answer.error,
            "no address was found for till.local (avahi-daemon does not run): use its address or "
            "/etc/hosts");
  EXPECT_EQ(FindAddresses("till.local", 2'000, nobody), std::vector<std::string>{});
}

TEST(NetLocalNames, ANameOfTheHostsFileIsNotAskedOfAvahi) {
  const Imitation avahi(Says("+ 2 0 listed.local 127.0.0.1\n"));
  Calls calls(avahi.names());
  calls.network.Send({.url = "http://listed.local:8080/", .timeout_ms = 200});
  FindAddresses("listed.local", 200, avahi.names());
  EXPECT_TRUE(avahi.questions().empty());
}

TEST(NetLocalNames, FindsTheAddressOfAReceiverThatIsBeingNamed) {
  const Imitation avahi(Says("+ 3 0 till.local 192.168.1.20\n"));
  EXPECT_EQ(FindAddresses("till.local", testing::kPatienceMs, avahi.names()),
            std::vector<std::string>{"192.168.1.20"});
}

// Whether it is true once: a busy machine may take longer than the program.
bool IsSoon(const std::function<bool()>& attempt) {
  for (int i = 0; i < 10; ++i) {
    if (attempt()) return true;
  }
  return false;
}

TEST(NetLocalNames, ASilentAvahiDelaysNoOtherCallAndIsGivenUpAfterTwoSeconds) {
  const Imitation avahi(Says(""));
  Calls calls(avahi.names());
  TestReceiver server(AnswerAll);
  EXPECT_TRUE(IsSoon([&] {
    std::promise<Answer> silent;
    std::future<Answer> given_up = silent.get_future();
    calls.network.Start({.url = server.Url("till.local")},
                        [&](Answer answer) { silent.set_value(std::move(answer)); });
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(calls.network.Send({.url = server.Url()}).outcome, Outcome::kAnswered);
    }
    const bool is_first = given_up.wait_for(std::chrono::seconds(0)) == std::future_status::timeout;

    const Answer answer = given_up.get();

    EXPECT_EQ(answer.outcome, Outcome::kNameNotFound);
    EXPECT_NE(answer.error.find("(no answer in time)"), answer.error.npos) << answer.error;
    EXPECT_GE(answer.duration_ms, 1'900);
    return is_first;
  }));
  EXPECT_TRUE(IsSoon([&] {
    const int64_t begin_ms = SystemClock().MonotonicMs();
    EXPECT_EQ(FindAddresses("till.local", 300, avahi.names()), std::vector<std::string>{});
    return SystemClock().MonotonicMs() - begin_ms < 1'500;
  }));
}

TEST(NetLocalNames, AQuestionUnderWayIsCancelledAndEndsWithTheNetwork) {
  const Imitation avahi(Says(""));
  Calls calls(avahi.names());
  std::promise<Outcome> cancelled;
  const auto ticket =
      calls.network.Start({.url = "http://till.local:8080/"},
                          [&](const Answer& answer) { cancelled.set_value(answer.outcome); });
  ASSERT_TRUE(testing::Await([&] { return avahi.questions().size() == 1; }));
  calls.network.Cancel(*ticket);
  EXPECT_EQ(cancelled.get_future().get(), Outcome::kCancelled);

  std::promise<Outcome> ended;
  {
    Calls others(avahi.names());
    others.network.Start({.url = "http://till.local:8080/"},
                         [&](const Answer& answer) { ended.set_value(answer.outcome); });
    ASSERT_TRUE(testing::Await([&] { return avahi.questions().size() == 2; }));
  }
  EXPECT_EQ(ended.get_future().get(), Outcome::kCancelled);
}

TEST(NetLocalNames, TheTimeOfTheQuestionCountsAgainstTheCall) {
  const Imitation avahi([](const std::string&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    return std::string("+ 2 0 till.local 127.0.0.1\n");
  });
  Calls calls(avahi.names());
  TestReceiver hanging([](ReceiverConnection& connection) { connection.Hang(); });
  EXPECT_TRUE(IsSoon([&] {
    const Answer answer =
        calls.network.Send({.url = hanging.Url("till.local"), .timeout_ms = 1'200});
    EXPECT_EQ(answer.outcome, Outcome::kTimeout) << answer.error;
    EXPECT_GE(answer.duration_ms, 1'000);
    return answer.duration_ms < 1'700;
  }));
}

TEST(NetLocalNames, ManyQuestionsAtOnceAreEachAnswered) {
  const Imitation avahi(Says("+ 2 0 till.local 127.0.0.1\n"));
  Calls calls(avahi.names());
  TestReceiver server(AnswerAll);
  std::vector<std::future<Answer>> answers;
  for (int i = 0; i < 60; ++i) {
    answers.push_back(std::async(std::launch::async, [&, i] {
      return calls.network.Send({.purpose = Purpose::kWebhooks,
                                 .url = server.Url("till" + std::to_string(i) + ".local")});
    }));
  }
  for (auto& answer : answers) EXPECT_EQ(answer.get().outcome, Outcome::kAnswered);
  EXPECT_EQ(avahi.questions().size(), 60U);
}

}  // namespace
}  // namespace comanda::net
