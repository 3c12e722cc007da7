#include "wire/coding.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/gzip.h"
#include "base/text.h"

namespace comanda::wire {
namespace {

constexpr int kWeightMax = 1'000;

// The weight "q=0.5" in thousandths; 1,000 for an empty parameter, 0 for any other one.
int ReadWeight(std::string_view parameter) {
  constexpr size_t kSizeMax = 5;  // 0.123
  if (parameter.empty()) return kWeightMax;
  if (!parameter.starts_with("q=") && !parameter.starts_with("Q=")) return 0;
  const std::string_view number = parameter.substr(2);
  if (number.empty() || number.size() > kSizeMax) return 0;
  if (number[0] != '0' && number[0] != '1') return 0;
  if (number.size() > 1 && number[1] != '.') return 0;
  int weight = (number[0] - '0') * kWeightMax;
  int place = kWeightMax / 10;
  for (const char digit : number.substr(std::min<size_t>(2, number.size()))) {
    if (digit < '0' || digit > '9') return 0;
    weight += (digit - '0') * place;
    place /= 10;
  }
  return weight <= kWeightMax ? weight : 0;
}

}  // namespace

bool PrefersGzip(std::string_view accept_encoding) {
  std::optional<int> gzip, identity, others;
  while (!accept_encoding.empty()) {
    std::string_view member = TakePiece(accept_encoding, ',');
    const std::string coding = AsciiLower(TakePiece(member, ';'));
    const int weight = ReadWeight(Trimmed(member));
    if (coding == "gzip" || coding == "x-gzip") gzip = weight;
    if (coding == "identity") identity = weight;
    if (coding == "*") others = weight;
  }
  const int wish = gzip.value_or(others.value_or(0));
  return wish > 0 && wish >= identity.value_or(0);
}

void Compress(Response& response) {
  CHECK(response.etag.empty() || response.etag.starts_with("W/"), "two forms share no strong tag");
  response.body = Gzip(response.Body());
  response.shared_body.reset();
  response.gzipped = true;
}

}  // namespace comanda::wire
