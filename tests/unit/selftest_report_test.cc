#include <gtest/gtest.h>

#include "json/reader.h"
#include "selftest/selftest.h"

namespace comanda::selftest {
namespace {

Summary Some() {
  Summary summary;
  summary.outcomes = {
      {.subject = "Reading", .name = "A list is a list", .section = "6", .words = "every list"},
      {.subject = "Reading",
       .name = "A total is a number",
       .section = "7",
       .words = "total",
       .result = Verdict::kDiffers,
       .differences = {{"data.total", "12.5", "\"12.5\""}}},
      {.subject = "Keys",
       .name = "A key is made",
       .section = "3",
       .words = "201",
       .result = Verdict::kNotChecked,
       .note = "the key lacks api-keys:write"}};
  return summary;
}

TEST(SelftestReport, SaysOfADifferenceWhatTheContractSays) {
  const std::string text = AsText(Some().outcomes[1]);
  EXPECT_NE(text.find("differs"), std::string::npos);
  EXPECT_NE(text.find("data.total: expected 12.5, got \"12.5\""), std::string::npos);
  EXPECT_NE(text.find("contract 7: total"), std::string::npos);
  EXPECT_EQ(AsText(Some().outcomes[0]).find("contract"), std::string::npos);
}

TEST(SelftestReport, CountsAndNamesWhatIsLeft) {
  Summary summary = Some();
  EXPECT_NE(AsText(summary).find("1 ok, 1 differs, 1 not checked.\nNothing was left behind."),
            std::string::npos);
  summary.remnants = {
      {.reference = "selftest-1", .id = "a", .public_id = "PE-7222853393", .status = "CANCELLED"},
      {.reference = "selftest-2"},
      {.reference = "SELFTEST", .id = "b", .status = "revoked", .kind = "key"}};
  summary.waited_s = 1;
  const std::string text = AsText(summary);
  EXPECT_NE(text.find("  selftest-1  PE-7222853393  a  CANCELLED\n"), std::string::npos);
  EXPECT_NE(text.find("  selftest-2  no answer came to its creation"), std::string::npos);
  EXPECT_NE(text.find("  key SELFTEST  b  revoked\n"), std::string::npos);
  EXPECT_NE(text.find("Waited 1 second "), std::string::npos);
}

TEST(SelftestReport, IsOneObjectForScripts) {
  Summary summary = Some();
  summary.remnants = {{.reference = "selftest-2"}};
  const Settings settings{
      .url = "https://box:8443", .key = "cmd_live_secret", .authorities = nullptr};
  const std::string text = AsJson(settings, summary);
  const json::Document told = json::Document::Parse(text);
  EXPECT_EQ(told.root().Find("url")->text(), "https://box:8443");
  EXPECT_EQ(told.root().Find("differs")->number_text(), "1");
  EXPECT_EQ(told.root().Find("checks")->items()[2].Find("result")->text(), "not_checked");
  EXPECT_EQ(told.root().Find("left_behind")->items()[0].Find("kind")->text(), "order");
  EXPECT_TRUE(told.root().Find("left_behind")->items()[0].Find("id")->is_null());
  EXPECT_EQ(text.find("cmd_live_secret"), std::string::npos);
}

}  // namespace
}  // namespace comanda::selftest
