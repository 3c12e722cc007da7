// What other programs answer: the first byte picks what. 0: the record of an order in the cloud. 1:
// a refusal of a step by the cloud; the next bytes are the step and the status. 2: the headers that
// say when to come again: lines of RateLimit-Limit, Retry-After and Date. 3: avahi's line. 4: the
// body of any answer.

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <string>

#include "base/address.h"
#include "base/handle.h"
#include "base/id.h"
#include "cloud/orders/cloud_record.h"
#include "outbox/pace.h"
#include "cloud/orders/refusal.h"
#include "fuzz/fuzz.h"
#include "net/backoff.h"
#include "net/call.h"
#include "net/local_names.h"
#include "net/reply.h"

namespace comanda {
namespace {

using fuzz::Must;

constexpr UtcMs kNow = 1'800'000'000'000;

void ReadRecord(std::string_view text) {
  company::Company company;
  company.id = "0192f0a0-0001-7000-8000-000000000001";
  company.currency = "PEN";
  const cloud::RecordContext context = {
      .company = company,
      .platform_there = "plataforma",
      .platform_here = "platform",
      .find_here = [](aliases::Kind, std::string_view) { return std::optional<std::string>(); }};
  try {
    const json::Document document = json::Document::Parse(text);
    const cloud::CloudRecord read = cloud::ReadCloudRecord(document.root(), context);
    Must(!read.cloud_id.empty() && read.cloud_id == cloud::CloudIdOf(document.root()),
         "a record that is read has an id");
    Must(ParseId(read.order.id).has_value(), "an order has a UUID here");
    const orders::Order& order = read.order;
    for (const int64_t amount :
         {order.totals.subtotal, order.totals.total_discounts, order.totals.total,
          order.totals.total_paid, order.totals.total_tips, order.delivery_price}) {
      Must(amount >= 0, "no amount is negative");
    }
    Must(read.combo_ids.size() == order.combos.size() &&
             read.payment_ids.size() == order.payments.size() &&
             read.discount_ids.size() == order.discounts.size(),
         "each row has the id of the cloud, or none");
    const cloud::CloudRecord again =
        cloud::ReadCloudRecord(json::Document::Parse(document.Canonical()).root(), context);
    Must(again.order.id == order.id && again.order.totals.total == order.totals.total,
         "a record and its canonical text mean the same");
  } catch (const cloud::UnreadableRecord& unreadable) {
    Must(!unreadable.why.empty(), "what is not read is said");
  } catch (const Refusal&) {  // no JSON
  }
}

void ReadRefusal(std::string_view text) {
  const auto kind =
      static_cast<cloud::StepKind>(fuzz::TakeByte(text) % cloud::kStepKindNames.size());
  const int status = 400 + fuzz::TakeByte(text) % 100;
  const cloud::Judgement judged = cloud::JudgeRefusal(kind, status, text);
  Must(judged.fields.empty() == (judged.remedy != cloud::Remedy::kLeaveOut),
       "fields are named where they are to be left out");
  const std::string body =
      R"({"client_id": "a", "combos": [{"product_id": "b", "modifiers": []}]})";
  json::Document::Parse(cloud::Without(body, judged.fields));
}

void ReadWaits(std::string_view text) {
  std::array<std::string_view, 3> lines;
  for (std::string_view& line : lines) {
    line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  constexpr int64_t kMaxMs = 24LL * 3600 * 1000;
  const auto wait_ms = net::ReadRetryAfter(lines[1], kNow, kMaxMs);
  Must(!wait_ms || (*wait_ms >= 0 && *wait_ms <= kMaxMs), "a wait is bounded");
  net::Answer answer;
  answer.headers = {{"RateLimit-Limit", std::string(lines[0])},
                    {"Retry-After", std::string(lines[1])},
                    {"Date", std::string(lines[2])}};
  constexpr int64_t kTenYearsMs = 10LL * 366 * 24 * 3600 * 1000;
  const auto skew_ms = answer.ClockSkewMs(kNow);
  Must(!skew_ms || (*skew_ms > -kTenYearsMs && *skew_ms < kTenYearsMs), "no clock is that wrong");
  for (const int status : {200, 429, 503}) {
    answer.status = status;
    outbox::Pace pace(80);
    for (int64_t now_ms = 0; now_ms < 3; ++now_ms) {
      pace.Learn(answer, now_ms, kNow);
      pace.Count(now_ms);
    }
    Must(pace.PerMinute() > 0, "some requests may always be sent");
    const int64_t due_ms = pace.DueInMs(3);
    Must(due_ms >= 0 && due_ms <= outbox::kRetryAfterMsMax + 3 * 60'000, "nobody waits for ever");
  }
}

// Answers the one question of a query.
class Avahi {
 public:
  Avahi() {
    path_ = (std::filesystem::temp_directory_path() / ("fuzz-avahi-" + std::to_string(::getpid())))
                .string();
    ::unlink(path_.c_str());
    sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
    std::memcpy(address.sun_path, path_.c_str(), path_.size() + 1);
    listening_ = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    Must(::bind(listening_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
             ::listen(listening_.get(), 1) == 0,
         "a socket can be made");
  }
  ~Avahi() { ::unlink(path_.c_str()); }

  void Answer(std::string_view text) const {
    net::AvahiQuery query({.avahi_socket = path_}, "box.local");
    {
      const Fd asked(::accept(listening_.get(), nullptr, nullptr));
      Must(::send(asked.get(), text.data(), text.size(), MSG_NOSIGNAL) >= 0, "it can be answered");
    }
    while (!query.Continue()) continue;
    Must(query.address().empty() != query.error().empty(), "there is an address, or why not");
    Must(query.address().empty() || ParseAddress(query.address()), "an address is numeric");
  }

 private:
  std::string path_;
  Fd listening_;
};

void ReadAvahi(std::string_view text) {
  static const Avahi avahi;
  avahi.Answer(text);
}

void ReadReply(std::string_view text) {
  net::Answer answer;
  answer.status = 422;
  answer.body = std::string(text);
  const net::Reply reply(std::move(answer));
  for (const char* path : {"data.0.id", "data.last.id", "pagination.has_more", "errors.0.field"}) {
    Must(net::Shown(reply.Find(path)).find('\n') == std::string::npos, "a report has no controls");
  }
  Must(!reply.Described().empty(), "an answer is described");
  reply.Code();
  for (const json::Value& row : reply.Items("data")) cloud::CloudIdOf(row);
}

constexpr void (*kReaders[])(std::string_view) = {ReadRecord, ReadRefusal, ReadWaits, ReadAvahi,
                                                  ReadReply};

}  // namespace
}  // namespace comanda

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  comanda::fuzz::ReadBy(comanda::kReaders, comanda::fuzz::TextOf(data, size));
  return 0;
}
