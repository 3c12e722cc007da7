// Orders on a disk that fails at every operation in turn. Each time the restaurant lives in a
// process of its own: it makes the file, takes orders in groups, serves, has them paid and closes,
// and tells what it acknowledged. Then the file is looked at on a disk that works, as the process
// that systemd starts would find it: what was acknowledged is there once, what was refused is not,
// and the rest of the work can be done.

#include "orders/orders.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"
#include "base/problem.h"
#include "company/companies.h"
#include "db/sqlite/file_watcher.h"
#include "orders/store.h"
#include "support/faulty_disk.h"
#include "support/restaurant_database.h"

namespace comanda::orders {
namespace {

using testing::FakeClock;
using testing::FaultyDisk;
using testing::kCompany;
using testing::kCompanyId;
using testing::RestaurantMigrations;
using testing::TemporaryDirectory;
using Operation = FaultyDisk::Operation;
using Manner = FaultyDisk::Manner;

constexpr int kOrders = 4;
constexpr int kSteps = 4;  // placed, served, paid, finalized
constexpr unsigned kHangsAfterS = 60;
// As a process ends that could not open the database, or was told to by the writer.
constexpr int kNotOpened = 71;
constexpr int kWriterGaveUp = 70;

std::string Id(int number, int order) {
  return "0190a5c8-000" + std::to_string(number) + "-7000-8000-00000000000" + std::to_string(order);
}

// A server's database, opened as the server does.
class Restaurant {
 public:
  Restaurant(const std::string& directory, const std::string& vfs)
      : database_(
            {.path = directory + "/live.db", .migrations = RestaurantMigrations(), .vfs = vfs},
            clock_, heartbeats_, registry_) {}

  db::Database& operator*() { return database_; }
  db::Database* operator->() { return &database_; }

  // Nothing where it is there already.
  void Found() {
    database_.Write([](db::Tx& tx, const db::Stamp& stamp) {
      if (tx.Exists("SELECT 1 FROM company")) return;
      tx.Run(
          "INSERT INTO company (company_id, id, name, country_code, timezone, business_hours,"
          " currency, created_at, updated_at)"
          " VALUES ($1, $2, 'La Terraza', 'PE', 'America/Lima', '{}', 'PEN', $3, $3)",
          kCompany, kCompanyId, stamp.now);
      tx.Run("INSERT INTO company_counter (company_id) VALUES ($1)", kCompany);
      tx.Run(
          "INSERT INTO payment_method (company_id, id, code, description, service_types,"
          " created_seq) VALUES ($1, $2, 'cash', 'Efectivo', 15, 1)",
          kCompany, Id(9, 0));
    });
  }

  void Wait() {
    database_.Write([](db::Tx&, const db::Stamp&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(4));
    });
  }

  void Do(int step, int order) {
    const Target target{kCompany, Id(1, order), "key:till"};
    database_.Write([&](db::Tx& tx, const db::Stamp& stamp) {
      switch (step) {
        case 0:
          Place(tx, company::Get(tx, kCompany), {},
                {.id = target.key,
                 .public_numbers = {"100000000" + std::to_string(order)},
                 .reference = "ref-" + std::to_string(order),
                 .fingerprint = "f",
                 .actor = target.actor},
                stamp);
          return;
        case 1: {
          Combo combo;
          combo.id = Id(2, order);
          combo.product_name = std::string(3000, 'j');  // a page of its own
          combo.quantity = kOneInThousandths;
          combo.variant_price = combo.variant_original_price = 3500;
          combo.combo_price = combo.combo_original_price = 3500;
          AddCombos(tx, target, {combo}, stamp);
          return;
        }
        case 2: {
          PaymentDraft cash;
          cash.method_code = "cash";
          cash.payment.id = Id(3, order);
          cash.payment.amount = 3500;
          Pay(tx, target, cash, stamp);
          return;
        }
        default:
          Advance(tx, target, Status::kFinalized, stamp);
      }
    });
  }

  // How many steps the order has behind it, as it is read.
  int StepsOf(int order) {
    return database_.Read([&](db::Snapshot& snapshot) {
      const auto found = Select(snapshot, kCompany, Id(1, order));
      if (!found) return 0;
      EXPECT_LE(found->combos.size(), 1u);
      EXPECT_LE(found->payments.size(), 1u);
      if (found->status == Status::kFinalized) return 4;
      return 1 + static_cast<int>(found->combos.size() + found->payments.size());
    });
  }

  int64_t Number(db::Sql sql) {
    return database_.Read(
        [&](db::Snapshot& snapshot) { return snapshot.FindInt(sql).value_or(-1); });
  }

 private:
  FakeClock clock_;
  Heartbeats heartbeats_{clock_};
  metrics::Registry registry_;
  db::Database database_;
};

struct Trial {
  Operation operation;
  int n;
  int code;
  int times;
  Manner manner = Manner::kNothingDone;
};

// What the process told: how far each order was acknowledged, and how it ended.
struct Told {
  std::map<int, int> acknowledged;  // order: steps
  std::map<int, int> refused;       // order: the step that was refused at last
  bool faulty = false;              // the disk did fail
  bool wrong_kind = false;          // a fault that would be a 500
  bool stays_refused = false;       // the disk works again, and writes are refused
  std::map<Operation, int> counts;
  int status = 0;
};

class OrdersDisk : public ::testing::Test {
 protected:
  OrdersDisk() { log::SetLevel(log::Level::kWarning); }
  ~OrdersDisk() override { log::SetLevel(log::Level::kInfo); }

  // A process under way, and the pipe it tells through.
  struct Child {
    Trial trial;
    std::unique_ptr<TemporaryDirectory> directory;
    pid_t process;
    int pipe;
  };

  static Child Begin(const Trial& trial) {
    Child child{trial, std::make_unique<TemporaryDirectory>(), 0, -1};
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    child.pipe = ends[0];
    child.process = ::fork();
    if (child.process == 0) {
      ::close(ends[0]);
      log::SetOutput(::open((child.directory->path() + "/log").c_str(), O_WRONLY | O_CREAT, 0600));
      ::alarm(kHangsAfterS);
      ::_exit(Live(trial, child.directory->path(), ends[1]));
    }
    ::close(ends[1]);
    return child;
  }

  static void Tell(int pipe, char what, int first, int second) {
    const int words[3] = {what, first, second};
    if (::write(pipe, words, sizeof words) != sizeof words) ::_exit(1);
  }

  // The whole life of one process; its exit status.
  static int Live(const Trial& trial, const std::string& directory, int pipe) {
    FaultyDisk disk;
    disk.Fail(trial.operation, trial.n, trial.code, trial.times, trial.manner);
    int status = 0;
    try {
      // Founded and closed first, so that pages are read from the file and not from memory.
      Restaurant(directory, disk.name()).Found();
      Restaurant restaurant(directory, disk.name());
      Work(restaurant, pipe);
      disk.Heal();
      // It must go on by itself where the process goes on.
      try {
        restaurant.Found();
      } catch (const Fault&) {
        Tell(pipe, 'S', 0, 0);
      }
      if (disk.failed() == 0) disk.Fail(trial.operation, 1, trial.code);  // then in closing
    } catch (const Fault&) {
      status = kNotOpened;
    }
    if (disk.failed() > 0) Tell(pipe, 'F', 0, 0);
    for (const Operation one : kAll) Tell(pipe, 'C', static_cast<int>(one), disk.count(one));
    return status;
  }

  static void Work(Restaurant& restaurant, int pipe) {
    if (!Attempt(pipe, -1, 0, [&] { restaurant.Found(); })) return;
    // A till whose step failed takes no further one: a payment may stand before its item.
    std::array<std::atomic<bool>, kOrders> given_up{};
    for (int step = 0; step < kSteps; ++step) {
      std::vector<std::jthread> tills;
      // Behind a job that takes a while the tills' are a group.
      tills.emplace_back([&restaurant, pipe] { Attempt(pipe, -1, 0, [&] { restaurant.Wait(); }); });
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      for (int order = 0; order < kOrders; ++order) {
        if (given_up[order]) continue;
        tills.emplace_back([&restaurant, &given_up, pipe, step, order] {
          given_up[order] = !Attempt(pipe, order, step, [&] { restaurant.Do(step, order); });
        });
      }
    }
  }

  // False where it failed.
  template <typename Work>
  static bool Attempt(int pipe, int order, int step, Work&& work) {
    try {
      work();
      Tell(pipe, 'A', order, step + 1);
      return true;
    } catch (const Fault& fault) {
      Tell(pipe, fault.kind == Fault::Kind::kInternal ? 'W' : 'R', order, step);
      return false;
    }
  }

  static Told Hear(const Child& child) {
    Told told;
    int words[3];
    while (::read(child.pipe, words, sizeof words) == sizeof words) {
      switch (words[0]) {
        case 'A':
          told.acknowledged[words[1]] = words[2];
          break;
        case 'W':
          told.wrong_kind = true;
          told.refused[words[1]] = words[2];
          break;
        case 'R':
          told.refused[words[1]] = words[2];
          break;
        case 'F':
          told.faulty = true;
          break;
        case 'S':
          told.stays_refused = true;
          break;
        default:
          told.counts[static_cast<Operation>(words[1])] = words[2];
      }
    }
    ::close(child.pipe);
    EXPECT_EQ(::waitpid(child.process, &told.status, 0), child.process);
    return told;
  }

  static std::string LogOf(const Child& child) {
    std::ifstream file(*child.directory / "log");
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  static void Check(const Child& child, const Told& told) {
    ASSERT_TRUE(WIFEXITED(told.status))
        << "signal " << WTERMSIG(told.status) << ": a hang or crash\n"
        << LogOf(child);
    const int status = WEXITSTATUS(told.status);
    EXPECT_TRUE(status == 0 || status == kNotOpened || status == kWriterGaveUp) << status;
    const bool ends_by_itself = child.trial.times > 1 && (child.trial.code & 0xff) != SQLITE_FULL;
    EXPECT_TRUE(ends_by_itself || status != kWriterGaveUp) << "one failure ends no process";
    EXPECT_FALSE(told.wrong_kind) << "a failing disk is a 503";
    EXPECT_FALSE(told.stays_refused) << "writes go on by themselves when the disk works";

    Restaurant restaurant(child.directory->path(), "");
    EXPECT_TRUE(db::FileWatcher(restaurant->settings(), SystemClock()).CheckFile().is_sound());
    for (int order = 0; order < kOrders; ++order) {
      const int steps = restaurant.StepsOf(order);
      const auto acknowledged = told.acknowledged.find(order);
      const int told_steps = acknowledged == told.acknowledged.end() ? 0 : acknowledged->second;
      EXPECT_GE(steps, told_steps) << "order " << order << ": lost";
      if (const auto refused = told.refused.find(order);
          refused != told.refused.end() && refused->second >= told_steps) {
        EXPECT_LE(steps, refused->second) << "order " << order << ": refused, and done";
      }
    }
    restaurant.Found();
    for (int order = 0; order < kOrders; ++order) {
      for (int step = restaurant.StepsOf(order); step < kSteps; ++step) restaurant.Do(step, order);
      EXPECT_EQ(restaurant.StepsOf(order), kSteps);
    }
    EXPECT_EQ(restaurant.Number("SELECT count(*) FROM event"), kOrders * kSteps);
    EXPECT_EQ(restaurant.Number("SELECT max(seq) FROM event"), kOrders * kSteps) << "gapless";
    EXPECT_EQ(restaurant.Number("SELECT sum(version) FROM orders"), kOrders * kSteps);
    EXPECT_EQ(restaurant.Number("SELECT sum(amount) FROM payment"), kOrders * 3500);
  }

  // Every n, or as many as fit into the time of an edit, evenly.
  static std::vector<int> Points(int last) {
    const int count = ::getenv("COMANDA_LONG") ? last : kPointsMax;
    const int step = std::max(1, last / count);
    std::vector<int> points;
    for (int n = 1; n <= last; n += step) points.push_back(n);
    return points;
  }

  static void Sweep(Operation operation, int code, int times,
                    Manner manner = Manner::kNothingDone) {
    int last = 0;
    {
      const Child child = Begin({operation, 1 << 30, code, 1, manner});
      last = Hear(child).counts[operation];
    }
    ASSERT_GT(last, 0);
    int faulty = 0;
    const std::vector<int> points = Points(last);
    for (size_t begin = 0; begin < points.size(); begin += kTogether) {
      std::vector<Child> children;
      for (size_t i = begin; i < std::min(points.size(), begin + kTogether); ++i) {
        children.push_back(Begin({operation, points[i], code, times, manner}));
      }
      for (const Child& child : children) {
        SCOPED_TRACE("n = " + std::to_string(child.trial.n) + " of " + std::to_string(last));
        const Told told = Hear(child);
        Check(child, told);
        faulty += told.faulty || WEXITSTATUS(told.status) == kWriterGaveUp;
      }
    }
    EXPECT_GE(faulty, static_cast<int>(points.size()) * 9 / 10) << "or the test proves nothing";
  }

  static constexpr int kPointsMax = 8;
  static constexpr size_t kTogether = 8;
  static constexpr Operation kAll[] = {Operation::kOpen, Operation::kRead,     Operation::kWrite,
                                       Operation::kSync, Operation::kTruncate, Operation::kDelete,
                                       Operation::kMap};
};

TEST_F(OrdersDisk, GoesOnWhenAWriteFailsOnce) { Sweep(Operation::kWrite, SQLITE_IOERR_WRITE, 1); }
TEST_F(OrdersDisk, GoesOnWhenAWriteIsTornOnce) {
  Sweep(Operation::kWrite, SQLITE_IOERR_WRITE, 1, Manner::kHalfDone);
}
TEST_F(OrdersDisk, EndsCleanlyWhenWritesKeepBeingTorn) {
  Sweep(Operation::kWrite, SQLITE_IOERR_WRITE, FaultyDisk::kForEver, Manner::kHalfDone);
}
TEST_F(OrdersDisk, GoesOnWhenThereIsNoSpaceOnce) { Sweep(Operation::kWrite, SQLITE_FULL, 1); }
TEST_F(OrdersDisk, GoesOnWhenThereIsNoSpaceForAWhile) {
  Sweep(Operation::kWrite, SQLITE_FULL, FaultyDisk::kForEver, Manner::kHalfDone);
}
TEST_F(OrdersDisk, GoesOnWhenASyncFailsOnce) { Sweep(Operation::kSync, SQLITE_IOERR_FSYNC, 1); }
TEST_F(OrdersDisk, EndsCleanlyWhenSyncsKeepFailing) {
  Sweep(Operation::kSync, SQLITE_IOERR_FSYNC, FaultyDisk::kForEver);
}
TEST_F(OrdersDisk, GoesOnWhenASyncFindsNoSpaceForAWhile) {
  Sweep(Operation::kSync, SQLITE_FULL, FaultyDisk::kForEver);
}
TEST_F(OrdersDisk, GoesOnWhenAReadFailsOnce) { Sweep(Operation::kRead, SQLITE_IOERR_READ, 1); }
TEST_F(OrdersDisk, EndsCleanlyWhenReadsKeepFailing) {
  Sweep(Operation::kRead, SQLITE_IOERR_READ, FaultyDisk::kForEver);
}
TEST_F(OrdersDisk, GoesOnWhenAReadBringsGarbageOnce) {
  Sweep(Operation::kRead, SQLITE_IOERR_READ, 1, Manner::kGarbled);
}
TEST_F(OrdersDisk, EndsCleanlyWhenReadsKeepBringingGarbage) {
  Sweep(Operation::kRead, SQLITE_IOERR_READ, FaultyDisk::kForEver, Manner::kGarbled);
}
TEST_F(OrdersDisk, GoesOnWhenAFileCannotBeOpenedOnce) {
  Sweep(Operation::kOpen, SQLITE_CANTOPEN, 1);
}
TEST_F(OrdersDisk, EndsCleanlyWhenNoFileCanBeOpened) {
  Sweep(Operation::kOpen, SQLITE_CANTOPEN, FaultyDisk::kForEver);
}
TEST_F(OrdersDisk, GoesOnWhenTheLogCannotBeTruncated) {
  Sweep(Operation::kTruncate, SQLITE_IOERR_TRUNCATE, FaultyDisk::kForEver);
}
TEST_F(OrdersDisk, GoesOnWhenTheLogCannotBeDeleted) {
  Sweep(Operation::kDelete, SQLITE_IOERR_DELETE, FaultyDisk::kForEver);
}
TEST_F(OrdersDisk, GoesOnWhenTheLogsIndexCannotGrowOnce) {
  Sweep(Operation::kMap, SQLITE_IOERR_SHMSIZE, 1);
}
TEST_F(OrdersDisk, EndsCleanlyWhenTheLogsIndexCannotGrow) {
  Sweep(Operation::kMap, SQLITE_IOERR_SHMSIZE, FaultyDisk::kForEver);
}

}  // namespace
}  // namespace comanda::orders
