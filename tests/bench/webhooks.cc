// comanda_bench_webhooks: the receiver of the webhooks' benchmark, and the ceiling of its rates. It
// is built from the same rooms and is no part of the product.
//
//   comanda_bench_webhooks receive [--keep FILE] [--certificate PEM --key PEM] [--hold-ms N]
//       Answers every POST with 204, and GET with what has arrived as JSON: requests, bytes, and
//       the time in seconds between the first and the last. DELETE forgets that. Prints its port
//       in the first line. Keeps the first messages in memory and writes them to FILE at its end.
//       With --hold-ms it answers that much later.
//   comanda_bench_webhooks post --url URL --messages FILE --count N [--ca PEM]
//       Posts the messages of that file over and over from memory, as fast as a plain loop over
//       libcurl does with four transfers at once. Prints what the receiver's GET prints, and
//       cpu_seconds.

#include <curl/curl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/time/clock.h"
#include "base/file.h"
#include "base/metrics.h"
#include "base/problem.h"
#include "base/text.h"
#include "crypto/authorities.h"
#include "crypto/hash.h"
#include "wire/server.h"
#include "wire/tls.h"

namespace comanda::bench {
namespace {

using Flags = std::map<std::string, std::string>;
using SteadyClock = std::chrono::steady_clock;

constexpr size_t kAtOnce = 4;  // as many as the product sends to one receiver
constexpr size_t kKept = 5'000;

Flags ReadFlags(int count, char** words) {
  Flags flags;
  for (int i = 2; i + 1 < count; i += 2) flags[std::string(words[i]).substr(2)] = words[i + 1];
  return flags;
}

int64_t Number(const Flags& flags, const std::string& name) {
  const auto found = flags.find(name);
  int64_t number = 0;
  if (found == flags.end()) return number;
  std::from_chars(found->second.data(), found->second.data() + found->second.size(), number);
  return number;
}

std::string FileNamed(const Flags& flags, const std::string& name) {
  const auto content = ReadFile(flags.at(name));
  if (!content) throw Fault(Fault::Kind::kUnavailable, flags.at(name) + " does not exist");
  return *content;
}

double Seconds(SteadyClock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

double CpuSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Messages

// One message per record: its length in decimal, a space, header lines, an empty line, the body.
struct Message {
  std::vector<std::string> headers;  // "Name: value"
  std::string body;
};

std::string Packed(const wire::Request& request, const std::string& body) {
  std::string record;
  for (const auto& [name, value] : request.headers) {
    // libcurl writes these itself.
    const bool is_own = AsciiEqualsIgnoreCase(name, "Host") ||
                        AsciiEqualsIgnoreCase(name, "Accept") ||
                        AsciiEqualsIgnoreCase(name, "Content-Length");
    if (!is_own) record += std::string(name) + ": " + std::string(value) + "\n";
  }
  record += "\n" + body;
  return std::to_string(record.size()) + " " + record;
}

std::vector<Message> Unpack(std::string_view file) {
  std::vector<Message> messages;
  while (!file.empty()) {
    size_t bytes = 0;
    const std::string_view length = TakePiece(file, ' ');
    std::from_chars(length.data(), length.data() + length.size(), bytes);
    std::string_view record = file.substr(0, bytes);
    file.remove_prefix(record.size());
    Message message;
    while (true) {
      const std::string_view line = TakePiece(record, '\n');
      if (line.empty()) break;
      message.headers.emplace_back(line);
    }
    message.body = record;
    messages.push_back(std::move(message));
  }
  return messages;
}

// The receiver

class Arrivals {
 public:
  explicit Arrivals(bool keeps) : keeps_(keeps) {}

  void Note(const wire::Request& request, const std::string& body) {
    const std::lock_guard lock(mutex_);
    last_ = SteadyClock::now();
    if (requests_++ == 0) first_ = last_;
    bytes_ += body.size();
    if (keeps_ && kept_.size() < kKept) kept_.push_back(Packed(request, body));
  }
  void Forget() {
    const std::lock_guard lock(mutex_);
    requests_ = bytes_ = 0;
    first_ = last_ = {};
  }
  std::string Json() const {
    const std::lock_guard lock(mutex_);
    return "{\"requests\":" + std::to_string(requests_) + ",\"bytes\":" + std::to_string(bytes_) +
           ",\"seconds\":" + std::to_string(Seconds(last_ - first_)) + "}";
  }
  void Write(const std::string& path) const {
    const std::lock_guard lock(mutex_);
    std::ofstream file(path, std::ios::binary);
    for (const std::string& record : kept_) file << record;
  }

 private:
  const bool keeps_;
  mutable std::mutex mutex_;
  size_t requests_ = 0, bytes_ = 0;       // guarded by mutex_
  SteadyClock::time_point first_, last_;  // guarded by mutex_
  std::vector<std::string> kept_;         // guarded by mutex_
};

void Receive(const Flags& flags) {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  constexpr size_t kBodyMax = 4 * 1024 * 1024;
  const std::chrono::milliseconds hold(Number(flags, "hold-ms"));
  Arrivals arrivals(flags.contains("keep"));
  const auto answer = [&](wire::Exchange& exchange) {
    exchange.Authenticate();
    exchange.response.content_type = {};
    if (exchange.request.method == wire::Method::kGet) {
      exchange.response.body = arrivals.Json();
      return;
    }
    exchange.response.status = 204;
    if (exchange.request.method == wire::Method::kDelete) return arrivals.Forget();
    arrivals.Note(exchange.request, exchange.ReadBody(kBodyMax));
    std::this_thread::sleep_for(hold);
  };
  metrics::Registry metrics;
  std::optional<wire::Tls> tls;
  if (flags.contains("certificate")) {
    tls.emplace(crypto::KeyPair{FileNamed(flags, "certificate"), FileNamed(flags, "key")});
  }
  const wire::Server server({.listen = "127.0.0.1:0",
                             .workers = 128,
                             .tls = tls.has_value(),
                             .host_allowed = {},
                             .errors_base = {}},
                            answer, tls ? &*tls : nullptr, SystemClock(), metrics);
  std::printf("%d\n", server.port());
  std::fflush(stdout);
  int signal = 0;
  ::sigwait(&signals, &signal);
  if (flags.contains("keep")) arrivals.Write(flags.at("keep"));
}

// The loop

struct EasyDeleter {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct MultiDeleter {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
struct ListDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Headers = std::unique_ptr<curl_slist, ListDeleter>;

struct Loaded {
  Headers headers;
  std::string body;
};

Loaded Load(Message message) {
  curl_slist* headers = nullptr;
  for (const std::string& line : message.headers)
    headers = curl_slist_append(headers, line.c_str());
  return {Headers(curl_slist_append(headers, "Expect:")), std::move(message.body)};
}

size_t Ignore(char*, size_t size, size_t count, void*) { return size * count; }

CURLcode TrustIn(CURL*, void* ssl_config, void* authorities) {
  static_cast<const crypto::Authorities*>(authorities)->TrustIn(ssl_config);
  return CURLE_OK;
}

void Post(const Flags& flags) {
  std::vector<Loaded> messages;
  for (Message& message : Unpack(FileNamed(flags, "messages"))) {
    messages.push_back(Load(std::move(message)));
  }
  if (messages.empty()) throw Fault(Fault::Kind::kUnavailable, "there are no messages to post");
  const auto count = static_cast<size_t>(Number(flags, "count"));
  curl_global_init(CURL_GLOBAL_DEFAULT);
  crypto::Initialise();
  std::unique_ptr<crypto::Authorities> authorities;
  if (flags.contains("ca")) {
    authorities = std::make_unique<crypto::Authorities>(FileNamed(flags, "ca"));
  }
  const std::unique_ptr<CURLM, MultiDeleter> multi(curl_multi_init());
  size_t begun = 0, ended = 0, failed = 0, bytes = 0;
  const auto begin_next = [&](CURL* easy) {
    const Loaded& next = messages[begun++ % messages.size()];
    bytes += next.body.size();
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, next.headers.get());
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, next.body.data());
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(next.body.size()));
    curl_multi_add_handle(multi.get(), easy);
  };
  const double cpu_before = CpuSeconds();
  const auto begin = SteadyClock::now();
  std::array<std::unique_ptr<CURL, EasyDeleter>, kAtOnce> handles;
  for (auto& handle : handles) {
    handle.reset(curl_easy_init());
    curl_easy_setopt(handle.get(), CURLOPT_URL, flags.at("url").c_str());
    curl_easy_setopt(handle.get(), CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle.get(), CURLOPT_WRITEFUNCTION, &Ignore);
    if (authorities) {
      curl_easy_setopt(handle.get(), CURLOPT_SSL_CTX_FUNCTION, &TrustIn);
      curl_easy_setopt(handle.get(), CURLOPT_SSL_CTX_DATA, authorities.get());
    }
    if (begun < count) begin_next(handle.get());
  }
  while (ended < begun) {
    int running = 0, left = 0;
    curl_multi_perform(multi.get(), &running);
    while (const CURLMsg* message = curl_multi_info_read(multi.get(), &left)) {
      CURL* const easy = message->easy_handle;
      long status = 0;
      curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
      constexpr long kNoContent = 204;
      if (message->data.result != CURLE_OK || status != kNoContent) ++failed;
      ++ended;
      curl_multi_remove_handle(multi.get(), easy);
      if (begun < count) begin_next(easy);
    }
    constexpr int kPollMs = 1'000;
    if (ended < begun) curl_multi_poll(multi.get(), nullptr, 0, kPollMs, nullptr);
  }
  if (failed > 0) throw Fault(Fault::Kind::kUnavailable, std::to_string(failed) + " posts failed");
  std::printf("{\"requests\":%zu,\"bytes\":%zu,\"seconds\":%.6f,\"cpu_seconds\":%.6f}\n", ended,
              bytes, Seconds(SteadyClock::now() - begin), CpuSeconds() - cpu_before);
}

int Run(int count, char** words) {
  const std::string_view command = count > 1 ? words[1] : "";
  if (command == "receive") {
    Receive(ReadFlags(count, words));
  } else if (command == "post") {
    Post(ReadFlags(count, words));
  } else {
    std::fputs(
        "usage: comanda_bench_webhooks receive|post … (the head of tests/bench/webhooks.cc)\n",
        stderr);
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace comanda::bench

int main(int count, char** words) {
  try {
    return comanda::bench::Run(count, words);
  } catch (const comanda::Refusal& refusal) {
    std::fprintf(stderr, "comanda_bench_webhooks: %s\n", refusal.detail.c_str());
  } catch (const comanda::Fault& fault) {
    std::fprintf(stderr, "comanda_bench_webhooks: %s\n", fault.cause.c_str());
  }
  return 1;
}
