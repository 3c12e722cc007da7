#include "doctor/report.h"

#include <gtest/gtest.h>

#include "base/problem.h"
#include "base/text.h"
#include "base/version.h"

namespace comanda::doctor {
namespace {

Finding Of(std::string check, Finding finding) {
  finding.check = std::move(check);
  return finding;
}

Findings Some() {
  return {
      Of("clock", Broken("The clock shows 1970-01-01 00:03 UTC, and this program was built on "
                         "2026-11-20, which is later.",
                         "Devices may refuse the certificate.",
                         "timedatectl set-ntp true     # or by hand: timedatectl set-time "
                         "'2026-11-20 18:30:00'\ndate")),
      Of("space", Warning("Little space.", "Then orders stop.")),
      Of("wear", Well("sda is well.")),
      Of("wear", Well("sdb is well.")),
  };
}

TEST(DoctorReport, IsShownInColumns) {
  EXPECT_EQ(AsText(Some()),
            "BROKEN   clock        The clock shows 1970-01-01 00:03 UTC, and this program was\n"
            "                      built on 2026-11-20, which is later.\n"
            "         why: Devices may refuse the certificate.\n"
            "         do:\n"
            "           # or by hand: timedatectl set-time '2026-11-20 18:30:00'\n"
            "           timedatectl set-ntp true\n"
            "           date\n"
            "\n"
            "WARNING  space        Little space.\n"
            "         why: Then orders stop.\n"
            "\n"
            "well     wear         sda is well.\n"
            "                      sdb is well.\n"
            "\n"
            "1 broken, 1 warning, 2 well\n");
}

TEST(DoctorReport, FitsEightyCharactersWhateverTheWords) {
  const std::string word(30, 'm');
  const std::string text = word + " ° " + word + " " + word + " °C " + word;
  const std::string shown =
      AsText({Of("temperature", Warning(text, text)), Of("name", Well(text))});
  std::string_view rest = shown;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() + 1);
    EXPECT_LE(CharacterCount(line), 80u) << line;
  }
}

TEST(DoctorReport, IsJsonOfAStableShape) {
  EXPECT_EQ(
      AsJson({Of("space", Warning("Little space.", "Then orders stop.", "du -xh /")),
              Of("wear", Well("sda is well."))},
             0),
      R"({"state":"warning","version":")" + std::string(kVersion) +
          R"(","at":"1970-01-01T00:00:00.000Z","findings":[)"
          R"({"check":"space","state":"warning","what":"Little space.","why":"Then orders stop.",)"
          R"("command":"du -xh /"},)"
          R"({"check":"wear","state":"well","what":"sda is well.","why":null,"command":null}]})"
          "\n");
}

TEST(DoctorReport, IsReadBack) { EXPECT_EQ(FromJson(ToJson(Some())), Some()); }

TEST(DoctorReport, RefusesOtherTexts) {
  for (const char* text : {"", "{}", "[", "null", "\xff"}) EXPECT_THROW(FromJson(text), Refusal);
}

TEST(DoctorReport, ShowsNoControlCharacter) {
  const Findings read = FromJson(ToJson({Of("power", Well("a\x1b[31mb\xff\n"))}));
  EXPECT_EQ(read.front().what, "a\\u001b[31mb\\xff\\n");
}

TEST(DoctorReport, TakesTheWorst) {
  EXPECT_EQ(Worst({}), State::kWell);
  EXPECT_EQ(Worst(Some()), State::kBroken);
}

}  // namespace
}  // namespace comanda::doctor
