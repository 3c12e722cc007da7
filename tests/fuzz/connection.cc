// What comes on a connection: CivetWeb's reading with our changes to it, and what stands behind.
// The first byte says where the others are cut into two pieces: what is read does not depend on how
// it came.

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <sstream>
#include <utility>
#include <vector>

#include "base/time/clock.h"
#include "base/handle.h"
#include "base/log.h"
#include "fuzz/fuzz.h"
#include "wire/server.h"

namespace comanda::wire {
namespace {

using fuzz::Must;

constexpr size_t kBodyBytesMax = 1024;

class Box {
 public:
  Box() {
    log::SetLevel(log::Level::kError);
    ServerSettings settings;
    settings.listen = path_;
    settings.local = true;
    settings.tls = false;
    settings.workers = 4;
    settings.errors_base = "https://comanda.example/problems";
    server_ = std::make_unique<Server>(
        settings, [this](Exchange& exchange) { Answer(exchange); }, nullptr, SystemClock(),
        registry_);
  }
  ~Box() { unlink(path_.c_str()); }

  // What the handler was asked while all of it was sent, in two pieces, and answered.
  std::vector<std::string> Ask(std::string_view first, std::string_view second) {
    const Fd fd = Connect();
    Send(fd.get(), first);
    if (!first.empty() && !second.empty()) usleep(50);  // mostly enough to be read apart
    Send(fd.get(), second);
    shutdown(fd.get(), SHUT_WR);
    CheckAnswers(ReadAll(fd.get()));
    const std::lock_guard lock(mutex_);
    return std::exchange(asked_, {});
  }

  // The lines that count connections which gave way to others: on a busy machine those before may
  // not be gone when the next one comes.
  std::string GaveWay() const {
    std::string lines;
    std::istringstream text(registry_.Text());
    for (std::string line; std::getline(text, line);) {
      if (line.starts_with("comanda_http_connections_evicted_total") ||
          line.starts_with("comanda_http_connections_refused_total")) {
        lines += line + '\n';
      }
    }
    return lines;
  }

 private:
  void Answer(Exchange& exchange) {
    const Request& request = exchange.request;
    Response& response = exchange.response;
    std::string asked =
        std::string(Name(request.method)) + " " + request.path + "?" + request.query;
    for (const auto& [name, value] : request.headers)
      asked.append("\n").append(name).append(":").append(value);
    try {
      asked += "\n\n" + exchange.ReadBody(kBodyBytesMax);
      response.body = "read";
    } catch (const Refusal& refusal) {
      asked += "\n\nrefused";
      response = ProblemResponse(refusal, "https://comanda.example/problems", "/", "r");
    }
    const std::lock_guard lock(mutex_);
    asked_.push_back(std::move(asked));
  }

  Fd Connect() const {
    Fd fd;
    fd.Reset(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path_.c_str(), sizeof address.sun_path - 1);
    Must(connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0,
         "the server listens");
    return fd;
  }

  static void Send(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;  // it has heard enough
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }

  static std::string ReadAll(int fd) {
    std::string all;
    char buffer[4096];
    for (ssize_t got = 0; (got = recv(fd, buffer, sizeof buffer, 0)) > 0;) {
      all.append(buffer, static_cast<size_t>(got));
    }
    return all;
  }

  static void CheckAnswers(std::string_view answers) {
    while (!answers.empty()) {
      Must(answers.starts_with("HTTP/1.1 "), "an answer begins where the one before ends");
      const std::string_view status = answers.substr(9, 4);
      Must(status == "200 " || status == "100 " || status.front() == '4' || status == "505 " ||
               status == "501 " || status == "431 ",
           "answers are answers: " + std::string(status));
      const size_t end = answers.find("\r\n\r\n");
      Must(end != std::string_view::npos, "a head is whole");
      const std::string_view head = answers.substr(0, end + 2);
      answers.remove_prefix(end + 4);
      const size_t at = head.find("\r\nContent-Length: ");
      if (at == std::string_view::npos) continue;
      const size_t length = std::strtoul(head.data() + at + 18, nullptr, 10);
      if (answers.empty() || answers.starts_with("HTTP/1.1 ")) continue;  // it was HEAD
      Must(answers.size() >= length, "a body is whole");
      answers.remove_prefix(length);
    }
  }

  const std::string path_ = "/tmp/comanda-fuzz-" + std::to_string(getpid()) + ".sock";
  metrics::Registry registry_;
  std::mutex mutex_;
  std::vector<std::string> asked_;
  std::unique_ptr<Server> server_;
};

}  // namespace
}  // namespace comanda::wire

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace comanda;
  static wire::Box box;
  std::string_view text = fuzz::TextOf(data, size);
  const size_t cut = fuzz::TakeByte(text) * text.size() / 256;
  const std::string gave_way = box.GaveWay();
  const auto whole = box.Ask(text, "");
  const auto pieces = box.Ask(text.substr(0, cut), text.substr(cut));
  fuzz::Must(whole == pieces || box.GaveWay() != gave_way,
             "what is read does not depend on how it came");
  return 0;
}
