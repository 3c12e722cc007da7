#define COMANDA_HOOKS_IMPLEMENTATION
#include "wire/server.h"

#include <civetweb.h>
#include <civetweb_hooks.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <optional>
#include <semaphore>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "base/problem.h"
#include "base/text.h"
#include "wire/connection_exchange.h"
#include "wire/listener.h"
#include "wire/problem.h"
#include "wire/worker.h"

namespace comanda::wire {
namespace {

constexpr int64_t kStopDrainMs = 10'000;
constexpr size_t kSocketPathMax = 107;
constexpr int kExitStatus = 70;  // EX_SOFTWARE
constexpr std::string_view kAllMethods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";
// What CivetWeb is told of a head that is refused without an answer: it needs some status.
constexpr int kStatusOfNoAnswer = 503;

bool IsUnixSocket(const std::string& listen) { return listen.find('/') != std::string::npos; }

// CivetWeb's spelling of a Unix socket's path: "x" before it.
std::string SpelledPath(const std::string& path) {
  if (path.size() > kSocketPathMax || path.find(',') != std::string::npos) {
    throw Fault(Fault::Kind::kInternal,
                "the path of a socket may have at most 107 bytes and no comma: " + path);
  }
  return "x" + path;
}

// CivetWeb's spelling of an address: "s" for TLS, "+PORT" for all addresses of both families on one
// socket.
std::string SpelledAddress(const std::string& address, bool tls) {
  constexpr std::string_view kAny6 = "[::]:";
  std::string spelled = address.starts_with(kAny6) ? "+" + address.substr(kAny6.size()) : address;
  if (tls) spelled += 's';
  return spelled;
}

using Options = std::vector<std::pair<const char*, std::string>>;

// CivetWeb's options. Admission enforces the deadlines of reading; CivetWeb's own must be later.
Options OptionsOf(const ServerSettings& settings, const std::string& listening_ports) {
  const Timeouts& timeouts = settings.timeouts;
  const std::string workers = std::to_string(settings.workers);
  return {
      {"listening_ports", listening_ports},
      {"num_threads", workers},
      {"connection_queue", workers},
      {"listen_backlog", std::to_string(kBacklog)},
      {"enable_keep_alive", "yes"},
      {"keep_alive_timeout_ms", std::to_string(timeouts.idle_ms + timeouts.head_ms + 1'000)},
      {"request_timeout_ms", std::to_string(timeouts.write_ms)},
      {"max_request_size", std::to_string(kHeadBytesMax)},
      {"ssl_certificate", "in memory"},
      {"decode_url", "no"},
      {"decode_query_string", "no"},
      {"enable_directory_listing", "no"},
      {"access_control_allow_origin", ""},
      {"access_control_allow_methods", ""},
      {"access_control_allow_headers", ""},
  };
}

// The listener's name in metrics. A Unix socket has that of its file: "control-test" for
// DIR/control-test.sock.
std::string ListenerName(const ServerSettings& settings) {
  if (!settings.name.empty()) return settings.name;
  if (!IsUnixSocket(settings.listen)) return settings.tls ? "https" : "http";
  const std::string name = settings.listen.substr(settings.listen.rfind('/') + 1);
  return name.substr(0, name.rfind('.'));
}

// Why a head that CivetWeb did not take is refused; empty where its client is gone.
std::optional<Unfinished> WhyUnfinished(std::string_view text, int civetweb_status,
                                        const Connection* connection) {
  if (civetweb_status == 413) return Unfinished::kTooLarge;
  const bool has_control = std::ranges::any_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\r' && c != '\n' && c != '\t') || byte == 0x7f;
  });
  if (has_control) return Unfinished::kMalformed;
  if (connection != nullptr && connection->deadline_passed) return Unfinished::kTimedOut;
  return std::nullopt;
}

Problem ProblemOf(int status) {
  switch (status) {
    case 404:
      return Problem::kNotFound;
    case 405:
      return Problem::kMethodNotAllowed;
    case 408:
      return Problem::kRequestTimeout;
    case 411:
      return Problem::kLengthRequired;
    case 413:
      return Problem::kPayloadTooLarge;
    case 414:
      return Problem::kUriTooLong;
    case 417:
      return Problem::kExpectationFailed;
    case 431:
      return Problem::kHeadersTooLarge;
    case 501:
      return Problem::kNotImplemented;
    case 503:
      return Problem::kServiceUnavailable;
    case 505:
      return Problem::kVersionNotSupported;
    default:
      return status < 500 ? Problem::kInvalidHeader : Problem::kInternalError;
  }
}

// Blocks all signals but those of a fault while it lives: threads that are started meanwhile, which
// are CivetWeb's, inherit that.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) {
      sigdelset(&all, fault);
    }
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

// Lets new files be read and written by their owner alone while it lives: the socket file must
// never have been open to others.
class PrivateFiles {
 public:
  PrivateFiles() : before_(umask(S_IRWXG | S_IRWXO | S_IXUSR)) {}
  PrivateFiles(const PrivateFiles&) = delete;
  PrivateFiles& operator=(const PrivateFiles&) = delete;
  ~PrivateFiles() { umask(before_); }

 private:
  mode_t before_;
};

// The listening sockets that this thread's call of mg_start2 is to take, by their addresses
// (comanda_bind); empty otherwise.
struct Offered {
  int fd;
  std::string address;
};
thread_local std::vector<Offered> offered_listeners;

void RemoveStaleSocket(const std::string& path) {
  struct stat found {};
  if (lstat(path.c_str(), &found) == 0 && S_ISSOCK(found.st_mode)) unlink(path.c_str());
}

}  // namespace

struct Server::Impl {
  Impl(ServerSettings with, Handler answers, Tls* keys, const Clock& time,
       metrics::Registry& registry)
      : settings(std::move(with)),
        listener(ListenerName(settings)),
        handler(std::move(answers)),
        tls(keys),
        clock(time),
        admission(
            {.all = settings.workers,
             .unauthenticated = settings.takes_keys ? settings.workers / 2 : settings.workers},
            settings.timeouts, time, registry, listener, settings.heartbeats,
            settings.leaves_connections_waiting,
            settings.waits_for_first_byte ? std::make_unique<Lobby>(settings.timeouts.head_ms, time)
                                          : nullptr),
        heads_refused(registry, "comanda_http_heads_refused_total",
                      "Requests refused for their framing, size or host.",
                      "listener=\"" + listener + '"'),
        requests_in_flight(
            registry, "comanda_http_requests_in_flight", "Requests under way.",
            [this] { return static_cast<double>(in_flight.load()); },
            "listener=\"" + listener + '"') {}

  void Start();
  std::string OfferListeners();
  void RequireThreads();
  void Stop(int64_t drain_ms);

  int CheckRequestHead(char* raw, int size, int civetweb_status);
  int Answer(mg_connection* connection);
  void AnswerError(mg_connection* connection, int status, std::string_view text);

  ServerSettings settings;
  const std::string listener;
  Handler handler;
  Tls* tls;
  const Clock& clock;
  Admission admission;
  metrics::Counter heads_refused;
  std::atomic<int> in_flight{0};
  metrics::Gauge requests_in_flight;

  std::mutex drain_mutex;
  std::condition_variable drained;

  std::mutex stop_mutex;
  mg_context* context = nullptr;  // guarded by stop_mutex
  int port = 0;
  std::atomic<bool> started{false};
  std::binary_semaphore accepting{0};  // raised by the accepting thread
  std::string start_message;           // the first message of CivetWeb while it started
  Fd opened;                           // the socket that listens on settings.listen, at the start

 private:
  void RequireHost(std::string_view host) const;
  void Handle(ConnectionExchange& exchange);
};

namespace {

Server::Impl& ImplOf(const mg_connection* connection) {
  return *static_cast<Server::Impl*>(mg_get_user_data(mg_get_context(connection)));
}

void* OnThread(const mg_context* context, int thread_type) {
  auto* impl = static_cast<Server::Impl*>(mg_get_user_data(context));
  Worker& worker = ThisWorker();
  worker.admission = &impl->admission;
  worker.tls = impl->tls;
  worker.errors_base = impl->settings.errors_base;
  worker.accepting = thread_type == 0;
  if (worker.accepting) impl->accepting.release();
  return nullptr;
}

int OnRequest(mg_connection* connection) { return ImplOf(connection).Answer(connection); }

void OnRequestEnd(const mg_connection*, int) {
  Worker& worker = ThisWorker();
  if (worker.connection != nullptr) {
    worker.admission->Enter(*worker.connection, ConnectionState::kIdle);
  }
}

// The reason in a message of CivetWeb: "cannot bind to 127.0.0.1:8443s: 98 (Address already in
// use)".
std::string ReasonIn(std::string_view said) {
  const size_t open = said.rfind('(');
  const size_t close = said.rfind(')');
  const bool has_reason = open != said.npos && close != said.npos && open < close;
  return std::string(has_reason ? said.substr(open + 1, close - open - 1) : said);
}

int OnError(mg_connection* connection, int status, const char* text) {
  ImplOf(connection).AnswerError(connection, status, text == nullptr ? "" : text);
  return 0;
}

int OnLog(const mg_connection* connection, const char* message) {
  Server::Impl& impl = ImplOf(connection);
  if (impl.started) {
    log::Debug("http library", {{"message", message}});
  } else if (impl.start_message.empty()) {
    impl.start_message = message;  // the first one says why, the next ones only that it failed
  }
  return 1;
}

}  // namespace

// Offers all TCP listeners to the hook of bind(). Returns CivetWeb's option listening_ports, which
// makes it ask for them, with a Unix socket, which it opens itself.
std::string Server::Impl::OfferListeners() {
  std::vector<int> listeners = settings.listeners;
  std::string ports;
  const auto append = [&](const std::string& spelled) {
    ports += (ports.empty() ? "" : ",") + spelled;
  };
  if (IsUnixSocket(settings.listen)) {
    append(SpelledPath(settings.listen));
  } else if (!settings.listen.empty()) {
    opened = OpenListener(settings.listen);
    listeners.insert(listeners.begin(), opened.get());
  }
  offered_listeners.clear();
  for (const int fd : listeners) {
    const std::optional<std::string> address = ListeningAddress(fd);
    CHECK(address.has_value(), "a server is given sockets that listen");
    offered_listeners.push_back({fd, *address});
    append(SpelledAddress(*address, settings.tls));
  }
  CHECK(!ports.empty(), "a server listens on something");
  return ports;
}

void Server::Impl::Start() {
  const bool is_unix = IsUnixSocket(settings.listen);
  const Options named = OptionsOf(settings, OfferListeners());
  std::vector<const char*> options;
  for (const auto& [name, value] : named) options.insert(options.end(), {name, value.c_str()});
  options.push_back(nullptr);
  mg_callbacks callbacks{};
  callbacks.init_thread = OnThread;
  callbacks.begin_request = OnRequest;
  callbacks.end_request = OnRequestEnd;
  callbacks.http_error = OnError;
  callbacks.log_message = OnLog;
  std::array<char, 256> error_text{};
  mg_init_data init{&callbacks, this, options.data()};
  mg_error_data error{};
  error.text = error_text.data();
  error.text_buffer_size = error_text.size();

  if (is_unix) RemoveStaleSocket(settings.listen);
  {
    const SignalsBlocked signals;
    const std::optional<PrivateFiles> files =
        is_unix ? std::make_optional<PrivateFiles>() : std::nullopt;
    context = mg_start2(&init, &error);
  }
  offered_listeners.clear();
  opened.Reset();
  if (context == nullptr) {
    const std::string said = start_message.empty() ? error_text.data() : start_message;
    throw Fault(Fault::Kind::kInternal, "cannot serve on " + listener + ": " + ReasonIn(said));
  }
  RequireThreads();
  started = true;
  mg_server_port bound{};
  if (!is_unix && mg_get_server_ports(context, 1, &bound) >= 1) port = bound.port;
}

// Ends the process where the system grants too few threads: CivetWeb goes on without the workers
// that it could not start, and without the accepting thread it cannot even be stopped.
void Server::Impl::RequireThreads() {
  constexpr std::chrono::seconds kStartMax{5};
  const bool all_workers = !start_message.starts_with("Cannot start worker thread");
  if (all_workers && accepting.try_acquire_for(kStartMax)) return;
  log::Error(
      "not serving, the system grants too few threads: raise TasksMax of the service or "
      "`ulimit -u`, or lower the setting workers",
      {{"listen", settings.listen}, {"workers", settings.workers}});
  ::_exit(kExitStatus);
}

void Server::Impl::Stop(int64_t drain_ms) {
  const std::lock_guard stopping(stop_mutex);
  if (context == nullptr) return;
  admission.Refuse();
  {
    std::unique_lock lock(drain_mutex);
    drained.wait_for(lock, std::chrono::milliseconds(drain_ms), [this] { return in_flight == 0; });
  }
  // CivetWeb discards what is written after mg_stop; all answers have been sent by now.
  admission.EndAll();
  mg_stop(context);
  context = nullptr;
}

// Throws Refusal where the Host is none of ours: a web page of that host would read our answers
// (DNS rebinding). A request without one is HTTP/1.0, which no browser speaks.
void Server::Impl::RequireHost(std::string_view host) const {
  const std::string name = AsciiLower(host);
  if (name.empty() || !settings.host_allowed || settings.host_allowed(name)) return;
  throw Refusal(Problem::kMisdirectedRequest,
                "This box does not answer to the host " + name +
                    "; use its own name or address, or add the name to its settings.");
}

// The hook of CivetWeb for a request's head (third_party/civetweb/hooks.h): returns 0 to go on, or
// the status of the answer. Throws std::bad_alloc.
int Server::Impl::CheckRequestHead(char* raw, int size, int civetweb_status) {
  Worker& worker = ThisWorker();
  worker.answers_nothing = false;
  ConnectionExchange& exchange =
      worker.exchange.emplace(std::string_view(raw, static_cast<size_t>(size)), admission,
                              worker.connection, worker.chunks);
  try {
    if (civetweb_status != 0) {
      if (const auto reason = WhyUnfinished(exchange.text(), civetweb_status, worker.connection)) {
        throw RefuseUnfinished(exchange.text(), *reason);
      }
      worker.answers_nothing = true;  // the client left, or the connection was evicted
      return 0;
    }
    exchange.ReadHead();
    RequireHost(exchange.head().host);
    if (worker.connection != nullptr &&
        !admission.Enter(*worker.connection, ConnectionState::kRequest)) {
      worker.answers_nothing = true;  // it was evicted as idle in the same moment
      return kStatusOfNoAnswer;
    }
  } catch (const Refusal& refusal) {
    exchange.refusal = refusal;
    heads_refused.Add();
    return Row(refusal.problem).status;
  } catch (const std::exception& failure) {
    log::Error("request head failed", {{"cause", failure.what()}});
    exchange.refusal = ToRefusal(KindOfHandled());
    return Row(exchange.refusal->problem).status;
  }
  exchange.HideTarget(raw);
  return 0;
}

void Server::Impl::Handle(ConnectionExchange& exchange) {
  const Request& request = exchange.request;
  try {
    exchange.LookBehind(settings.proxies);
  } catch (const Refusal& refusal) {
    heads_refused.Add();
    exchange.response =
        ProblemResponse(refusal, settings.errors_base, request.path, request.request_id);
    return;
  }
  if (admission.refusing()) {
    Refusal refusal(Problem::kServiceUnavailable,
                    "The box is stopping; try again in a few seconds.");
    refusal.retry_after_s = 5;
    refusal.close_connection = true;
    exchange.response =
        ProblemResponse(refusal, settings.errors_base, request.path, request.request_id);
  } else if (request.path == "*") {
    exchange.response.status = 204;
    exchange.response.headers.emplace_back("Allow", kAllMethods);
  } else {
    handler(exchange);
  }
}

// CivetWeb's callback for a request whose head was accepted. Returns the status.
int Server::Impl::Answer(mg_connection* stream) {
  ++in_flight;
  Worker& worker = ThisWorker();
  int status = 500;
  try {
    ConnectionExchange& exchange = worker.exchange.value();
    exchange.Begin(stream, settings.local, clock);
    Handle(exchange);
    const bool close = exchange.MustClose() || admission.refusing();
    exchange.Send(stream, clock.Now(), close);
    exchange.DiscardBody(close);
    status = exchange.response.status;
  } catch (const std::exception& error) {
    log::Error("answer failed", {{"cause", error.what()}});
    mg_disable_connection_keep_alive(stream);
  }
  worker.exchange.reset();
  worker.chunks = ChunkedBody();
  if (--in_flight == 0 && admission.refusing()) {
    const std::lock_guard lock(drain_mutex);
    drained.notify_all();
  }
  return status;
}

// CivetWeb's callback for what it answers itself: a head that was refused, or that it cannot read.
void Server::Impl::AnswerError(mg_connection* stream, int status, std::string_view text) {
  Worker& worker = ThisWorker();
  if (worker.answers_nothing) return;
  try {
    if (!worker.exchange) worker.exchange.emplace("", admission, worker.connection, worker.chunks);
    ConnectionExchange& exchange = *worker.exchange;
    const Refusal refusal = exchange.refusal.value_or(
        Refusal(ProblemOf(status), "The request cannot be served: " + std::string(text) + "."));
    const std::string instance(exchange.head().path.empty() ? "/" : exchange.head().path);
    exchange.request.request_id = exchange.RequestId(clock);
    exchange.response =
        ProblemResponse(refusal, settings.errors_base, instance, exchange.request.request_id);
    if (worker.connection != nullptr) worker.connection->drain_on_close = true;
    exchange.Send(stream, clock.Now(), true);
  } catch (const std::exception& error) {
    log::Error("answer failed", {{"cause", error.what()}});
  }
  worker.exchange.reset();
}

Server::Server(ServerSettings settings, Handler handler, Tls* tls, const Clock& clock,
               metrics::Registry& metrics) {
  CHECK(!settings.tls || tls != nullptr, "a server with TLS has a certificate");
  impl_ = std::make_unique<Impl>(std::move(settings), std::move(handler), tls, clock, metrics);
  impl_->Start();
}

Server::~Server() { Stop(kStopDrainMs); }

void Server::Stop(int64_t drain_ms) { impl_->Stop(drain_ms); }

int Server::port() const { return impl_->port; }

std::string LibraryVersion() { return mg_version(); }

}  // namespace comanda::wire

using comanda::wire::ConnectionState;
using comanda::wire::ThisWorker;
using comanda::wire::Worker;

// A listener that is there already takes the place of the new socket. Its address is compared as
// text: both are made from the same one.
extern "C" int comanda_bind(int descriptor, const sockaddr* address, socklen_t size) {
  if (address->sa_family == AF_UNIX) return ::bind(descriptor, address, size);
  const std::string wanted = comanda::wire::AddressText(*address);
  for (const auto& [fd, held] : comanda::wire::offered_listeners) {
    if (held == wanted) return ::dup3(fd, descriptor, O_CLOEXEC) < 0 ? -1 : 0;
  }
  errno = EADDRNOTAVAIL;
  return -1;
}

extern "C" int comanda_listen(int descriptor, int backlog) {
  return comanda::wire::ListeningAddress(descriptor) ? 0 : ::listen(descriptor, backlog);
}

extern "C" int comanda_accept(int listener, sockaddr* address, socklen_t* size) {
  return ThisWorker().admission->Accept(listener, address, size);
}

extern "C" int comanda_close(int descriptor) {
  Worker& worker = ThisWorker();
  if (worker.admission == nullptr) return ::close(descriptor);
  const bool is_ours = worker.connection != nullptr && worker.connection->fd == descriptor;
  worker.admission->Close(descriptor);
  if (is_ours) worker.connection = nullptr;
  return 0;
}

extern "C" int comanda_poll(pollfd* descriptors, unsigned long count, int timeout_ms) {
  Worker& worker = ThisWorker();
  if (worker.accepting) {
    worker.admission->Beat();
    if (worker.admission->LeavesWaiting()) {  // wakes up for CivetWeb's stop flag alone
      return ::poll(nullptr, 0, timeout_ms);
    }
    return worker.admission->PollListeners(descriptors, count, timeout_ms);
  }
  if (worker.admission == nullptr || count != 1) {
    return ::poll(descriptors, count, timeout_ms);
  }
  if (worker.connection == nullptr) {  // the first wait of a connection without TLS
    worker.connection = worker.admission->Find(descriptors->fd);
    if (worker.connection == nullptr) return ::poll(descriptors, count, timeout_ms);
    worker.admission->Enter(*worker.connection, ConnectionState::kHead);
  }
  return worker.admission->Poll(*worker.connection, *descriptors, timeout_ms);
}

extern "C" int comanda_check_request_head(const mg_connection* connection, char* head, int size,
                                          int civetweb_status) {
  try {
    return comanda::wire::ImplOf(connection).CheckRequestHead(head, size, civetweb_status);
  } catch (const std::bad_alloc&) {  // not even for a refusal
    ThisWorker().answers_nothing = true;
    return comanda::wire::kStatusOfNoAnswer;
  }
}

extern "C" int comanda_check_chunk(const mg_connection*, unsigned long size) {
  comanda::wire::ChunkedBody& chunks = ThisWorker().chunks;
  chunks.declared_bytes += size;  // below 2^62 each, and the first one too large ends the body
  return chunks.IsTooLarge() ? 1 : 0;
}

extern "C" int comanda_count_framing(const mg_connection*, size_t size) {
  comanda::wire::ChunkedBody& chunks = ThisWorker().chunks;
  chunks.framing_bytes += size;
  return chunks.HasTooMuchFraming() ? 1 : 0;
}
