#define COMANDA_HOOKS_IMPLEMENTATION
#include "wire/server.h"

#include <civetweb.h>
#include <civetweb_hooks.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <optional>
#include <semaphore>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/id.h"
#include "base/log.h"
#include "base/problem.h"
#include "base/text.h"
#include "wire/head.h"
#include "wire/problem.h"
#include "wire/response_writer.h"

namespace comanda::wire {
namespace {

constexpr uint64_t kUnreadBytesMax =
    64 * 1024;  // more of an unread body than this ends the connection
constexpr size_t kReadBytes = 64 * 1024;
constexpr size_t kWriteBytes = 256 * 1024;  // each has its own time for the client to read it
constexpr size_t kRecordBytes = 16 * 1024;  // a record of TLS: what is sent together
constexpr size_t kRequestIdMax = 128;
constexpr int64_t kStopDrainMs = 10'000;
constexpr size_t kSocketPathMax = 107;
constexpr int kExitStatus = 70;  // EX_SOFTWARE
constexpr std::string_view kAllMethods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";
constexpr int kSilently = 503;  // a head that is refused without an answer still needs some status

// A body in chunks while CivetWeb reads it.
struct ChunkedBody {
  uint64_t bytes_max = kAnyBodyBytesMax;
  uint64_t declared_bytes = 0;  // by the sizes of its chunks
  size_t framing_bytes = 0;     // chunk extensions and trailers

  bool IsTooLarge() const { return declared_bytes > bytes_max; }
  bool HasTooMuchFraming() const { return framing_bytes > kChunkFramingBytesMax; }
};

// The request of this worker thread, from the check of its head to its answer. Kept per thread
// because CivetWeb's callbacks for these steps share no data of ours.
struct Exchange {
  std::string text;  // the head as it came; all views of `head` point into it
  Head head;
  std::optional<Refusal> refusal;  // why the head is refused
  bool silent = false;             // refused, and nobody is there to hear it
  ChunkedBody chunks;
};

Exchange& ThisExchange() {
  thread_local Exchange exchange;
  return exchange;
}

// CivetWeb would answer for its own host alone and not to "*", split the path and clean it: it gets
// one of the same length without anything in it. It knows no TRACE: PATCH is as long.
void HideTarget(const Exchange& exchange, char* raw) {
  if (exchange.head.method == Method::kTrace) {
    const std::string_view name = Name(Method::kPatch);
    std::ranges::copy(name, raw + exchange.text.find(Name(Method::kTrace)));
  }
  const auto offset = static_cast<size_t>(exchange.head.target.data() - exchange.text.data());
  raw[offset] = '/';
  std::fill_n(raw + offset + 1, exchange.head.target.size() - 1, ' ');
}

bool IsRequestId(std::string_view text) {
  return !text.empty() && text.size() <= kRequestIdMax && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '_' || c == '-';
  });
}

std::string RequestId(const Head& head, const Clock& clock) {
  for (const auto& [name, value] : head.headers) {
    if (AsciiEqualsIgnoreCase(name, "x-request-id") && IsRequestId(value))
      return std::string(value);
  }
  return NewId(clock.Now());
}

bool IsUnixSocket(const std::string& listen) { return listen.find('/') != std::string::npos; }

std::string_view WithoutMappedPrefix(std::string_view address) {
  constexpr std::string_view kMapped = "::ffff:";
  if (address.starts_with(kMapped) && address.find('.') != std::string_view::npos) {
    address.remove_prefix(kMapped.size());
  }
  return address;
}

// CivetWeb's spelling: "s" for TLS, "+PORT" for all addresses of both families on one socket, "x"
// for a Unix socket.
std::string ListeningPorts(const ServerSettings& settings) {
  constexpr std::string_view kAny6 = "[::]:";
  const std::string& listen = settings.listen;
  if (IsUnixSocket(listen)) {
    if (listen.size() > kSocketPathMax || listen.find(',') != std::string::npos) {
      throw Fault(Fault::Kind::kInternal,
                  "the path of a socket may have at most 107 bytes and no comma: " + listen);
    }
    return "x" + listen;
  }
  std::string ports = listen.starts_with(kAny6) ? "+" + listen.substr(kAny6.size()) : listen;
  if (settings.tls) ports += 's';
  return ports;
}

// What the metrics call it: a Unix socket by its file, "control-test" for DIR/control-test.sock.
std::string ListenerName(const ServerSettings& settings) {
  if (!IsUnixSocket(settings.listen)) return settings.tls ? "https" : "http";
  const std::string name = settings.listen.substr(settings.listen.rfind('/') + 1);
  return name.substr(0, name.rfind('.'));
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

bool WriteAll(mg_connection* connection, std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t size = std::min(bytes.size(), kWriteBytes);
    if (mg_write(connection, bytes.data(), size) != static_cast<int>(size)) return false;
    bytes.remove_prefix(size);
  }
  return true;
}

// A body on its way over a connection.
class ConnectionBody final : public BodySource {
 public:
  ConnectionBody(mg_connection* connection, const Head& head, Admission& admission)
      : connection_(connection), head_(head), admission_(admission) {}

  std::string Read(size_t max) override {
    if (!head_.chunked && head_.length > max) RefuseSize(max);
    ThisExchange().chunks.bytes_max = max;
    const bool was_begun = std::exchange(begun_, true);
    if (finished_ || was_begun) return "";
    Connection* const state = ThisWorker().connection;
    if (state != nullptr) admission_.Enter(*state, ConnectionState::kBody);
    if (head_.expects_continue && !WriteAll(connection_, "HTTP/1.1 100 Continue\r\n\r\n")) {
      RefuseShort(state);
    }
    std::string body;
    while (head_.chunked || body.size() < head_.length) {
      if (ReadPiece(body, max, state) == 0) break;
    }
    finished_ = true;
    if (state != nullptr && !admission_.Enter(*state, ConnectionState::kRequest))
      RefuseShort(state);
    return body;
  }

  // True where the connection cannot be used after the answer, since too much of the body would
  // have to be read, or nobody knows how much.
  bool MustClose() const {
    if (finished_ || !exists()) return false;
    return begun_ || head_.chunked || head_.expects_continue || head_.length > kUnreadBytesMax;
  }
  bool IsUnread() const { return exists() && !finished_; }
  bool exists() const { return head_.chunked || head_.length > 0; }

 private:
  size_t ReadPiece(std::string& body, size_t max, Connection* state) {
    const size_t before = body.size();
    const size_t wanted =
        head_.chunked ? kReadBytes : std::min<uint64_t>(kReadBytes, head_.length - before);
    body.resize(before + wanted);
    const int got = mg_read(connection_, body.data() + before, wanted);
    body.resize(before + static_cast<size_t>(std::max(got, 0)));
    const ChunkedBody& chunks = ThisExchange().chunks;
    if (chunks.IsTooLarge()) RefuseSize(max);
    if (chunks.HasTooMuchFraming()) RefuseFraming();
    if (got < 0 || (got == 0 && !head_.chunked)) RefuseShort(state);
    if (body.size() > max) RefuseSize(max);
    return static_cast<size_t>(got);
  }

  [[noreturn]] void RefuseSize(size_t max) const {
    Refusal refusal(Problem::kPayloadTooLarge,
                    "The body may have at most " + std::to_string(max) + " bytes here.");
    refusal.close_connection = MustClose();
    throw refusal;
  }

  [[noreturn]] void RefuseFraming() const {
    Refusal refusal(Problem::kPayloadTooLarge, "Chunk extensions and trailers may have at most " +
                                                   std::to_string(kChunkFramingBytesMax) +
                                                   " bytes together.");
    refusal.close_connection = true;
    throw refusal;
  }

  [[noreturn]] void RefuseShort(const Connection* state) const {
    const bool too_slow = state != nullptr && state->deadline_passed;
    Refusal refusal = too_slow
                          ? Refusal(Problem::kRequestTimeout, "The body did not arrive in time.")
                          : Refusal(Problem::kInvalidHeader,
                                    "The body ended early, or its chunks are malformed.");
    refusal.close_connection = true;
    throw refusal;
  }

  mg_connection* connection_;
  const Head& head_;
  Admission& admission_;
  bool begun_ = false;
  bool finished_ = false;
};

// CivetWeb's threads take no signals; those of a fault stay open.
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

// A socket file is for its owner alone from its first moment.
class PrivateFiles {
 public:
  PrivateFiles() : before_(umask(S_IRWXG | S_IRWXO | S_IXUSR)) {}
  PrivateFiles(const PrivateFiles&) = delete;
  PrivateFiles& operator=(const PrivateFiles&) = delete;
  ~PrivateFiles() { umask(before_); }

 private:
  mode_t before_;
};

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
        admission(settings.workers, settings.timeouts, time, registry, listener,
                  settings.heartbeats),
        heads_refused(registry, "comanda_http_heads_refused_total",
                      "Requests refused for their framing, size or host.",
                      "listener=\"" + listener + '"'),
        requests_in_flight(
            registry, "comanda_http_requests_in_flight", "Requests under way.",
            [this] { return static_cast<double>(in_flight.load()); },
            "listener=\"" + listener + '"') {}

  void Start();
  void RequireThreads();
  void Stop(int64_t drain_ms);

  int CheckRequestHead(char* raw, int size, int civetweb_status);
  int Answer(mg_connection* connection);
  void AnswerError(mg_connection* connection, int status, std::string_view text);
  void Send(mg_connection* connection, const Response& response, std::string_view request_id,
            bool close);

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
  std::binary_semaphore accepting{0};  // raised by the thread that does
  std::string start_message;           // what CivetWeb said while it started

 private:
  void RefuseHost() const;
  Response AnswerTo(const Request& request) const;
  void ShowKey();
  Refusal Unavailable() const;
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

// CivetWeb: "cannot bind to 127.0.0.1:8443s: 98 (Address already in use)".
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

void Server::Impl::Start() {
  const bool is_unix = IsUnixSocket(settings.listen);
  const std::string ports = ListeningPorts(settings);
  const std::string workers = std::to_string(settings.workers);
  const std::string head_bytes = std::to_string(kHeadBytesMax);
  const Timeouts& timeouts = settings.timeouts;
  const std::string write_ms = std::to_string(timeouts.write_ms);
  // Admission keeps the deadlines of reading; CivetWeb's must not come first.
  const std::string waiting_ms = std::to_string(timeouts.idle_ms + timeouts.head_ms + 1'000);
  const char* options[] = {"listening_ports",
                           ports.c_str(),
                           "num_threads",
                           workers.c_str(),
                           "connection_queue",
                           workers.c_str(),
                           "listen_backlog",
                           "512",
                           "enable_keep_alive",
                           "yes",
                           "keep_alive_timeout_ms",
                           waiting_ms.c_str(),
                           "request_timeout_ms",
                           write_ms.c_str(),
                           "max_request_size",
                           head_bytes.c_str(),
                           "ssl_certificate",
                           "in memory",
                           "decode_url",
                           "no",
                           "decode_query_string",
                           "no",
                           "enable_directory_listing",
                           "no",
                           "access_control_allow_origin",
                           "",
                           "access_control_allow_methods",
                           "",
                           "access_control_allow_headers",
                           "",
                           nullptr};
  mg_callbacks callbacks{};
  callbacks.init_thread = OnThread;
  callbacks.begin_request = OnRequest;
  callbacks.end_request = OnRequestEnd;
  callbacks.http_error = OnError;
  callbacks.log_message = OnLog;
  std::array<char, 256> error_text{};
  mg_init_data init{&callbacks, this, options};
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
  if (context == nullptr) {
    const std::string said = start_message.empty() ? error_text.data() : start_message;
    throw Fault(Fault::Kind::kInternal,
                "cannot listen on " + settings.listen + ": " + ReasonIn(said) +
                    "; `listen` and `sandbox_listen` name a free address of this machine");
  }
  RequireThreads();
  started = true;
  mg_server_port bound{};
  if (!is_unix && mg_get_server_ports(context, 1, &bound) == 1) port = bound.port;
}

// CivetWeb goes on without the workers that it could not start, and without the thread that
// accepts; then it cannot even be stopped.
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
  // CivetWeb throws away what is written after mg_stop: by now every answer is out.
  admission.EndAll();
  mg_stop(context);
  context = nullptr;
}

void Server::Impl::RefuseHost() const {
  const std::string host = AsciiLower(ThisExchange().head.host);
  // Without one it is HTTP/1.0, which no browser speaks: there is nothing to rebind.
  if (host.empty() || !settings.host_allowed || settings.host_allowed(host)) return;
  throw Refusal(Problem::kMisdirectedRequest,
                "This box does not answer to the host " + host +
                    "; use its own name or address, or add the name to its settings.");
}

int Server::Impl::CheckRequestHead(char* raw, int size, int civetweb_status) {
  Exchange& exchange = ThisExchange();
  exchange = Exchange();
  exchange.text.assign(raw, static_cast<size_t>(size));
  Worker& worker = ThisWorker();
  try {
    if (civetweb_status == 413) throw RefuseUnfinished(exchange.text, Unfinished::kTooLarge);
    if (civetweb_status != 0) {
      const bool has_control = std::ranges::any_of(exchange.text, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && c != '\r' && c != '\n' && c != '\t') || byte == 0x7f;
      });
      if (has_control) throw RefuseUnfinished(exchange.text, Unfinished::kMalformed);
      if (worker.connection != nullptr && worker.connection->deadline_passed) {
        throw RefuseUnfinished(exchange.text, Unfinished::kTimedOut);
      }
      exchange.silent = true;  // the client left, or the connection was told to end
      return 0;
    }
    CheckHead(exchange.text, exchange.head);
    RefuseHost();
    if (worker.connection != nullptr &&
        !worker.admission->Enter(*worker.connection, ConnectionState::kRequest)) {
      exchange.silent = true;  // it was closed as idle in the same moment
      return kSilently;
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
  HideTarget(exchange, raw);
  return 0;
}

Refusal Server::Impl::Unavailable() const {
  Refusal refusal(Problem::kServiceUnavailable, "The box is stopping; try again in a few seconds.");
  refusal.retry_after_s = 5;
  refusal.close_connection = true;
  return refusal;
}

void Server::Impl::ShowKey() {
  if (settings.key_shown) settings.key_shown();
  const Worker& worker = ThisWorker();
  if (worker.connection == nullptr || admission.ShowKey(*worker.connection)) return;
  throw Refusal(Problem::kServiceUnavailable, "The connection was closed; try again.");
}

Response Server::Impl::AnswerTo(const Request& request) const {
  if (admission.refusing()) {
    return ProblemResponse(Unavailable(), settings.errors_base, request.path, request.request_id);
  }
  if (request.path != "*") return handler(request);
  Response response;
  response.status = 204;
  response.headers.emplace_back("Allow", kAllMethods);
  return response;
}

int Server::Impl::Answer(mg_connection* connection) {
  ++in_flight;
  const Exchange& exchange = ThisExchange();
  const Head& head = exchange.head;
  int status = 500;
  try {
    ConnectionBody body(connection, head, admission);
    Request request;
    request.method = head.method;
    request.path = head.path;
    request.query = head.query;
    request.headers = head.headers;
    request.client_address =
        settings.local ? "127.0.0.1"
                       : WithoutMappedPrefix(mg_get_request_info(connection)->remote_addr);
    request.request_id = RequestId(head, clock);
    request.local = settings.local;
    request.body = body.exists() ? &body : nullptr;
    request.show_key = [this] { ShowKey(); };

    const Response response = AnswerTo(request);
    const bool close =
        response.close_connection || !head.keeps_alive || body.MustClose() || admission.refusing();
    Send(connection, response, request.request_id, close);
    if (Worker& worker = ThisWorker(); worker.connection != nullptr && body.IsUnread()) {
      worker.connection->drain_on_close = close;
      admission.Enter(*worker.connection, ConnectionState::kDiscard);
    }
    status = response.status;
  } catch (const std::exception& error) {
    log::Error("answer failed", {{"cause", error.what()}});
    mg_disable_connection_keep_alive(connection);
  }
  ThisExchange() = Exchange();  // an idle worker keeps no API key in memory
  if (--in_flight == 0 && admission.refusing()) {
    const std::lock_guard lock(drain_mutex);
    drained.notify_all();
  }
  return status;
}

void Server::Impl::AnswerError(mg_connection* connection, int status, std::string_view text) {
  const Exchange& exchange = ThisExchange();
  if (exchange.silent) return;
  try {
    const Refusal refusal = exchange.refusal.value_or(
        Refusal(ProblemOf(status), "The request cannot be served: " + std::string(text) + "."));
    const std::string instance(exchange.head.path.empty() ? "/" : exchange.head.path);
    const std::string request_id = RequestId(exchange.head, clock);
    const Response response = ProblemResponse(refusal, settings.errors_base, instance, request_id);
    if (Worker& worker = ThisWorker(); worker.connection != nullptr) {
      worker.connection->drain_on_close = true;
    }
    Send(connection, response, request_id, true);
  } catch (const std::exception& error) {
    log::Error("answer failed", {{"cause", error.what()}});
  }
  ThisExchange() = Exchange();
}

void Server::Impl::Send(mg_connection* connection, const Response& response,
                        std::string_view request_id, bool close) {
  std::string first;
  const bool omit_body = ThisExchange().head.method == Method::kHead;
  const std::string_view rest = AppendResponse(first, response,
                                               {.omit_body = omit_body,
                                                .close = close,
                                                .now = clock.Now(),
                                                .request_id = request_id,
                                                .bytes_max = kRecordBytes});
  if (Worker& worker = ThisWorker(); worker.connection != nullptr) {
    admission.Enter(*worker.connection, ConnectionState::kAnswer);
  }
  const bool sent = WriteAll(connection, first) && WriteAll(connection, rest);
  if (!sent || close) mg_disable_connection_keep_alive(connection);
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

extern "C" int comanda_check_request_head(const mg_connection* connection, char* head, int size,
                                          int civetweb_status) {
  try {
    return comanda::wire::ImplOf(connection).CheckRequestHead(head, size, civetweb_status);
  } catch (const std::bad_alloc&) {  // not even for a refusal
    comanda::wire::ThisExchange().silent = true;
    return comanda::wire::kSilently;
  }
}

extern "C" int comanda_check_chunk(const mg_connection*, unsigned long size) {
  comanda::wire::ChunkedBody& chunks = comanda::wire::ThisExchange().chunks;
  chunks.declared_bytes += size;  // below 2^62 each, and the first one too large ends it
  return chunks.IsTooLarge() ? 1 : 0;
}

extern "C" int comanda_count_framing(const mg_connection*, size_t size) {
  comanda::wire::ChunkedBody& chunks = comanda::wire::ThisExchange().chunks;
  chunks.framing_bytes += size;
  return chunks.HasTooMuchFraming() ? 1 : 0;
}
