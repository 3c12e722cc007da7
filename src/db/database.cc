#include "db/database.h"

#include "base/file.h"
#include "db/sqlite/connection.h"
#include "db/inspector.h"
#include "db/sqlite/read_only.h"
#include "db/readers.h"
#include "db/watcher.h"
#include "db/writer.h"

namespace comanda::db {

Database::Database(Settings settings, const Clock& clock, Heartbeats& heartbeats,
                   metrics::Registry& metrics)
    : settings_(std::move(settings)),
      clock_(clock),
      damaged_rows_(settings_.FileName(), settings_.MetricLabels(), metrics),
      inspector_(std::make_unique<Inspector>(
          settings_, clock,
          Inspector::Actions{
              .rebuild = [this](const std::string& index) { writer_->RebuildSoon(index); },
              .note_row = [this](const std::string& row) { damaged_rows_.NoteInFile(row); },
              .refuse_writes = [this](const std::string& why,
                                      bool is_unread) { writer_->RefuseJobs(why, is_unread); }})) {
  if (!settings_.is_read_only) {
    settings_.is_read_only = [directory = DirectoryOf(settings_.path)] {
      return DirectoryIsReadOnly(directory);
    };
  }
  settings_.begins_alone = settings_.is_onlooker || settings_.is_read_only();
  settings_.end_alone = [this](const std::function<void()>& open) {
    return readers_->EndAlone(open);
  };
  settings_.is_alone = [this] { return readers_->is_alone(); };
  settings_.log_waits = [this] { return writer_->log_waits(); };
  settings_.suspect = [this](const std::string& sql) { inspector_->Suspect(sql); };
  readers_ = std::make_unique<ReaderPool>(settings_, clock);
  writer_ =
      std::make_unique<Writer>(settings_, counters_, damaged_rows_, clock, heartbeats, metrics);
}

Database::~Database() {
  inspector_->Stop();
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

void Database::Stop() { writer_->Stop(); }

void Database::CheckBeforeServing(int64_t max_ms) {
  if (settings_.begins_alone) return;  // nothing could be mended
  if (!inspector_->LookBeforeServing(max_ms)) return;
  try {
    // The writer rebuilds the indexes before its next job.
    Write([](Tx&, const Stamp&) {});
  } catch (const Fault&) {  // a full disk, or one that takes no more writes: it is said elsewhere
  }
}

int64_t Database::rounds_of_inspection() const { return inspector_->rounds(); }

void Database::StartInspector() { inspector_->Start(); }

std::string Database::Inspect(std::stop_token stop) const {
  return inspector_->LookOnce(std::move(stop)).Text();
}

void Database::RefuseWrites(const std::string& why, bool is_unread) {
  writer_->RefuseJobs(why, is_unread);
}

std::unique_ptr<Watcher> Database::Watch() const {
  return std::make_unique<Watcher>(settings_.path, clock_, settings_.vfs);
}

void Database::Run(const std::function<void(Tx&, const Stamp&)>& job) { writer_->Run(job); }

Database::Lease::Lease(Database& database, Readers reader)
    : database_(database), reader_(reader), connection_(database.readers_->Acquire(reader)) {
  snapshot_.emplace(*connection_);
}

Database::Lease::~Lease() { database_.readers_->Release(std::move(connection_), reader_); }

}  // namespace comanda::db
