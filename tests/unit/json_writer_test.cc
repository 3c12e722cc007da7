#include "json/writer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "json/reader.h"

namespace comanda::json {
namespace {

TEST(JsonWriter, WritesValuesInTheOrderOfTheCalls) {
  std::string out;
  Writer(out)
      .BeginObject()
      .Key("a")
      .BeginArray()
      .Integer(1)
      .Text("x")
      .BeginObject()
      .EndObject()
      .BeginArray()
      .EndArray()
      .EndArray()
      .Key("b")
      .Boolean(true)
      .Key("c")
      .Null()
      .Key("d")
      .Raw("{\"e\":1}")
      .Key("f")
      .Boolean(false)
      .EndObject();

  EXPECT_EQ(out, R"({"a":[1,"x",{},[]],"b":true,"c":null,"d":{"e":1},"f":false})");
}

TEST(JsonWriter, WritesNullWhereThereIsNothing) {
  std::string out;
  Writer(out)
      .BeginArray()
      .Text(std::optional<std::string>())
      .Text(std::optional<std::string>("x"))
      .Integer(std::optional<int64_t>())
      .Integer(std::optional<int64_t>(-7))
      .Scaled(std::optional<int64_t>(), 2)
      .Instant(std::optional<UtcMs>())
      .EndArray();

  EXPECT_EQ(out, R"([null,"x",null,-7,null,null])");
}

TEST(JsonWriter, WritesWholeNumbersOfEverySize) {
  std::string out;
  Writer(out).BeginArray().Integer(0).Integer(INT64_MAX).Integer(INT64_MIN).EndArray();

  EXPECT_EQ(out, "[0,9223372036854775807,-9223372036854775808]");
}

TEST(JsonWriter, WritesMoneyAsTheShortestDecimal) {
  std::string out;
  Writer(out).BeginArray().Scaled(1250, 2).Scaled(100, 2).Scaled(-5, 2).Scaled(7, 0).EndArray();

  EXPECT_EQ(out, "[12.5,1,-0.05,7]");
}

TEST(JsonWriter, WritesInstantsInUtc) {
  std::string out;
  Writer(out).Instant(0);

  EXPECT_EQ(out, "\"1970-01-01T00:00:00.000Z\"");
}

TEST(JsonWriter, EscapesWhatMustBeEscapedAndNothingElse) {
  std::string out;
  AppendQuoted(out, "a\"b\\c/d\b\f\n\r\t\x01\x1f é🌮\x7f");

  EXPECT_EQ(out, "\"a\\\"b\\\\c/d\\b\\f\\n\\r\\t\\u0001\\u001f é🌮\x7f\"");
}

// No such text comes from a request: a damaged row may hold one.
TEST(JsonWriter, ReplacesWhatIsNoUtf8) {
  std::string out;
  AppendQuoted(out, "aj\xc3\xad \xf0\x9f\x8c\xb6 \xc3 \x80x \xed\xa0\x80 \xff\xc3");
  EXPECT_EQ(
      out, "\"aj\xc3\xad \xf0\x9f\x8c\xb6 \\ufffd \\ufffdx \\ufffd\\ufffd\\ufffd \\ufffd\\ufffd\"");
}

TEST(JsonWriter, WritesNullForAStoredTextThatIsNoJson) {
  std::string out;
  Writer writer(out);
  writer.BeginArray();
  for (const char* text : {"-77.0218", "[{\"a\": 1}]", "null", "-77. 15",
                           "-77\x0e"
                           "02",
                           "", "1 2"}) {
    writer.Stored(text);
  }
  writer.EndArray();
  EXPECT_EQ(out, "[-77.0218,[{\"a\": 1}],null,null,null,null,null]");
}

TEST(JsonWriter, EscapesNamesToo) {
  std::string out;
  Writer(out).BeginObject().KeyOf("a\"\n").Integer(1).Key("b").Integer(2).EndObject();

  EXPECT_EQ(out, "{\"a\\\"\\n\":1,\"b\":2}");
}

TEST(JsonWriter, WritesTextsThatTheReaderReadsBack) {
  std::string all;
  for (char c = 1; c < 127; ++c) all += c;
  all += "ñ€🌮";
  std::string out;
  AppendQuoted(out, all);

  EXPECT_EQ(Document::Parse(out).root().text(), all);
}

TEST(JsonWriter, AppendsPartsOfAnObjectByThemselves) {
  std::string out = "{";
  Writer(out).Key("a").Integer(1).Key("b").Text("x");

  EXPECT_EQ(out, R"({"a":1,"b":"x")");
}

TEST(JsonWriterDeathTest, EndsTheProcessWhereTheNestingIsWrong) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  std::string out;
  EXPECT_DEATH(Writer(out).BeginObject().EndArray(), "");
  EXPECT_DEATH(Writer(out).BeginObject().Integer(1), "");
  EXPECT_DEATH(Writer(out).BeginArray().Key("a"), "");
  EXPECT_DEATH(Writer(out).EndObject(), "");
}

}  // namespace
}  // namespace comanda::json
