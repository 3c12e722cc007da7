#include "db/database.h"

#include "db/connection.h"
#include "db/readers.h"
#include "db/writer.h"

#include <sqlite3.h>

namespace comanda::db {
namespace {

constexpr int kProgressSteps = 10'000;  // well under a millisecond

int StopRequested(void* stop) noexcept {
  return static_cast<const std::stop_token*>(stop)->stop_requested() ? 1 : 0;
}

}  // namespace

Database::Database(Settings settings, const Clock& clock, Heartbeats& heartbeats,
                   metrics::Registry& metrics)
    : settings_(std::move(settings)),
      clock_(clock),
      readers_(std::make_unique<ReaderPool>(settings_, clock)),
      writer_(std::make_unique<Writer>(settings_, counters_, clock, heartbeats, metrics)) {}

Database::~Database() {
  writer_->Stop();
  // The writer's connection is then the last one: it checkpoints and removes the log on closing.
  readers_->CloseIdle();
}

void Database::SetAfterCommit(std::function<void()> wake) {
  writer_->SetAfterCommit(std::move(wake));
}

void Database::ContinueFrom(UtcMs last_stamp) { writer_->ContinueFrom(last_stamp); }

Database::Health Database::health() const { return writer_->health(); }

void Database::Stop() { writer_->Stop(); }

std::string Database::QuickCheck(std::stop_token stop) const {
  Connection connection(settings_.path, Connection::Role::kService, settings_.vfs, clock_);
  sqlite3_progress_handler(connection.handle(), kProgressSteps, &StopRequested, &stop);
  std::string problems;
  Session session(connection);
  try {
    for (Rows rows = session.Query("PRAGMA quick_check(20)"); rows.Next();) {
      if (rows.View(0) != "ok") problems += rows.Text(0) + "\n";
    }
  } catch (const Fault& fault) {
    if (stop.stop_requested()) return "";
    if (connection.trouble() != Trouble::kDamaged) throw;
    problems += fault.cause + "\n";
  }
  return problems;
}

void Database::CopyTo(const std::string& path) const {
  Connection connection(settings_.path, Connection::Role::kService, settings_.vfs, clock_);
  CopyDatabase(connection, path, settings_.vfs);
}

void Database::Run(const std::function<void(Tx&, const Stamp&)>& job) { writer_->Run(job); }

Database::Lease::Lease(Database& database)
    : database_(database), connection_(database.readers_->Acquire()) {
  snapshot_.emplace(*connection_);
}

Database::Lease::~Lease() { database_.readers_->Release(std::move(connection_)); }

std::string LibraryVersion() { return sqlite3_libversion(); }

int LibraryVersionNumber() { return sqlite3_libversion_number(); }

}  // namespace comanda::db
