#include "doctor/checks/units.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/file.h"
#include "doctor/machine.h"
#include "support/source_dir.h"

namespace comanda::doctor {
namespace {

// scripts/package enables what the table says, and there is no other unit.
TEST(DoctorUnitsTable, HasTheUnitsOfThePackage) {
  const std::string source = comanda::testing::SourceDirectory();
  const std::string package = ReadFile(source + "/scripts/package").value_or("");
  const auto units = [&](const std::string& name) {
    const size_t begin = package.find("\n" + name + "=\"") + name.size() + 3;
    const std::string list = package.substr(begin, package.find('"', begin) - begin);
    std::set<std::string> found;
    for (const std::string_view word : WordsOf(list)) found.emplace(word);
    return found;
  };
  std::map<Installed, std::set<std::string>> table;
  table[Installed::kEnabled].insert("comanda.service");  // of CheckService()
  for (const PackageUnit& unit : PackageUnits()) table[unit.installed].emplace(unit.name);
  EXPECT_EQ(table[Installed::kEnabled], units("enabled"));
  EXPECT_EQ(table[Installed::kDisabled], units("optional"));
  std::set<std::string> files;
  const auto entries = FilesIn(source + "/systemd");
  ASSERT_TRUE(entries);
  for (const std::string& file : *entries) {
    if (file.starts_with("comanda-head.")) continue;  // of another machine
    if (file.ends_with(".service") || file.ends_with(".socket") || file.ends_with(".timer")) {
      files.insert(file);
    }
  }
  for (const auto& [installed, names] : table) {
    for (const std::string& name : names) EXPECT_EQ(files.erase(name), 1u) << name;
  }
  EXPECT_TRUE(files.empty()) << *files.begin();
}

}  // namespace
}  // namespace comanda::doctor
