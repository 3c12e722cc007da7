// A file that describes a delivery app, and an answer that its rules judge: the file up to the
// first NUL, the answer after it.

#include "delivery/provider_file.h"
#include "delivery/status/rules.h"
#include "fuzz/fuzz.h"
#include "wire/percent.h"

namespace comanda {
namespace {

using fuzz::Must;

void Judge(const delivery::Provider& provider, std::string_view answer) {
  const delivery::Variables variables = {{"store_id", "900"}, {"token", "t/k\"n"}};
  try {
    const json::Document document = json::Document::Parse(answer);
    const delivery::Judging judging = {.variables = variables, .now = 1'800'000'000'000};
    const delivery::Meaning meaning =
        delivery::Decide(provider.status->rules, document.root(), judging);
    Must(meaning.status != delivery::StoreStatus::kUnknown ||
             meaning.reason != delivery::Reason::kNone,
         "UNKNOWN has a reason");
  } catch (const Refusal&) {
  }
  const std::string url =
      delivery::Expand(provider.status->call.url, variables, wire::PercentEncoded);
  Must(url.starts_with("https://"), "a call is encrypted");
}

}  // namespace
}  // namespace comanda

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace comanda;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t end = std::min(input.find('\0'), input.size());
  const std::string_view file = input.substr(0, end);
  try {
    for (const delivery::Provider& provider : delivery::ReadProviders(file)) {
      if (provider.status) Judge(provider, input.substr(std::min(end + 1, input.size())));
    }
  } catch (const Refusal& refusal) {
    fuzz::Must(
        !delivery::DescribeMistakes(file.size() > delivery::kFileBytesMax ? "{}" : file, refusal)
             .empty(),
        "a refusal says why");
  }
  return 0;
}
