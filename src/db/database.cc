#include "db/database.h"

#include "base/file.h"
#include "engine/connection.h"
#include "db/read_only.h"
#include "db/readers.h"
#include "db/watcher.h"
#include "db/writer.h"

namespace comanda::db {

Database::Database(Settings settings, const Clock& clock, Heartbeats& heartbeats,
                   metrics::Registry& metrics)
    : settings_(std::move(settings)),
      clock_(clock),
      damaged_rows_(settings_.FileName(), settings_.MetricLabels(), metrics) {
  if (!settings_.is_read_only) {
    settings_.is_read_only = [directory = DirectoryOf(settings_.path)] {
      return DirectoryIsReadOnly(directory);
    };
  }
  settings_.begins_alone = settings_.is_onlooker || settings_.is_read_only();
  settings_.end_alone = [this](const std::function<void()>& open) {
    return readers_->EndAlone(open);
  };
  settings_.suspect = [this] { is_suspected_ = true; };
  settings_.server_of_writer = [this] { return writer_ ? owner().server : std::string(); };
  readers_ = std::make_unique<ReaderPool>(settings_, clock);
  writer_ = std::make_unique<Writer>(settings_, counters_, clock, heartbeats, metrics);
}

Database::~Database() {
  writer_->Stop();
  // The writer's connection is then the last one: it checkpoints and removes the log on closing.
  readers_->CloseIdle();
}

void Database::SetAfterCommit(std::function<void()> wake) {
  writer_->SetAfterCommit(std::move(wake));
}

void Database::ContinueFrom(UtcMs last_stamp) { writer_->ContinueFrom(last_stamp); }

bool Database::IsReadOnly() const { return writer_->IsReadOnly(); }

bool Database::IsAlone() const { return readers_->is_alone(); }

Health Database::health() const { return writer_->health(); }

bool Database::IsServing() const { return writer_->upkeep().IsServing(); }

OwnerNote Database::owner() const { return writer_->upkeep().note(); }

bool Database::WentBack() const { return writer_->upkeep().went_back(); }

std::string Database::Identity() const { return writer_->upkeep().identity(); }

void Database::Stop() { writer_->Stop(); }

bool Database::log_waits() const { return writer_->log_waits(); }

void Database::Reindex(const std::string& index) { writer_->Reindex(index); }

void Database::RefuseWrites(const std::string& why, bool is_unread) {
  writer_->RefuseJobs(why, is_unread);
}

std::unique_ptr<Watcher> Database::Watch() const {
  return std::make_unique<Watcher>(settings_, clock_);
}

void Database::Run(const std::function<void(Tx&, const Stamp&)>& job) { writer_->Run(job); }

Database::Lease::Lease(Database& database, Readers reader)
    : database_(database), reader_(reader), connection_(database.readers_->Acquire(reader)) {
  snapshot_.emplace(*connection_);
}

Database::Lease::~Lease() { database_.readers_->Release(std::move(connection_), reader_); }

}  // namespace comanda::db
