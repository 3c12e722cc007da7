// The form of an export: texts as PostgreSQL's COPY reads them, and the manifest.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>
#include <string_view>

#include "base/file.h"
#include "base/problem.h"
#include "db/export_manifest.h"
#include "db/sqlite/table_export.h"

namespace comanda::db {
namespace {

using namespace std::string_literals;

std::string ForCopy(std::string_view text) {
  std::string out = "before ";
  AppendForCopy(out, text);
  return out.substr(7);
}

TEST(TableExport, EscapesWhatSeparatesValuesAndRows) {
  EXPECT_EQ(ForCopy(""), "");
  EXPECT_EQ(ForCopy("Ceviche 'ñ' \xF0\x9F\x8D\x8B"), "Ceviche 'ñ' \xF0\x9F\x8D\x8B");
  EXPECT_EQ(ForCopy("a\tb\nc\rd\\"), "a\\tb\\nc\\rd\\\\");
  // Of text, not the marks of a null and of the end.
  EXPECT_EQ(ForCopy("\\N"), "\\\\N");
  EXPECT_EQ(ForCopy("\\."), "\\\\.");
  EXPECT_EQ(ForCopy("\b\v\f\x01\x7f"), "\b\v\f\x01\x7f");
}

class ManifestTest : public testing::Test {
 protected:
  ManifestTest() {
    char path[] = "/tmp/comanda-manifest-XXXXXX";
    directory_ = ::mkdtemp(path);
  }
  ~ManifestTest() override { RemoveAll(directory_); }

  void Write(std::string_view text) { ReplaceFile(directory_ + "/" + kManifestFile, text, 0600); }

  std::string directory_;
};

TEST_F(ManifestTest, IsReadAsItWasWritten) {
  const Manifest written{.version = "1.2.3",
                         .made_at = "2026-11-28T15:00:00.000Z",
                         .schema = 21,
                         .was_serving = true,
                         .tables = {{.schema = "live",
                                     .name = "orders",
                                     .columns = {"company_id", "id"},
                                     .rows = 4'000'000'000,
                                     .bytes = 1LL << 40,
                                     .sum = "ab"}},
                         .files = {{"tls/ca.key", "cd"}}};
  Write(Text(written));
  const Manifest read = ReadManifest(directory_);
  EXPECT_EQ(Text(read), Text(written));
  EXPECT_EQ(read.tables.at(0).FileName(), "live/orders.copy");
  EXPECT_EQ(read.tables.at(0).rows, 4'000'000'000);
  EXPECT_TRUE(read.was_serving);
}

TEST_F(ManifestTest, RefusesWhatIsNone) {
  EXPECT_THROW(ReadManifest(directory_), Refusal);
  const std::string text = Text({.version = "1", .made_at = "", .tables = {}, .files = {}});
  for (const std::string& changed :
       {""s, "{}"s, "[]"s, text.substr(0, text.size() - 3), "{\"form\":2" + text.substr(9),
        "{\"form\":\"1\"" + text.substr(9), "{\"form\":1.5" + text.substr(9)}) {
    Write(changed);
    EXPECT_THROW(ReadManifest(directory_), Refusal) << changed;
  }
  Write(text);
  EXPECT_EQ(Text(ReadManifest(directory_)), text);
}

}  // namespace
}  // namespace comanda::db
