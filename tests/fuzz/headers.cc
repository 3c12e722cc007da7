// Small readers of what stands in headers, paths and filters: the first byte picks one.

#include <algorithm>
#include <array>

#include "base/address.h"
#include "auth/gate.h"
#include "auth/key.h"
#include "base/time/clock.h"
#include "base/gzip.h"
#include "base/id.h"
#include "events/cursor.h"
#include "fuzz/fuzz.h"
#include "wire/coding.h"
#include "http/idempotency.h"
#include "http/long_polls.h"
#include "wire/percent.h"
#include "http/tags.h"
#include "support/fake_clock.h"

namespace comanda {
namespace {

using fuzz::Must;

void ReadCursor(std::string_view text) {
  if (const auto cursor = events::Decode(text)) {
    Must(events::Encode(*cursor) == text, "a cursor has one spelling");
    Must(cursor->epoch >= 0 && cursor->seq >= 0, "a cursor counts from 0");
  }
}

void ReadTags(std::string_view text) {
  const auto list = http::ReadTags(text);
  if (!list) return;
  Must(list->any != !list->tags.empty(), "a list of tags has some, or is *");
  std::string written;
  for (const http::Tag& tag : list->tags) {
    if (!written.empty()) written += ", ";
    written += (tag.weak ? "W/\"" : "\"") + std::string(tag.opaque) + '"';
  }
  if (list->any) return;
  const auto again = http::ReadTags(written);
  Must(again && again->tags.size() == list->tags.size(), "tags that are written are the same");
  for (size_t i = 0; i < list->tags.size(); ++i) {
    Must(again->tags[i].opaque == list->tags[i].opaque && again->tags[i].weak == list->tags[i].weak,
         "a tag that is written is the same");
  }
}

void ReadWait(std::string_view text) {
  if (const auto seconds = http::ReadWait(text)) {
    Must(*seconds >= 0 && *seconds <= 30, "nobody waits for longer than 30 s");
  }
}

void ReadCredentials(std::string_view text) {
  static const testing::FakeClock clock;
  static auth::KeyTable nobody;
  auth::Gate gate({}, nobody, clock);
  const size_t middle = text.find('\n');
  auth::Credentials credentials{.authorization = text.substr(0, middle), .api_key = {}};
  if (middle != std::string_view::npos) credentials.api_key = text.substr(middle + 1);
  static_cast<void>(auth::ModeOfKey(text));
  try {
    gate.Identify(credentials, "10.0.0.9");
    Must(false, "where there are no keys, nobody comes in");
  } catch (const Refusal& refusal) {
    fuzz::CheckRefusal(refusal);
  }
}

void ReadAddress(std::string_view text) {
  const auto address = ParseAddress(text);
  const auto range = AddressRange::Parse(text);
  const bool has_zone = text.find('%') != std::string_view::npos;
  if (address && !has_zone)
    Must(range && range->Contains(*address), "an address is a range of one");
  if (range && !address) Must(text.find('/') != std::string_view::npos, "a range has a slash");
  static_cast<void>(ClientOf(text));
}

void ReadTimes(std::string_view text) {
  if (const auto instant = ParseInstant(text)) {
    Must(ParseInstant(FormatInstant(*instant)) == instant || *instant < 0 ||
             *instant >= 253'402'300'800'000,
         "an instant that is written is the same");
  }
  if (const auto day = ParseDay(text)) {
    Must(FormatDay(*day) == text, "a day has one spelling");
    Must(PreviousDay(NextDay(*day)) == *day, "the day before the next day is the day");
  }
}

void ReadText(std::string_view text) {
  static_cast<void>(LooksLikeCardNumber(text));
  if (!IsUtf8(text)) return;
  Must(IsUtf8(Folded(text)) && Folded(Folded(text)) == Folded(text), "folding once is enough");
  Must(CharacterCount(text) <= text.size(), "a character has a byte");
  const std::string unix_lines = WithUnixLines(text);
  Must(unix_lines.find('\r') == std::string::npos || HasForbiddenControl(unix_lines),
       "a CR that stays is refused");
  Must(std::ranges::count(unix_lines, '\n') == std::ranges::count(text, '\n'),
       "a line end stays a line end");
  Must(unix_lines.size() <= text.size(), "a text grows by nothing");
}

void ReadId(std::string_view text) {
  if (const auto id = ParseId(text)) {
    Must(id->size() == 36 && *id == AsciiLower(text), "an id is the text in lower case");
    Must(ParseId(*id) == id, "an id is one");
  }
}

void ReadEscapes(std::string_view text) {
  for (const auto plus : {wire::PlusSign::kItself, wire::PlusSign::kBlank}) {
    const auto decoded = wire::PercentDecoded(text, plus);
    if (!decoded) continue;
    Must(IsUtf8(*decoded), "an escape is text");
    Must(decoded->find('\0') == std::string::npos, "a text has no NUL");
    Must(decoded->size() <= text.size(), "an escape makes nothing longer");
  }
}

void ReadIdempotencyKey(std::string_view text) {
  wire::Request request;
  for (size_t rest = 0; rest <= text.size();) {
    const size_t end = std::min(text.find('\n', rest), text.size());
    request.headers.emplace_back("idempotency-KEY", text.substr(rest, end - rest));
    rest = end + 1;
  }
  try {
    const auto key = http::idempotency::ReadKey(request);
    Must(key && request.headers.size() == 1 && *key == text, "a key is taken literally");
    Must(!key->empty() && key->size() <= 255, "a key has its bounds");
  } catch (const Refusal& refusal) {
    fuzz::CheckRefusal(refusal);
  }
}

void ReadCoding(std::string_view text) {
  if (wire::PrefersGzip(text)) {
    const std::string lower = AsciiLower(text);
    Must(lower.find("gzip") != std::string::npos || lower.find('*') != std::string::npos,
         "gzip is for who names it");
  }
  const std::string file = Gzip(text);
  Must(Gunzip({reinterpret_cast<const uint8_t*>(file.data()), file.size()}) == text,
       "what is compressed is the same");
}

constexpr std::array kReaders = {ReadCursor,  ReadTags,           ReadWait,  ReadCredentials,
                                 ReadAddress, ReadTimes,          ReadText,  ReadId,
                                 ReadEscapes, ReadIdempotencyKey, ReadCoding};

}  // namespace
}  // namespace comanda

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace comanda;
  std::string_view input = fuzz::TextOf(data, size);
  kReaders[fuzz::TakeByte(input) % kReaders.size()](input);
  return 0;
}
