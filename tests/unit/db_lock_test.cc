#include "db/lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/problem.h"
#include "support/test_database.h"

namespace comanda::db {
namespace {

// What another process gets: 1 the lock, 0 nothing.
int TryInAnotherProcess(const std::string& directory) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(DirectoryLock::TryAcquire(directory) ? 1 : 0);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(DbLock, BelongsToOneProcess) {
  testing::TemporaryDirectory directory;
  auto lock = DirectoryLock::TryAcquire(directory.path());
  ASSERT_TRUE(lock);
  EXPECT_EQ(TryInAnotherProcess(directory.path()), 0);
  lock.reset();
  EXPECT_EQ(TryInAnotherProcess(directory.path()), 1);
  EXPECT_TRUE(DirectoryLock::TryAcquire(directory.path())) << "a process that ended holds nothing";
}

TEST(DbLock, SaysWhenTheDirectoryCannotBeUsed) {
  testing::TemporaryDirectory directory;
  EXPECT_THROW(DirectoryLock::TryAcquire(directory / "missing"), Fault);
}

}  // namespace
}  // namespace comanda::db
