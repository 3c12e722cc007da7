#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/concat.h"
#include "base/problem.h"
#include "base/text.h"
#include "commands/answer_values.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/control.h"
#include "commands/embedded.h"
#include "commands/terminal.h"
#include "json/reader.h"
#include "json/writer.h"
#include "net/network.h"
#include "webhooks/pin.h"

namespace comanda::commands {
namespace {

constexpr std::array kVerbs = {Verb{"list", 0},   Verb{"add", 1},    Verb{"show", 1},
                               Verb{"test", 1},   Verb{"log", 1},    Verb{"redeliver", 2},
                               Verb{"pause", 1},  Verb{"resume", 1}, Verb{"rotate", 1},
                               Verb{"remove", 1}, Verb{"pin", 1}};

constexpr std::array kFlags = {
    kDataFlag,
    Flag{"env", "live|test", "webhooks of the live address (default) or of the sandbox"},
    kCompanyFlag,
    Flag{"events", "K,K…|*", "add: the kinds of messages; without it every one of an order"},
    Flag{"pin", "PIN", "add: the public key that the receiver has to have, as `pin` prints it"},
    Flag{"skip", "", "resume: without what happened meanwhile"},
    Flag{"now", "", "rotate: the old secret ends at once, because it leaked"},
    kJsonFlag,
    kHelpFlag,
};

constexpr std::string_view kPath = "/v1/webhooks";

ControlAnswer Call(const Arguments& arguments, std::string method, std::string_view path,
                   std::string body = {}) {
  return CallControl(arguments, std::move(method), Concat({kPath, path}), std::move(body));
}

std::string StateOf(const json::Value& webhook) {
  if (Field(webhook, "suspended_at") != "-") {
    return "suspended (" + Field(webhook, "suspended_reason") + ")";
  }
  if (!IsTrue(webhook, "is_active")) return "paused";
  return Field(webhook, "consecutive_failures") == "0" ? "active" : "failing";
}

std::string RowOf(const json::Value& webhook) {
  return Field(webhook, "id") + "  " + StateOf(webhook) + "  behind " + Field(webhook, "backlog") +
         "  lost " + Field(webhook, "events_lost") + "  " + Field(webhook, "webhook_url") + "\n";
}

std::string RowOfDelivery(const json::Value& delivery) {
  std::string row = Field(delivery, "id") + "  " + Field(delivery, "created_at") + "  " +
                    Field(delivery, "event_type") + "  " + Field(delivery, "state");
  const auto attempts = delivery.Find("attempts");
  if (!attempts || attempts->items().empty()) return row + "\n";
  const json::Value last = attempts->items().back();
  row += "  " + Field(last, "outcome") + "  " + Field(last, "status") + "  " +
         Field(last, "duration_ms") + " ms\n";
  const bool is_redirect = Field(last, "status").starts_with('3');
  if (is_redirect && Field(last, "outcome") == "refused_status") {
    row +=
        "  redirects are not followed: give the webhook the address to which it leads, or, if the "
        "receiver has\n  taken the message, name " +
        Field(last, "status") + " in its ack_http_codes\n";
  }
  return row;
}

// Prints the record of an answer; a secret, where it is there, in a line of its own.
int Tell(const Arguments& arguments, const ControlAnswer& answer, std::string_view done,
         std::string (*row)(const json::Value&) = RowOf) {
  if (answer.status >= 300) {
    PrintError(DescribeProblem(answer.body));
    return kExitRefused;
  }
  if (arguments.Has("json")) {
    Print(answer.body + "\n");
    return kExitDone;
  }
  const json::Document document = json::Document::Parse(answer.body);
  const json::Value data = *document.root().Find("data");
  if (!done.empty()) Print(std::string(done) + "\n");
  if (data.kind() == json::Kind::kObject) {
    Print(row(data));
    const std::string secret = Field(data, "secret");
    if (secret != "-") {
      Print("secret  " + secret + "\n\nKeep the secret now: it is not shown again.\n");
    }
    return kExitDone;
  }
  for (const json::Value& one : data.items()) Print(row(one));
  return kExitDone;
}

// To stderr, so that the list stays what it is for scripts.
void TellHold(const Arguments& arguments) {
  const ControlAnswer answer =
      CallControl(ReadControlOptions(arguments),
                  {.mode = ReadMode(arguments), .method = "GET", .path = "/readyz"});
  const json::Document document = json::Document::Parse(answer.body);
  const auto checks = document.root().Find("checks");
  const auto hold = checks ? checks->Find("outgoing") : std::nullopt;
  if (hold) PrintError("webhooks are " + Field(*hold, "state"));
}

std::string PathOf(const Arguments& arguments) {
  const std::string& id = arguments.Word(1, "webhook's id: comanda webhooks list", "webhooks");
  return "/" + id;
}

int Add(const Arguments& arguments) {
  std::string body;
  json::Writer out(body);
  out.BeginObject().Key("webhook_url").Text(arguments.Word(1, "URL", "webhooks"));
  if (const auto events = arguments.Find("events")) {
    out.Key("events").BeginArray();
    std::string_view rest = *events;
    while (!rest.empty()) out.Text(TakePiece(rest, ','));
    out.EndArray();
  }
  if (const auto pin = arguments.Find("pin")) out.Key("public_key_pin").Text(*pin);
  out.EndObject();
  return Tell(arguments, Call(arguments, "POST", "", body), "added");
}

int Redeliver(const Arguments& arguments) {
  const std::string& which =
      arguments.Word(2, "delivery's id, or dead for all that are", "webhooks");
  const std::string path = PathOf(arguments) + "/deliveries/";
  if (which != "dead") {
    return Tell(arguments, Call(arguments, "POST", path + which + "/redeliver", "{}"), "queued",
                RowOfDelivery);
  }
  const auto queued = [](const json::Value& data) { return Field(data, "queued") + " queued\n"; };
  return Tell(arguments, Call(arguments, "POST", path + "redeliver", R"({"state":"dead"})"), "",
              queued);
}

// Pinning

std::string AsJson(const std::string& url, const webhooks::Answering& found) {
  const crypto::CertificateInfo& certificate = found.certificate;
  std::string text;
  json::Writer out(text);
  const auto texts = [&](const std::vector<std::string>& list) {
    out.BeginArray();
    for (const std::string& one : list) out.Text(Visible(one));
    out.EndArray();
  };
  out.BeginObject();
  out.Key("webhook_url").Text(url);
  out.Key("public_key_pin").Text(certificate.public_key_pin);
  out.Key("subject").Text(Visible(certificate.subject));
  out.Key("issuer").Text(Visible(certificate.issuer));
  out.Key("dns_names");
  texts(certificate.dns_names);
  out.Key("addresses");
  texts(certificate.addresses);
  out.Key("not_before").Instant(certificate.validity.not_before);
  out.Key("not_after").Instant(certificate.validity.not_after);
  out.Key("fingerprint_sha256").Text(certificate.fingerprint_sha256);
  out.Key("address").Text(found.address);
  out.Key("tls_version").Text(found.tls_version);
  out.EndObject();
  return text + "\n";
}

std::string AsText(const webhooks::Answering& found) {
  const crypto::CertificateInfo& certificate = found.certificate;
  std::string names;
  for (const auto* list : {&certificate.dns_names, &certificate.addresses}) {
    for (const std::string& name : *list) names += (names.empty() ? "" : ", ") + Visible(name);
  }
  const auto day = [](UtcMs at) { return FormatInstant(at).substr(0, 10); };
  return Concat({"pin      ",
                 certificate.public_key_pin,
                 "\nsubject  ",
                 Visible(certificate.subject),
                 "\nissuer   ",
                 Visible(certificate.issuer),
                 "\nnames    ",
                 names.empty() ? "-" : names,
                 "\nvalid    ",
                 day(certificate.validity.not_before),
                 " to ",
                 day(certificate.validity.not_after),
                 "\nsha256   ",
                 certificate.fingerprint_sha256,
                 "\naddress  ",
                 found.address,
                 ", ",
                 found.tls_version,
                 "\n\nNothing of this is verified. Compare sha256 at the receiver:\n"
                 "  openssl x509 -in ITS.crt -noout -fingerprint -sha256\n"
                 "Where it is the same, the pin is set with\n"
                 "  comanda webhooks add URL --pin ",
                 certificate.public_key_pin,
                 "\n  PATCH /v1/webhooks/ID {\"public_key_pin\": \"",
                 certificate.public_key_pin,
                 "\"}\n"});
}

int Pin(const Arguments& arguments) {
  const std::string& url = arguments.Word(1, "URL", "webhooks");
  const config::Options options = ReadControlOptions(arguments);
  metrics::Registry metrics;
  Heartbeats heartbeats(SystemClock());
  net::Network network(heartbeats, metrics);
  const webhooks::Answering found =
      webhooks::Look(network, webhooks::LookAtMachine(options.webhook_networks), url);
  Print(arguments.Has("json") ? AsJson(url, found) : AsText(found));
  return kExitDone;
}

}  // namespace

int Webhooks(Words words) {
  const std::optional<Arguments> read = ReadArguments(words, kFlags, WebhooksHelp());
  if (!read) return kExitDone;
  const Arguments& arguments = *read;
  const std::string_view verb = ReadVerb(arguments, kVerbs, "webhooks");
  const auto change = [&](std::string body, std::string_view done) {
    return Tell(arguments, Call(arguments, "PATCH", PathOf(arguments), std::move(body)), done);
  };
  if (verb == "list") {
    TellHold(arguments);
    return Tell(arguments, Call(arguments, "GET", "?per_page=100"), "");
  }
  if (verb == "add") return Add(arguments);
  if (verb == "show") return Tell(arguments, Call(arguments, "GET", PathOf(arguments)), "");
  if (verb == "test") {
    return Tell(arguments, Call(arguments, "POST", PathOf(arguments) + "/test", "{}"), "",
                RowOfDelivery);
  }
  if (verb == "log") {
    return Tell(arguments, Call(arguments, "GET", PathOf(arguments) + "/deliveries?per_page=100"),
                "", RowOfDelivery);
  }
  if (verb == "redeliver") return Redeliver(arguments);
  if (verb == "pause") return change(R"({"is_active":false})", "paused");
  if (verb == "resume") {
    return change(arguments.Has("skip") ? R"({"is_active":true,"skip_backlog":true})"
                                        : R"({"is_active":true})",
                  "resumed");
  }
  if (verb == "rotate") {
    return change(arguments.Has("now") ? R"({"rotate_secret":true,"grace_seconds":0})"
                                       : R"({"rotate_secret":true})",
                  "rotated");
  }
  if (verb == "pin") return Pin(arguments);
  return Tell(arguments, Call(arguments, "DELETE", PathOf(arguments)), "removed");
}

}  // namespace comanda::commands
