#include "commands/control.h"

#include <unistd.h>

#include <cerrno>

#include "app/environment.h"
#include "app/storage.h"
#include "app/instance.h"
#include "base/file.h"
#include "base/problem.h"
#include "base/text.h"
#include "commands/commands.h"
#include "commands/terminal.h"
#include "db/lock.h"
#include "db/read_only.h"
#include "json/reader.h"
#include "net/network.h"
#include "ops/systemd.h"
#include "wire/exchange.h"

namespace comanda::commands {
namespace {

// Importing a large menu takes this long on a slow disk.
constexpr int64_t kControlTimeoutMs = 120'000;

std::string SocketOf(const config::Options& options, auth::Mode mode) {
  return options.data_directory +
         (mode == auth::Mode::kLive ? "/control.sock" : "/control-test.sock");
}

net::Answer Send(const std::string& socket, const ControlCall& call, int64_t timeout_ms) {
  net::Call request{.method = call.method,
                    .url = "http://localhost" + call.path,
                    .unix_socket = socket,
                    .headers = {"Content-Type: application/json"},
                    .body = call.body,
                    .timeout_ms = timeout_ms};
  if (!call.company_uuid.empty()) request.headers.push_back("X-Company-Id: " + call.company_uuid);

  metrics::Registry metrics;
  Heartbeats heartbeats(SystemClock());
  net::Network network(heartbeats, metrics);
  return network.Send(std::move(request));
}

ControlAnswer CallInProcess(const config::Options& options, const ControlCall& call,
                            bool owns_directory);

// A server that began on a read-only disk has no control socket, because it could not make one.
// What only reads is answered from the files, which nobody can change.
ControlAnswer CallBesideReadOnly(const config::Options& options, const ControlCall& call) {
  if (call.method == "GET") return CallInProcess(options, call, false);
  throw Fault(Fault::Kind::kDiskReadOnly,
              "The disk of " + options.data_directory +
                  " is read-only: nothing can be written. `comanda doctor` says what to do.");
}

ControlAnswer CallDaemon(const config::Options& options, const ControlCall& call) {
  const std::string socket = SocketOf(options, call.mode);
  net::Answer answer = Send(socket, call, kControlTimeoutMs);
  if (answer.outcome != net::Outcome::kAnswered &&
      db::DirectoryIsReadOnly(options.data_directory)) {
    return CallBesideReadOnly(options, call);
  }
  if (answer.outcome != net::Outcome::kAnswered) {
    throw Fault(Fault::Kind::kUnavailable,
                "Another process holds " + options.data_directory + " but does not answer on " +
                    socket + " (" + answer.error +
                    "). Run this as the user of the service or as root; if the service is " +
                    "starting or stopping, try again in a few seconds.");
  }
  return {.status = answer.status, .body = std::move(answer.body)};
}

ControlAnswer CallInProcess(const config::Options& options, const ControlCall& call,
                            bool owns_directory) {
  metrics::Registry metrics;
  Heartbeats heartbeats(SystemClock());
  db::DiskSpace space(app::SpaceOf(options), metrics);
  http::AnswerBudget answer_budget;
  app::Instance instance(
      {.options = options,
       .clock = SystemClock(),
       .space = space,
       .answer_budget = answer_budget,
       .heartbeats = heartbeats,
       .metrics = metrics},
      {.mode = call.mode, .upgrading = ops::NotifyUpgrading, .owns_directory = owns_directory});

  wire::InProcessExchange exchange(call.body);
  wire::Request& request = exchange.request;
  request.method = wire::FindMethod(call.method).value();
  const size_t question = call.path.find('?');
  request.path = call.path.substr(0, question);
  if (question != std::string::npos) request.query = call.path.substr(question + 1);
  if (!call.company_uuid.empty()) request.headers.emplace_back("X-Company-Id", call.company_uuid);
  request.client_address = "127.0.0.1";
  request.request_id = "local";
  request.local = true;

  instance.dispatcher().Handle(exchange);
  return {.status = exchange.response.status, .body = exchange.response.Body()};
}

}  // namespace

ControlAnswer CallControl(const config::Options& options, const ControlCall& call) {
  if (call.may_begin) {
    MakeDirectories(options.data_directory, 0700);
  } else {
    RequireDatabase(call.mode, options);
  }
  const auto lock = db::DirectoryLock::TryAcquire(options.data_directory);
  return lock ? CallInProcess(options, call, true) : CallDaemon(options, call);
}

std::optional<ControlAnswer> AskServer(const config::Options& options, const std::string& path,
                                       int64_t timeout_ms, std::string& trouble) {
  return AskServer(options, {.method = "GET", .path = path, .company_uuid = "", .body = ""},
                   timeout_ms, trouble);
}

std::optional<ControlAnswer> AskServer(const config::Options& options, const ControlCall& call,
                                       int64_t timeout_ms, std::string& trouble) {
  net::Answer answer = Send(SocketOf(options, call.mode), call, timeout_ms);
  if (answer.outcome == net::Outcome::kAnswered) {
    return ControlAnswer{.status = answer.status, .body = std::move(answer.body)};
  }
  trouble = answer.error;
  return std::nullopt;
}

void RequireDatabase(auth::Mode mode, const config::Options& options) {
  if (!app::DatabaseIsThere(mode, options)) RequireDatabase(app::DatabasePath(mode, options));
}

void RequireDatabase(const std::string& path) {
  if (::access(path.c_str(), F_OK) == 0 || errno != ENOENT) return;
  throw Refusal(Problem::kNotFound,
                "there is no " + path +
                    " yet: name the right directory with --data, or bring a restaurant in with "
                    "`comanda import`");
}

config::Options ReadControlOptions(const Arguments& arguments) {
  std::map<std::string, std::string> settings;
  if (const auto data = arguments.Find("data")) settings["data"] = *data;
  return config::Load(settings);
}

auth::Mode ReadMode(const Arguments& arguments) {
  const std::string environment = arguments.Find("env").value_or("live");
  if (environment == "live") return auth::Mode::kLive;
  if (environment == "test") return auth::Mode::kTest;
  throw Refusal(Problem::kInvalidParameter, "--env is live or test, not '" + environment + "'");
}

namespace {

// The problem document of an answer, read back.
Refusal RefusalOf(std::string_view problem_json) {
  Refusal refusal(Problem::kValidationFailed, "refused without a reason");
  try {
    const json::Document document = json::Document::Parse(problem_json);
    const json::Value root = document.root();
    if (const auto detail = root.Find("detail")) refusal.detail = detail->text();
    const auto errors = root.Find("errors");
    if (!errors) return refusal;
    for (const json::Value& error : errors->items()) {
      refusal.errors.push_back({std::string(error.Find("field")->text()), FieldCode::kNotAllowed,
                                std::string(error.Find("message")->text())});
    }
  } catch (const Refusal&) {
    refusal.detail = problem_json;
  }
  return refusal;
}

}  // namespace

ControlAnswer CallControl(const Arguments& arguments, std::string method, std::string path,
                          std::string body) {
  return CallControl(ReadControlOptions(arguments),
                     {.mode = ReadMode(arguments),
                      .method = std::move(method),
                      .path = std::move(path),
                      .company_uuid = arguments.Find("company").value_or(""),
                      .body = std::move(body)});
}

int Refused(const ControlAnswer& answer) {
  PrintError(DescribeProblem(answer.body));
  return kExitRefused;
}

std::string DescribeProblem(std::string_view problem_json) {
  return Describe(RefusalOf(problem_json));
}

ControlAnswer CallControlOrRefuse(const config::Options& options, const ControlCall& call) {
  ControlAnswer answer = CallControl(options, call);
  if (answer.status >= 300) throw RefusalOf(answer.body);
  return answer;
}

}  // namespace comanda::commands
