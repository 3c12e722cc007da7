#include "json/reader.h"

#include <cjson/cJSON.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <new>
#include <random>
#include <string>
#include <vector>

namespace comanda::json {
namespace {

// The detail of the refusal, or "accepted".
std::string RefusalOf(const std::string& text) {
  try {
    Document::Parse(text);
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.problem, Problem::kInvalidJson);
    return refusal.detail;
  }
  return "accepted";
}

std::string CanonicalOf(const std::string& text) { return Document::Parse(text).Canonical(); }

bool Says(const std::string& detail, const std::string& part) {
  return detail.find(part) != std::string::npos;
}

std::string Nested(int depth) {
  return std::string(static_cast<size_t>(depth), '[') +
         std::string(static_cast<size_t>(depth), ']');
}

// Reads one object with a function and gives the errors that it noted.
template <typename Read>
std::vector<FieldError> ErrorsOf(const std::string& text, Read read,
                                 UnknownFields unknown = UnknownFields::kRefused) {
  const Document document = Document::Parse(text);
  Errors errors;
  ObjectReader reader(document.root(), "", errors, unknown);
  read(reader);
  try {
    errors.ThrowIfAny();
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.problem, Problem::kValidationFailed);
    return refusal.errors;
  }
  return {};
}

// The single error of a field named f, as "code: message".
template <typename Read>
std::string ErrorOf(const std::string& value, Read read) {
  const auto errors = ErrorsOf("{\"f\":" + value + "}", read);
  if (errors.empty()) return "none";
  EXPECT_EQ(errors.size(), 1u);
  return std::string(Name(errors.front().code)) + ": " + errors.front().message;
}

std::string NumberError(const std::string& value, NumberRule rule) {
  return ErrorOf(value, [&](ObjectReader& reader) { reader.Number("f", rule); });
}

std::string MoneyError(const std::string& value, bool positive = false) {
  return ErrorOf(value, [&](ObjectReader& reader) { reader.Money("f", 2, positive); });
}

std::string TextErrorOf(const std::string& value, TextRule rule = {}) {
  return ErrorOf(value, [&](ObjectReader& reader) { reader.Text("f", rule); });
}

// The scanner

TEST(JsonReader, ReadsEveryKindOfValue) {
  const Document document = Document::Parse(
      R"( {"a":[1,-2.50e+1,"x\u00e9\ud83c\udf2e\n"],"b":{"c":null},"d":true,"e":false} )");

  const Value root = document.root();
  const std::vector<Value> items = root.Find("a")->items();
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[0].number_text(), "1");
  EXPECT_EQ(items[1].number_text(), "-2.50e+1");
  EXPECT_EQ(items[2].text(), "xé🌮\n");
  EXPECT_TRUE(root.Find("b")->Find("c")->is_null());
  EXPECT_TRUE(root.Find("d")->boolean());
  EXPECT_FALSE(root.Find("e")->boolean());
  EXPECT_EQ(root.members().size(), 4u);
  EXPECT_EQ(root.members()[3].first, "e");
}

TEST(JsonReader, KeepsNumbersThatADoubleWouldLose) {
  const Document document = Document::Parse("[9007199254740993,1e999,0.1000000000000000000001]");

  EXPECT_EQ(document.root().items()[0].number_text(), "9007199254740993");
  EXPECT_EQ(document.root().items()[1].number_text(), "1e999");
  EXPECT_EQ(document.root().items()[2].number_text(), "0.1000000000000000000001");
}

TEST(JsonReader, KnowsWhereEachValueBegan) {
  const Document document = Document::Parse(R"({"a": [10, {"b" : 7}], "c":"x"})");

  const Value root = document.root();
  EXPECT_EQ(root.offset(), 0u);
  EXPECT_EQ(root.Find("a")->offset(), 6u);
  EXPECT_EQ(root.Find("a")->items()[1].Find("b")->offset(), 18u);
  EXPECT_EQ(root.Find("c")->offset(), 27u);
}

TEST(JsonReader, FindsKeysInTheirExactCaseAlone) {
  const Document document = Document::Parse(R"({"Total":1,"total":2})");

  EXPECT_EQ(document.root().Find("total")->number_text(), "2");
  EXPECT_FALSE(document.root().Find("TOTAL").has_value());
}

TEST(JsonReader, KeepsValuesValidWhenTheDocumentMoves) {
  Document document = Document::Parse(R"({"n":12.50,"t":"short"})");
  const Value root = document.root();

  const Document moved = std::move(document);

  EXPECT_EQ(root.Find("n")->number_text(), "12.50");
  EXPECT_EQ(root.Find("t")->text(), "short");
}

TEST(JsonReader, RefusesWhatIsNoJson) {
  for (const std::string text :
       {"",        "  \n",       "{",         "[",         "[1",
        "[1,",     "{\"a\"",     "{\"a\":",   "{\"a\":1",  "{\"a\":1,",
        "\"",      "\"a",        "\"\\",      "\"\\u",     "\"\\u00",
        "[1,]",    "{\"a\":1,}", "{,}",       "[,]",       "{a:1}",
        "{'a':1}", "['a']",      "[1 2]",     "{\"a\" 1}", "{\"a\":1 \"b\":2}",
        "{1:2}",   "tru",        "True",      "nul",       "NULL",
        "NaN",     "Infinity",   "-Infinity", "undefined", "[1]]",
        "{}{}",    "{} x",       "1 1",       "/* c */ 1", "[1 // c\n]",
        "}",       "]",          ":",         ",",         "[}",
        "{]",      "truefalse",  "\"a\"b",    "\v1",       "\f1",
        "\xC2\xA0"}) {
    EXPECT_NE(RefusalOf(text), "accepted") << text;
  }
  EXPECT_NE(RefusalOf(std::string("1\0", 2)), "accepted");
  EXPECT_NE(RefusalOf(std::string("\0", 1)), "accepted");
}

TEST(JsonReader, RefusesNumbersOutsideTheGrammar) {
  for (const std::string text :
       {"01", "-01", "00",  "0123", "+1",    ".5",  "-.5", "1.",    "-",     "1.e5",
        "1e", "1e+", "1E-", "0x10", "1_000", "1,5", "--1", "1.2.3", "1e5.0", "- 1"}) {
    EXPECT_NE(RefusalOf(text), "accepted") << text;
  }
  for (const std::string text : {"0", "-0", "0.0", "10", "1e5", "1E+05", "-1.25e-3", "0e0"}) {
    EXPECT_EQ(RefusalOf(text), "accepted") << text;
  }
}

TEST(JsonReader, RefusesNumbersLongerThanItsBuffer) {
  EXPECT_EQ(RefusalOf(std::string(63, '7')), "accepted");
  EXPECT_TRUE(Says(RefusalOf(std::string(64, '7')), "at most 63 characters"));
}

TEST(JsonReader, RefusesInvalidUtf8) {
  for (const std::string bytes :
       {"\x80", "\xBF", "\xC0\xAF", "\xC1\xBF", "\xC2", "\xC2\x41", "\xE0\x80\xAF", "\xE0\x9F\xBF",
        "\xE2\x82", "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x80\x80\xAF", "\xF0\x8F\xBF\xBF",
        "\xF0\x9F\x8C", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFE", "\xFF"}) {
    EXPECT_TRUE(Says(RefusalOf("\"" + bytes + "\""), "not valid UTF-8")) << bytes;
    EXPECT_TRUE(Says(RefusalOf("{\"" + bytes + "\":1}"), "not valid UTF-8")) << bytes;
  }
  for (const std::string bytes : {"\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF",
                                  "\xEE\x80\x80", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(RefusalOf("\"" + bytes + "\""), "accepted");
  }
}

TEST(JsonReader, RefusesAByteOrderMark) {
  EXPECT_TRUE(Says(RefusalOf("\xEF\xBB\xBF{}"), "byte order mark"));
}

TEST(JsonReader, RefusesRawControlBytesAndNul) {
  EXPECT_TRUE(Says(RefusalOf("\"a\nb\""), "must be escaped"));
  EXPECT_TRUE(Says(RefusalOf(std::string("\"a\0b\"", 5)), "must be escaped"));
  EXPECT_TRUE(Says(RefusalOf("{\"a\\u0000\":1}"), "\\u0000 is not allowed"));
  EXPECT_EQ(RefusalOf("\"a\\u0001b\""), "accepted");
}

TEST(JsonReader, RefusesLoneSurrogatesAndUnknownEscapes) {
  for (const std::string text : {"\\ud83c", "\\udf2e", "\\ud83cx", "\\ud83c\\n", "\\ud83c\\u0041",
                                 "\\ud83c\\ud83c", "\\udf2e\\ud83c"}) {
    EXPECT_TRUE(Says(RefusalOf("\"" + text + "\""), "surrogate stands alone")) << text;
  }
  for (const std::string text :
       {"\\x41", "\\'", "\\a", "\\U0041", "\\u12", "\\u12g4", "\\ud83c\\uZZZZ"}) {
    EXPECT_NE(RefusalOf("\"" + text + "\""), "accepted") << text;
  }
}

TEST(JsonReader, RefusesNestingDeeperThanItsLimit) {
  EXPECT_EQ(RefusalOf(Nested(kDepthMax)), "accepted");
  EXPECT_TRUE(Says(RefusalOf(Nested(kDepthMax + 1)), "deeper than 32"));
  EXPECT_TRUE(Says(RefusalOf(std::string(1'000'000, '[')), "deeper than 32"));
}

TEST(JsonReader, RefusesDuplicateKeysAlsoWhereOneIsEscaped) {
  const std::string detail = RefusalOf("{\"a\":1,\n \"b\":2, \"\\u0061\":3}");
  EXPECT_TRUE(Says(detail, "in the same object already")) << detail;
  EXPECT_TRUE(Says(detail, "line 2, column 9 (byte offset 16)")) << detail;
  EXPECT_NE(RefusalOf(R"([{"x":{"":1,"":2}}])"), "accepted");
  EXPECT_EQ(RefusalOf(R"({"a":{"a":1},"b":{"a":1},"A":2})"), "accepted");
}

TEST(JsonReader, FindsADuplicateAmongManyKeysQuickly) {
  std::string text = "{";
  for (int i = 0; i < 300'000; ++i) text += "\"" + std::to_string(i) + "\":0,";

  EXPECT_EQ(RefusalOf(text + "\"x\":0}"), "accepted");
  EXPECT_TRUE(Says(RefusalOf(text + "\"7\":0}"), "in the same object already"));
}

TEST(JsonReader, RefusesMoreValuesThanItsLimit) {
  std::string text = "[0";
  for (size_t i = 2; i < kNodesMax; ++i) text += ",0";

  EXPECT_EQ(RefusalOf(text + "]"), "accepted");
  EXPECT_TRUE(Says(RefusalOf(text + ",0]"), "more than 400000 values"));
}

TEST(JsonReader, SaysWhereAndWhatWasExpected) {
  EXPECT_EQ(RefusalOf("{\n  \"name\": \"Ají\", x\n}"),
            "This is not valid JSON at line 2, column 18 (byte offset 20): a field name in double "
            "quotes was expected.");
  EXPECT_TRUE(Says(RefusalOf("[1, 2,\n]"), "line 1, column 6 (byte offset 5): no comma"));
  EXPECT_TRUE(Says(RefusalOf("[1"), "the text ends here, where a comma or ] was expected"));
  EXPECT_TRUE(Says(RefusalOf("['a']"), "texts must stand in double quotes"));
  EXPECT_TRUE(Says(RefusalOf("[01]"), "a number must not begin with 0"));
  EXPECT_TRUE(Says(RefusalOf("{} {}"), "nothing but blanks may follow"));
  EXPECT_TRUE(Says(RefusalOf(""), "there is no value"));
}

// The canonical form

TEST(JsonReader, GivesEqualBodiesEqualCanonicalTexts) {
  const std::string expected = R"({"a":[1,12.5,"é/"],"b":{"c":null,"d":true}})";

  EXPECT_EQ(CanonicalOf(R"({"a":[1,12.5,"é/"],"b":{"c":null,"d":true}})"), expected);
  EXPECT_EQ(
      CanonicalOf(" {\"b\" : {\"d\":true, \"c\":null},\n\"a\":[1.0, 12.50, \"\\u00e9\\/\"]} "),
      expected);
  EXPECT_EQ(CanonicalOf(R"({"a":[10e-1,1.25e1,"é/"],"b":{"c":null,"d":true}})"), expected);
}

TEST(JsonReader, GivesDifferentBodiesDifferentCanonicalTexts) {
  EXPECT_NE(CanonicalOf("[1,2]"), CanonicalOf("[2,1]"));
  EXPECT_NE(CanonicalOf("[\"1\"]"), CanonicalOf("[1]"));
  EXPECT_NE(CanonicalOf("{\"a\":null}"), CanonicalOf("{}"));
  EXPECT_NE(CanonicalOf("[9007199254740993]"), CanonicalOf("[9007199254740992]"));
}

// Random mutations

std::string Mutated(std::string text, std::mt19937& random) {
  static const std::vector<std::string> kPieces = {"{",
                                                   "}",
                                                   "[",
                                                   "]",
                                                   ",",
                                                   ":",
                                                   "\"",
                                                   "\\",
                                                   "\\u",
                                                   "\\u0000",
                                                   "\\ud83c",
                                                   "\\udf2e",
                                                   "0",
                                                   "-",
                                                   "1e9",
                                                   ".",
                                                   "e",
                                                   "null",
                                                   "true",
                                                   "\xEF\xBB\xBF",
                                                   "\xFF",
                                                   "\xC3",
                                                   "\xA9",
                                                   "\n",
                                                   "\"a\":1",
                                                   "[[[[[[[[",
                                                   "99999999999999999999"};
  const int steps = 1 + static_cast<int>(random() % 4);
  for (int i = 0; i < steps; ++i) {
    const size_t at = text.empty() ? 0 : random() % text.size();
    switch (random() % 5) {
      case 0:
        text.insert(at, kPieces[random() % kPieces.size()]);
        break;
      case 1:
        text.erase(at, 1 + random() % 3);
        break;
      case 2:
        if (!text.empty()) text[at] = static_cast<char>(random() % 256);
        break;
      case 3:
        text.insert(at, text.substr(random() % (text.size() + 1), random() % 20));
        break;
      case 4:
        text.resize(at);
        break;
    }
  }
  return text;
}

TEST(JsonReader, SurvivesRandomMutationsAndKeepsWhatItAccepts) {
  const std::vector<std::string> seeds = {
      R"({"service_type":"TAKE_AWAY","combos":[{"quantity":1.5,"price":12.50,"name":"\u00e9"}]})",
      R"([1,-2.5e3,0,"\ud83c\udf2e\n\\\"",[[],{}],{"a":{"b":{"c":[null,true,false]}}}])",
      "\"año 🌮\"", "  {\"x\" : 1e-5 , \"y\":\t[ ] }\r\n"};
  std::mt19937 random(20261120);
  int accepted = 0;
  for (int i = 0; i < 200'000; ++i) {
    const std::string text = Mutated(seeds[random() % seeds.size()], random);
    std::string canonical;
    try {
      canonical = CanonicalOf(text);
    } catch (const Refusal& refusal) {
      ASSERT_EQ(refusal.problem, Problem::kInvalidJson);
      continue;
    }
    ++accepted;
    ASSERT_EQ(CanonicalOf(canonical), canonical) << text;
  }
  EXPECT_GT(accepted, 5'000);
}

// Errors

TEST(JsonReader, LackOfMemoryIsNoMistakeOfTheClient) {
  static int left;
  cJSON_Hooks hooks{[](size_t size) { return left-- > 0 ? std::malloc(size) : nullptr; },
                    std::free};
  cJSON_InitHooks(&hooks);
  int refused = 0;
  for (bool is_read = false; !is_read && refused < 100; refused += is_read ? 0 : 1) {
    left = refused;
    try {
      is_read = Document::Parse(R"({"combos":[{"product_name":"Rice","quantity":1}]})")
                    .root()
                    .Find("combos")
                    .has_value();
    } catch (const std::bad_alloc&) {
    }
  }
  cJSON_InitHooks(nullptr);
  EXPECT_GT(refused, 3);
  EXPECT_LT(refused, 100);
}

TEST(JsonErrors, ListsErrorsInDocumentOrderWhateverTheOrderOfReading) {
  const auto errors =
      ErrorsOf(R"({"combos":[{"quantity":"x"},{"price":-1}],"title":7})", [](ObjectReader& reader) {
        reader.Text("title");
        auto combos = reader.Objects("combos", 500, false);
        combos[1].Money("price", 2);
        combos[0].Number("quantity", {});
        reader.RequireText("service_type");
      });

  ASSERT_EQ(errors.size(), 4u);
  EXPECT_EQ(errors[0].field, "service_type");
  EXPECT_EQ(errors[1].field, "combos[0].quantity");
  EXPECT_EQ(errors[2].field, "combos[1].price");
  EXPECT_EQ(errors[3].field, "title");
}

TEST(JsonErrors, ListsAMissingFieldWhereItsObjectBegins) {
  const auto errors = ErrorsOf(R"({"a":{"x":true},"b":{"x":true}})", [](ObjectReader& reader) {
    for (const std::string_view name : {"b", "a"}) {
      auto object = reader.Object(name);
      object->Text("x");
      object->RequireText("name");
    }
  });

  ASSERT_EQ(errors.size(), 4u);
  EXPECT_EQ(errors[0].field, "a.name");
  EXPECT_EQ(errors[1].field, "a.x");
  EXPECT_EQ(errors[2].field, "b.name");
  EXPECT_EQ(errors[3].field, "b.x");
}

TEST(JsonErrors, NamesTheFirstThreeFieldsAndCountsTheRest) {
  Errors errors;
  errors.Add("d", FieldCode::kEmpty, "must not be empty", 40);
  errors.Add("b", FieldCode::kEmpty, "must not be empty", 20);
  errors.Add("c", FieldCode::kEmpty, "must not be empty", 30);
  errors.Add("e", FieldCode::kEmpty, "must not be empty", 50);
  errors.Add("a", FieldCode::kEmpty, "must not be empty", 10);
  try {
    errors.ThrowIfAny();
    FAIL() << "nothing was thrown";
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.detail, "5 fields are not valid: a, b, c and 2 more.");
  }

  Errors two;
  two.Add("combos[0].quantity", FieldCode::kRequired, "is required", 1);
  two.Add("combos[1].variant_price", FieldCode::kRequired, "is required", 2);
  try {
    two.ThrowIfAny();
    FAIL() << "nothing was thrown";
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.detail,
              "2 fields are not valid: combos[0].quantity, combos[1].variant_price.");
  }
}

TEST(JsonErrors, SaysWhatIsWrongWhereOneFieldIs) {
  Errors errors;
  errors.Add("quantity", FieldCode::kMustBePositive, "must be above 0", 3);
  try {
    errors.ThrowIfAny();
    FAIL() << "nothing was thrown";
  } catch (const Refusal& refusal) {
    EXPECT_TRUE(Says(refusal.detail, "quantity"));
    EXPECT_TRUE(Says(refusal.detail, "must be above 0"));
    ASSERT_EQ(refusal.errors.size(), 1u);
  }
}

TEST(JsonErrors, ListsTheFirstFiftyOfMany) {
  Errors errors;
  for (size_t i = 200; i > 0; --i) {
    errors.Add("f" + std::to_string(i), FieldCode::kEmpty, "must not be empty", i);
  }
  try {
    errors.ThrowIfAny();
    FAIL() << "nothing was thrown";
  } catch (const Refusal& refusal) {
    ASSERT_EQ(refusal.errors.size(), kFieldErrorsMax);
    EXPECT_EQ(refusal.errors.front().field, "f1");
    EXPECT_EQ(refusal.errors.back().field, "f50");
    EXPECT_EQ(refusal.detail, "200 fields are not valid: f1, f2, f3 and 197 more.");
  }
}

TEST(JsonErrors, ThrowsNothingWhereNothingIsWrong) {
  Errors errors;
  EXPECT_TRUE(errors.empty());
  EXPECT_NO_THROW(errors.ThrowIfAny());
}

// ObjectReader: texts

TEST(JsonObjectReader, TakesAnEmptyTextForNull) {
  const Document document = Document::Parse(R"({"text":"","id":" ","code":"\u00a0\n","a":"x"})");
  Errors errors;
  ObjectReader reader(document.root(), "", errors, UnknownFields::kRefused);

  EXPECT_EQ(reader.Text("text"), std::nullopt);
  EXPECT_EQ(reader.Uuid("id"), std::nullopt);
  EXPECT_EQ(reader.Text("code", {.is_code = true}), std::nullopt);
  EXPECT_TRUE(reader.IsNull("text"));
  EXPECT_TRUE(reader.IsNull("code"));
  EXPECT_FALSE(reader.IsNull("a"));
  EXPECT_FALSE(reader.HasValue("id"));
  EXPECT_TRUE(reader.HasValue("a"));
  EXPECT_TRUE(errors.empty());
  EXPECT_EQ(reader.RequireText("text"), std::nullopt);
  EXPECT_EQ(reader.Uuid("id", false), std::nullopt);
  EXPECT_EQ(errors.size(), 2u);
}

TEST(JsonObjectReader, ReadsTextWithUnixLines) {
  const Document document = Document::Parse(R"({"f":"sin ají\r\nbien\tfrío","n":null})");
  Errors errors;
  ObjectReader reader(document.root(), "", errors, UnknownFields::kRefused);

  EXPECT_EQ(reader.Text("f"), "sin ají\nbien\tfrío");
  EXPECT_EQ(reader.Text("n"), std::nullopt);
  EXPECT_EQ(reader.Text("absent"), std::nullopt);
  reader.Finish();
  EXPECT_TRUE(errors.empty());
}

TEST(JsonObjectReader, RefusesTextsOutsideTheirRule) {
  EXPECT_EQ(TextErrorOf("12"), "wrong_type: must be a text in double quotes");
  EXPECT_EQ(TextErrorOf("\"\""), "none") << "as null";
  EXPECT_EQ(TextErrorOf("\"\"", {.can_be_null = false}),
            "empty: must not be empty: send 1 to 200 characters");
  EXPECT_EQ(TextErrorOf("\" \\t\\r\\n \"", {.can_be_null = false}),
            "empty: must not be empty: send 1 to 200 characters");
  EXPECT_EQ(TextErrorOf("\"\\u00a0\\u200b\"", {.can_be_null = false}),
            "empty: must not be empty: send 1 to 200 characters");
  EXPECT_EQ(TextErrorOf("\"\\u00a0\\u200b\""), "none") << "as null";
  EXPECT_EQ(TextErrorOf("\"\\r\\n\""), "none") << "as null";
  EXPECT_EQ(TextErrorOf("\"\\r\\r\\n\"").substr(0, 15), "invalid_format:");
  EXPECT_EQ(TextErrorOf("\"\\u0001\"").substr(0, 15), "invalid_format:");
  EXPECT_EQ(TextErrorOf("\"ñandú\"", {.max = 5}), "none");
  EXPECT_EQ(TextErrorOf("\"ñandús\"", {.max = 5}),
            "too_long: must have at most 5 characters, not 6");
  EXPECT_EQ(TextErrorOf("\"ab\"", {.min = 3}), "too_short: must have at least 3 characters, not 2");
  EXPECT_EQ(TextErrorOf("\"\"", {.min = 0}), "none");
  EXPECT_EQ(TextErrorOf("\"a\\u0001\"").substr(0, 15), "invalid_format:");
  EXPECT_EQ(TextErrorOf("\"a\\u001b[0m\"").substr(0, 15), "invalid_format:");
  EXPECT_EQ(TextErrorOf("\"a\\u0000b\"").substr(0, 15), "invalid_format:");
  EXPECT_EQ(TextErrorOf("\"\\\\u0000\""), "none");  // an escaped backslash, then letters
  EXPECT_EQ(TextErrorOf("\"a\\rb\"").substr(0, 15), "invalid_format:");
  EXPECT_EQ(TextErrorOf("\"a\\u007fb\""), "none");
  EXPECT_EQ(TextErrorOf("\"a\\tb\"", {.is_name = true}).substr(0, 15), "invalid_format:");
  EXPECT_EQ(TextErrorOf("\"a\\u009bb\"", {.is_name = true}).substr(0, 15), "invalid_format:");
}

TEST(JsonObjectReader, RefusesCardNumbersInFreeTextAlone) {
  const std::string card = "\"pagó con 4111 1111 1111 1111\"";

  EXPECT_EQ(TextErrorOf(card).substr(0, 22), "looks_like_card_number");
  EXPECT_EQ(TextErrorOf(card, {.card_numbers_refused = false}), "none");
  EXPECT_FALSE(Says(TextErrorOf(card), "4111"));
}

TEST(JsonObjectReader, ReadsListsOfTexts) {
  const Document document =
      Document::Parse(R"({"f":["a","b"],"g":["a",1,""],"h":["a","b","c"],"i":1})");
  Errors errors;
  ObjectReader reader(document.root(), "", errors, UnknownFields::kRefused);

  EXPECT_EQ(reader.Texts("f", 2, {}), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(reader.Texts("absent", 2, {}), std::nullopt);
  EXPECT_TRUE(errors.empty());

  EXPECT_EQ(reader.Texts("g", 3, {}), std::nullopt);
  EXPECT_EQ(reader.Texts("h", 2, {}), std::nullopt);
  EXPECT_EQ(reader.Texts("i", 2, {}), std::nullopt);
  try {
    errors.ThrowIfAny();
    FAIL() << "nothing was thrown";
  } catch (const Refusal& refusal) {
    ASSERT_EQ(refusal.errors.size(), 4u);
    EXPECT_EQ(refusal.errors[0].field, "g[1]");
    EXPECT_EQ(refusal.errors[0].code, FieldCode::kWrongType);
    EXPECT_EQ(refusal.errors[1].field, "g[2]");
    EXPECT_EQ(refusal.errors[1].code, FieldCode::kEmpty);
    EXPECT_EQ(refusal.errors[2].code, FieldCode::kTooManyItems);
    EXPECT_EQ(refusal.errors[3].code, FieldCode::kWrongType);
  }
}

// ObjectReader: numbers

TEST(JsonObjectReader, ReadsNumbersExactly) {
  const Document document =
      Document::Parse(R"({"a":12.5,"b":12.500,"c":1.25e1,"d":-3,"e":0.07,"f":9999999999.99})");
  Errors errors;
  ObjectReader reader(document.root(), "", errors, UnknownFields::kRefused);

  EXPECT_EQ(reader.Number("a", {.decimals = 2}), 1250);
  EXPECT_EQ(reader.Number("b", {.decimals = 2}), 1250);
  EXPECT_EQ(reader.Number("c", {.decimals = 2}), 1250);
  EXPECT_EQ(reader.Number("d", {.min = -5}), -3);
  EXPECT_EQ(reader.Money("e", 2), 7);
  EXPECT_EQ(reader.Money("f", 2), 999'999'999'999);
  EXPECT_TRUE(errors.empty());
}

TEST(JsonObjectReader, RefusesNumbersSentAsText) {
  EXPECT_EQ(
      MoneyError("\"12.5\""),
      "wrong_type: must be a number with at most 2 decimals, like 12.5: send 12.5, not \"12.5\"");
  EXPECT_TRUE(Says(MoneyError("\"7.90\""), "send 7.90, not \"7.90\""));
  EXPECT_TRUE(Says(MoneyError("\"S/ 7.90\""), "send 12.5, not \"12.5\""));
  EXPECT_EQ(NumberError("true", {}), "wrong_type: must be a whole number, like 12");
}

TEST(JsonObjectReader, RefusesTooManyDecimals) {
  EXPECT_EQ(MoneyError("12.505"),
            "too_many_decimals: must be a number with at most 2 decimals, like 12.5");
  EXPECT_EQ(MoneyError("12.500"), "none");
  EXPECT_EQ(MoneyError("1e-3").substr(0, 17), "too_many_decimals");
  EXPECT_EQ(MoneyError("0.0000000000000000000001").substr(0, 17), "too_many_decimals");
  EXPECT_EQ(MoneyError("1e-400").substr(0, 17), "too_many_decimals");
  EXPECT_EQ(NumberError("1.5", {}), "too_many_decimals: must be a whole number, like 12");
}

TEST(JsonObjectReader, RefusesNumbersOutsideTheirBounds) {
  EXPECT_EQ(MoneyError("-0.01"), "must_not_be_negative: must not be negative: send 0 or more");
  EXPECT_EQ(MoneyError("-1e400"), "must_not_be_negative: must not be negative: send 0 or more");
  EXPECT_EQ(MoneyError("0", true), "must_be_positive: must be above 0, like 12.5");
  EXPECT_EQ(MoneyError("-1", true), "must_be_positive: must be above 0, like 12.5");
  EXPECT_EQ(MoneyError("9999999999.99"), "none");
  EXPECT_EQ(MoneyError("10000000000"), "out_of_range: must be between 0 and 9999999999.99");
  EXPECT_EQ(MoneyError("1e400"), "out_of_range: must be between 0 and 9999999999.99");
  EXPECT_EQ(MoneyError("-0"), "none");
  EXPECT_EQ(NumberError("-91", {.min = -90, .max = 90}),
            "out_of_range: must be between -90 and 90");
  EXPECT_EQ(NumberError("3", {.min = 5, .max = 9}), "out_of_range: must be between 5 and 9");
  EXPECT_EQ(NumberError("99999999999999999999", {}), "out_of_range: must be at least 0");
}

// ObjectReader: the other kinds

TEST(JsonObjectReader, ReadsBooleansUuidsAndInstants) {
  const Document document = Document::Parse(
      R"({"b":false,"u":"0190C3A1-7F3E-7A52-9D6B-3F1C2AB45E90","i":"2026-11-20T13:03:11-05:00"})");
  Errors errors;
  ObjectReader reader(document.root(), "", errors, UnknownFields::kRefused);

  EXPECT_EQ(reader.Boolean("b"), false);
  EXPECT_EQ(reader.Uuid("u"), "0190c3a1-7f3e-7a52-9d6b-3f1c2ab45e90");
  EXPECT_EQ(reader.Instant("i"), ParseInstant("2026-11-20T18:03:11Z"));
  EXPECT_TRUE(errors.empty());
}

TEST(JsonObjectReader, RefusesWrongBooleansUuidsAndInstants) {
  const auto boolean = [](ObjectReader& reader) { reader.Boolean("f"); };
  const auto uuid = [](ObjectReader& reader) { reader.Uuid("f"); };
  const auto instant = [](ObjectReader& reader) { reader.Instant("f"); };

  EXPECT_EQ(ErrorOf("\"true\"", boolean), "wrong_type: must be true or false, without quotes");
  EXPECT_EQ(ErrorOf("1", uuid).substr(0, 10), "wrong_type");
  EXPECT_EQ(ErrorOf("\"0190c3a1\"", uuid).substr(0, 14), "invalid_format");
  EXPECT_EQ(ErrorOf("1700000000", instant).substr(0, 10), "wrong_type");
  EXPECT_EQ(ErrorOf("\"2026-11-31T00:00:00Z\"", instant).substr(0, 14), "invalid_format");
}

TEST(JsonObjectReader, ReadsOneOfTheWordsInTheirExactCase) {
  const std::vector<std::string_view> words = {"PENDING", "PREPARING", "READY"};
  const auto read = [&](ObjectReader& reader) { reader.OneOf("f", words); };
  const Document document = Document::Parse(R"({"f":"PREPARING"})");
  Errors errors;
  ObjectReader reader(document.root(), "", errors, UnknownFields::kRefused);

  EXPECT_EQ(reader.OneOf("f", words), 1u);
  EXPECT_EQ(ErrorOf("\"preparing\"", read),
            "unknown_value: must be one of PENDING, PREPARING, READY; write PREPARING in capitals");
  EXPECT_EQ(ErrorOf("\"PREPARNG\"", read),
            "unknown_value: must be one of PENDING, PREPARING, READY; did you mean PREPARING?");
  EXPECT_EQ(ErrorOf("\"BURNT\"", read), "unknown_value: must be one of PENDING, PREPARING, READY");
  EXPECT_EQ(ErrorOf("\"\"", read), "empty: must be one of PENDING, PREPARING, READY, not empty");
  EXPECT_EQ(ErrorOf("3", read),
            "wrong_type: must be one of PENDING, PREPARING, READY, in double quotes");
  EXPECT_EQ(ErrorOf("\"BURNT\"", [&](ObjectReader& r) { r.OneOf("f", words, "use /cancel"); }),
            "unknown_value: must be one of PENDING, PREPARING, READY; use /cancel");
}

TEST(JsonObjectReader, ReadsObjectsBelowWithTheirPaths) {
  const Document document =
      Document::Parse(R"({"combos":[{"modifiers":[{"n":1}]}],"client":{"name":"Ana"}})");
  Errors errors;
  ObjectReader reader(document.root(), "", errors, UnknownFields::kRefused);

  auto combos = reader.RequireObjects("combos", 500);
  ASSERT_EQ(combos.size(), 1u);
  EXPECT_EQ(combos[0].path(), "combos[0]");
  auto modifiers = combos[0].Objects("modifiers", 50, true);
  ASSERT_EQ(modifiers.size(), 1u);
  EXPECT_EQ(modifiers[0].FieldPath("n"), "combos[0].modifiers[0].n");
  auto client = reader.Object("client");
  ASSERT_TRUE(client.has_value());
  EXPECT_EQ(client->RequireText("name"), "Ana");
  EXPECT_FALSE(reader.Object("absent").has_value());
  EXPECT_TRUE(errors.empty());
}

TEST(JsonObjectReader, RefusesWrongListsAndObjects) {
  const auto read = [](ObjectReader& reader) { reader.Objects("f", 2, false); };

  EXPECT_EQ(ErrorOf("{}", read), "wrong_type: must be a list between [ and ]");
  EXPECT_EQ(ErrorOf("[]", read), "empty: must have at least one item");
  EXPECT_EQ(ErrorOf("[{},{},{}]", read), "too_many_items: must have at most 2 items, not 3");
  const auto errors = ErrorsOf(R"({"f":[{},null]})", read);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].field, "f[1]");
  EXPECT_EQ(errors[0].code, FieldCode::kWrongType);
  EXPECT_EQ(ErrorOf("[]", [](ObjectReader& reader) { reader.Object("f"); }),
            "wrong_type: must be a JSON object: fields between { and }");
}

TEST(JsonObjectReader, RequiresFieldsOnceAndCountsNullAsAbsent) {
  const auto errors = ErrorsOf(R"({"d":null})", [](ObjectReader& reader) {
    EXPECT_EQ(reader.RequireText("a"), std::nullopt);
    EXPECT_EQ(reader.RequireNumber("b", {}), std::nullopt);
    EXPECT_EQ(reader.RequireMoney("c", 2), std::nullopt);
    EXPECT_TRUE(reader.RequireObjects("d", 5).empty());
  });

  ASSERT_EQ(errors.size(), 4u);
  for (const FieldError& error : errors) {
    EXPECT_EQ(error.code, FieldCode::kRequired);
    EXPECT_EQ(error.message, "is required and must not be null");
  }
}

TEST(JsonObjectReader, ReadsNothingFromABodyThatIsNoObject) {
  const auto errors = ErrorsOf("[1]", [](ObjectReader& reader) {
    EXPECT_EQ(reader.RequireText("a"), std::nullopt);
    EXPECT_FALSE(reader.Has("a"));
    EXPECT_FALSE(reader.NothingRead());
    reader.Finish();
  });

  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].field, "body");
  EXPECT_EQ(errors[0].code, FieldCode::kWrongType);
}

TEST(JsonObjectReader, TellsNullFromAbsent) {
  const Document document = Document::Parse(R"({"a":null,"b":1})");
  Errors errors;
  ObjectReader reader(document.root(), "", errors, UnknownFields::kRefused);

  EXPECT_TRUE(reader.Has("a"));
  EXPECT_TRUE(reader.IsNull("a"));
  EXPECT_FALSE(reader.Raw("a").has_value());
  EXPECT_FALSE(reader.IsNull("b"));
  EXPECT_EQ(reader.Raw("b")->number_text(), "1");
  EXPECT_FALSE(reader.Has("c"));
}

TEST(JsonObjectReader, RefusesFieldsOfOtherEndpointsWherePresent) {
  const auto errors = ErrorsOf(R"({"status":null})", [](ObjectReader& reader) {
    EXPECT_TRUE(reader.Refuse("status", FieldCode::kNotAllowed, "use PATCH /status"));
    EXPECT_FALSE(reader.Refuse("paid", FieldCode::kReadOnly, "is read-only"));
    reader.Finish();
  });

  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].field, "status");
  EXPECT_EQ(errors[0].message, "use PATCH /status");
}

TEST(JsonObjectReader, SuggestsTheFieldThatWasMeant) {
  const auto read = [](ObjectReader& reader) {
    reader.Number("quantity", {});
    reader.Text("comment");
    reader.Finish();
  };
  EXPECT_EQ(ErrorsOf(R"({"quantitty":1})", read)[0].message,
            "is not a field of this object; did you mean quantity?");
  EXPECT_EQ(ErrorsOf(R"({"Quantity":1})", read)[0].message,
            "is not a field of this object; write quantity");
  EXPECT_EQ(ErrorsOf(R"({"xyz":1})", read)[0].message,
            "is not a field of this object; known are quantity, comment");
  EXPECT_EQ(ErrorsOf(R"({"xyz":1})", read)[0].code, FieldCode::kUnknownField);
  EXPECT_TRUE(ErrorsOf(R"({"xyz":1})", read, UnknownFields::kIgnored).empty());
  EXPECT_EQ(ErrorsOf(R"({"":1})", read)[0].field, "\"\"");
}

TEST(JsonObjectReader, PassesWhatIsOfAnotherKindWhereThatIsTolerated) {
  const auto errors = ErrorsOf(
      R"({"text":1,"number":"1","flag":"yes","id":5,"at":5,"word":5,"list":{},"object":[],
          "rows":[1,{"x":1},null],"texts":["a",1,""],"unknown":1})",
      [](ObjectReader& reader) {
        EXPECT_EQ(reader.Text("text"), std::nullopt);
        EXPECT_EQ(reader.Number("number", {}), std::nullopt);
        EXPECT_EQ(reader.Boolean("flag"), std::nullopt);
        EXPECT_EQ(reader.Uuid("id"), std::nullopt);
        EXPECT_EQ(reader.Instant("at"), std::nullopt);
        EXPECT_EQ(reader.OneOf("word", {"a"}), std::nullopt);
        EXPECT_TRUE(reader.Objects("list", 1, true).empty());
        EXPECT_FALSE(reader.Object("object").has_value());
        EXPECT_EQ(reader.Objects("rows", 1, false).size(), 1u);
        EXPECT_EQ(reader.Texts("texts", 1, {}), std::vector<std::string>{"a"});
        EXPECT_EQ(reader.RequireText("text"), std::nullopt);
        reader.Finish();
      },
      UnknownFields::kTolerated);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].code, FieldCode::kRequired) << "of another kind is as if it were missing";
}

TEST(JsonObjectReader, KnowsIgnoredFieldsAndCutsLongNames) {
  const auto errors =
      ErrorsOf("{\"id\":1,\"" + std::string(5'000, 'x') + "\":1}", [](ObjectReader& reader) {
        reader.Ignore({"id"});
        reader.Finish();
      });

  ASSERT_EQ(errors.size(), 1u);
  EXPECT_LT(errors[0].field.size(), 120u);
}

TEST(JsonObjectReader, KnowsWhetherAnythingWasRead) {
  const auto read_title = [](const std::string& text) {
    const Document document = Document::Parse(text);
    Errors errors;
    ObjectReader reader(document.root(), "", errors, UnknownFields::kIgnored);
    reader.Ignore({"id"});
    reader.Text("title");
    return !reader.NothingRead();
  };

  EXPECT_TRUE(read_title(R"({"title":"x"})"));
  EXPECT_TRUE(read_title(R"({"title":null})"));
  EXPECT_FALSE(read_title(R"({"id":1,"other":2})"));
  EXPECT_FALSE(read_title("{}"));
}

TEST(JsonReader, NamesTheLibraryVersion) { EXPECT_TRUE(LibraryVersion().starts_with("1.")); }

}  // namespace
}  // namespace comanda::json
