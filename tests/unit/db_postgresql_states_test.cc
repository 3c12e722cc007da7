#include "db/postgresql/states.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>

namespace comanda::db {
namespace {

// The classes of appendix A, PostgreSQL 15 to 18. A condition that is not named below has its
// class's.
constexpr std::string_view kClasses[] = {
    "00", "01", "02", "03", "08", "09", "0A", "0B", "0F", "0L", "0P", "0Z", "10", "20", "21",
    "22", "23", "24", "25", "26", "27", "28", "2B", "2D", "2F", "34", "38", "39", "3B", "3D",
    "3F", "40", "42", "44", "53", "54", "55", "57", "58", "72", "F0", "HV", "P0", "XX"};

State Expected(Trouble trouble, Next next) { return {trouble, next}; }

TEST(DbPostgresqlStates, RunsTheJobsAgainThatLostAgainstAnotherTransaction) {
  for (const char* state : {"40001", "40P01", "55P03", "55006"}) {
    EXPECT_EQ(StateOf(state), Expected(Trouble::kPassing, Next::kAgain)) << state;
  }
}

TEST(DbPostgresqlStates, ReconnectsWhereTheConnectionServesNoMore) {
  for (const char* state : {"57P01", "57P02", "57P03", "57P05", "08000", "08006", "08P01", "53300",
                            "26000", "28P01", "3D000", "25P03", "40003"}) {
    EXPECT_EQ(StateOf(state), Expected(Trouble::kPassing, Next::kReconnect)) << state;
  }
}

TEST(DbPostgresqlStates, LooksForThePrimaryWhereTheServerIsReadOnly) {
  EXPECT_EQ(StateOf("25006"), Expected(Trouble::kReadOnly, Next::kReconnect));
}

TEST(DbPostgresqlStates, TakesNoAnswerOfTheServerAsALostConnection) {
  for (const char* state : {"", "2350", "235055", "23 05", "23p01",
                            "\xc3\xa9"
                            "001"}) {
    EXPECT_EQ(StateOf(state), Expected(Trouble::kPassing, Next::kReconnect)) << state;
  }
}

TEST(DbPostgresqlStates, RefusesAndKeepsTheConnectionWhereTheServerLacksSomething) {
  EXPECT_EQ(StateOf("53100"), Expected(Trouble::kFull, Next::kRefuse));
  for (const char* state : {"53000", "53200", "53400", "57014", "58000"}) {
    EXPECT_EQ(StateOf(state), Expected(Trouble::kPassing, Next::kRefuse)) << state;
  }
}

TEST(DbPostgresqlStates, LeavesToTheJobWhatItsStatementDid) {
  for (const char* state : {"23505", "23503", "23502", "42601", "42P01", "42703", "42501", "22003",
                            "22P02", "22021", "25P02", "40002", "54000", "P0001", "XX000"}) {
    EXPECT_EQ(StateOf(state), Expected(Trouble::kOwn, Next::kStatement)) << state;
  }
}

TEST(DbPostgresqlStates, PreparesAnewWhereAColumnWasChangedByHand) {
  EXPECT_EQ(StateOf("0A000"), Expected(Trouble::kOwn, Next::kReconnect));
}

TEST(DbPostgresqlStates, KnowsDamage) {
  EXPECT_EQ(StateOf("XX001"), Expected(Trouble::kDamaged, Next::kDamage));
  EXPECT_EQ(StateOf("XX002"), Expected(Trouble::kDamaged, Next::kDamage));
  EXPECT_EQ(StateOf("58P01"), Expected(Trouble::kDamaged, Next::kDamage));
  EXPECT_EQ(StateOf("58030"), Expected(Trouble::kIo, Next::kDamage));
}

TEST(DbPostgresqlStates, KnowsWhatIsNoError) {
  for (const char* state : {"00000", "01000", "01P01", "02000", "02001"}) {
    EXPECT_EQ(StateOf(state), Expected(Trouble::kNone, Next::kNothing)) << state;
  }
}

TEST(DbPostgresqlStates, HasARowForEachClassOfTheAppendix) {
  for (const std::string_view name : kClasses) {
    EXPECT_TRUE(HasRow(name)) << name;
  }
  EXPECT_FALSE(HasRow("ZZ"));
  EXPECT_EQ(StateOf("ZZ001"), Expected(Trouble::kOwn, Next::kStatement));
}

// Where the server's own list is installed, with each condition that it knows.
TEST(DbPostgresqlStates, HasARowForEachConditionOfTheInstalledServer) {
  for (int version = 15; version < 30; ++version) {
    std::ifstream file("/usr/share/postgresql/" + std::to_string(version) + "/errcodes.txt");
    for (std::string line; std::getline(file, line);) {
      // "23505    E    ERRCODE_UNIQUE_VIOLATION   unique_violation": S and W are no errors.
      if (line.size() < 10 || line.find(" ERRCODE_") == std::string::npos) continue;
      const std::string code = line.substr(0, 5);
      EXPECT_TRUE(HasRow(code) || HasRow(code.substr(0, 2))) << line;
      const bool is_error = line[line.find_first_not_of(' ', 5)] == 'E';
      EXPECT_EQ(StateOf(code).next != Next::kNothing, is_error && !code.starts_with("02")) << line;
    }
  }
}

// What ends a process is never read from an error: an error may be a lie of what stands between.
TEST(DbPostgresqlStates, EndsNoProcess) {
  for (const std::string_view name : kClasses) {
    EXPECT_NE(StateOf(std::string(name) + "000").next, Next::kEnd) << name;
  }
}

}  // namespace
}  // namespace comanda::db
