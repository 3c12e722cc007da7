// The JSON reader against a second opinion, and back through the writer.

#include "json/reader.h"

#include "base/decimal.h"
#include "fuzz/fuzz.h"
#include "fuzz/json_oracle.h"
#include "json/writer.h"

namespace comanda::json {
namespace {

using fuzz::Must;

void CheckNumber(std::string_view text) {
  const std::optional<Decimal> decimal = ParseDecimal(text);
  const std::string canonical = CanonicalNumber(text);
  Must(CanonicalNumber(canonical) == canonical, "a canonical number stays as it is");
  if (!decimal) {
    Must(canonical == text, "a number that is too large stays as it is");
    return;
  }
  Must(ParseDecimal(canonical) == decimal, "a canonical number is the same number");
  Must(decimal->scale >= 0 && (decimal->scale == 0 || decimal->coefficient % 10 != 0),
       "a decimal has no zeros behind");
  for (const int decimals : {0, 2, 3, 4}) {
    const std::optional<int64_t> units = Scaled(*decimal, decimals);
    if (decimal->scale > decimals) Must(!units, "nothing is rounded");
    if (!units) continue;
    std::string written;
    AppendScaled(written, *units, decimals);
    Must(ParseDecimal(written) == decimal, "an amount that is written is the same amount");
  }
}

void Write(Writer& out, Value value) {
  switch (value.kind()) {
    case Kind::kNull:
      out.Null();
      return;
    case Kind::kBoolean:
      out.Boolean(value.boolean());
      return;
    case Kind::kNumber:
      CheckNumber(value.number_text());
      out.Raw(value.number_text());
      return;
    case Kind::kText:
      Must(IsUtf8(value.text()) && value.text().find('\0') == std::string_view::npos,
           "a text is text");
      out.Text(value.text());
      return;
    case Kind::kArray:
      out.BeginArray();
      for (const Value item : value.items()) Write(out, item);
      out.EndArray();
      return;
    case Kind::kObject:
      out.BeginObject();
      for (const auto& [name, member] : value.members()) {
        Must(value.Find(name).has_value(), "a member is found by its name");
        Must(member.offset() > value.offset(), "a member stands inside");
        out.KeyOf(name);
        Write(out, member);
      }
      out.EndObject();
      return;
  }
}

void CheckRead(const Document& document) {
  std::string written;
  Writer writer(written);
  Write(writer, document.root());
  const std::string canonical = document.Canonical();
  Must(fuzz::JsonOracle(written).Accepts(), "what is written is strict JSON");
  // A canonical number may be longer than the one that was read: 1e17.
  const Document again = Document::Parse(written);
  Must(again.Canonical() == canonical, "what is written says the same");
  const Document canonical_again = Document::Parse(canonical);
  Must(canonical_again.Canonical() == canonical, "a canonical text stays as it is");
}

}  // namespace
}  // namespace comanda::json

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace comanda;
  const std::string_view text = fuzz::TextOf(data, size);
  const bool expected = fuzz::JsonOracle(text).Accepts();
  try {
    const json::Document document = json::Document::Parse(text);
    fuzz::Must(expected, "accepted, and not strict JSON");
    json::CheckRead(document);
  } catch (const Refusal& refusal) {
    fuzz::CheckRefusal(refusal);
    fuzz::Must(refusal.problem == Problem::kInvalidJson, "a text that is no JSON is invalid_json");
    fuzz::Must(!expected, "refused, and yet strict JSON: " + refusal.detail);
  }
  return 0;
}
