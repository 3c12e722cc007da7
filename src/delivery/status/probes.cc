#include "delivery/status/probes.h"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "base/concat.h"
#include "base/log.h"
#include "base/problem.h"
#include "delivery/account.h"

namespace comanda::delivery {
namespace {

constexpr int64_t kAnswerMsMax = 5'000;
// After that many failures in a row an app is left alone for a while.
constexpr int kFailuresMax = 5;
constexpr int64_t kRestMs = 60'000;

bool IsFailure(const StatusRow& row) {
  return row.reason == Reason::kTimeout || row.reason == Reason::kAuthFailed ||
         row.reason == Reason::kRateLimited || row.reason == Reason::kError;
}

Found NotAsked(const Provider& provider, Reason reason) {
  return {.row = {.provider_name = provider.name, .reason = reason}};
}

}  // namespace

Probes::Probes(ProbesSettings settings)
    : settings_(settings), authorities_(settings_.options.webhook_ca) {}

Probes::~Probes() {
  std::vector<std::jthread> threads;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [key, entry] : entries_) {
      entry->thread.request_stop();
      threads.push_back(std::move(entry->thread));
    }
  }
  threads.clear();  // joined without the lock, which they take at their end
}

Probes::Entry& Probes::EntryOf(const Key& key) {
  std::unique_ptr<Entry>& entry = entries_[key];
  if (!entry) entry = std::make_unique<Entry>();
  return *entry;
}

std::vector<StatusRow> Probes::Find(const company::Company& company,
                                    const Catalogue::Providers& providers) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kAnswerMsMax);
  std::vector<StatusRow> rows;
  std::unique_lock lock(mutex_);
  const int64_t now_ms = settings_.clock.MonotonicMs();
  for (const auto& provider : providers) {
    if (!provider->status || !CanAsk()) continue;
    const Key key = {company.id, provider->name};
    Entry& entry = EntryOf(key);
    const bool is_kept =
        entry.found && now_ms < std::max(entry.fresh_until_ms, entry.not_before_ms);
    if (!is_kept && !entry.is_running) Start(entry, company, provider);
  }
  for (const auto& provider : providers) {
    if (!provider->status || !CanAsk()) {
      rows.push_back(
          NotAsked(*provider, provider->status ? Reason::kNoCredentials : Reason::kNotSupported)
              .row);
      continue;
    }
    Entry& entry = EntryOf({company.id, provider->name});
    ended_.wait_until(lock, deadline, [&] { return !entry.is_running; });
    if (!entry.is_running && entry.found) {
      rows.push_back(entry.found->row);
    } else {
      rows.push_back({.provider_name = provider->name,
                      .reason = Reason::kTimeout,
                      .checked_at = settings_.clock.Now()});
    }
  }
  return rows;
}

Found Probes::Try(const company::Company& company, std::shared_ptr<const Provider> provider) {
  if (!provider->status) return NotAsked(*provider, Reason::kNotSupported);
  const Key key = {company.id, provider->name};
  std::unique_lock lock(mutex_);
  Entry& entry = EntryOf(key);
  const auto has_ended = [&] { return !entry.is_running; };
  ended_.wait(lock, has_ended);
  Start(entry, company, std::move(provider));
  ended_.wait(lock, has_ended);
  return *entry.found;
}

std::optional<StatusRow> Probes::Last(const std::string& company_uuid, const std::string& app) {
  const std::lock_guard lock(mutex_);
  const auto entry = entries_.find({company_uuid, app});
  if (entry == entries_.end() || !entry->second->found) return std::nullopt;
  return entry->second->found->row;
}

void Probes::Forget(std::string_view app) {
  const std::lock_guard lock(mutex_);
  for (auto& [key, entry] : entries_) {
    if (key.second != app) continue;
    ++entry->generation;
    entry->fresh_until_ms = entry->not_before_ms = 0;
    entry->failures = 0;
  }
}

std::string Probes::Describe() {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& [key, entry] : entries_) {
    if (!entry->found || !entry->is_configured) continue;
    const StatusRow& row = entry->found->row;
    text += Concat({text.empty() ? "" : ", ", row.provider_name, " ", Name(row.status)});
    if (row.reason != Reason::kNone) text += Concat({" (", Name(row.reason), ")"});
  }
  return text;
}

// Called with the lock.
void Probes::Start(Entry& entry, const company::Company& company,
                   std::shared_ptr<const Provider> provider) {
  entry.is_running = true;
  try {
    // The thread before has ended, or is at its very end without the lock.
    entry.thread = std::jthread([this, &entry, company, provider](const std::stop_token& stop) {
      LookUp(entry, company, provider, stop);
    });
  } catch (const std::system_error& error) {
    entry.is_running = false;
    log::Error("could not ask a delivery app for the store's status",
               {{"app", provider->name}, {"why", error.what()}});
    entry.found = NotAsked(*provider, Reason::kError);
  }
}

// On the thread of the look-up.
void Probes::LookUp(Entry& entry, const company::Company& company,
                    const std::shared_ptr<const Provider>& provider, const std::stop_token& stop) {
  Found found = NotAsked(*provider, Reason::kError);
  bool is_configured = false;
  Token token;
  int64_t generation = 0;
  {
    const std::lock_guard lock(mutex_);
    if (entry.asked_with == entry.generation) token = entry.token;
    generation = entry.generation;
  }
  try {
    const auto account = FindAccount(settings_.options, company, provider, Authorities());
    is_configured = account.has_value();
    found = account ? Ask(*account, token, *settings_.network, settings_.clock, stop)
                    : NotAsked(*provider, Reason::kNoCredentials);
  } catch (const std::exception& error) {  // e.g. a file that cannot be read
    found.words = error.what();
  }
  const std::lock_guard lock(mutex_);
  entry.is_configured = is_configured;
  entry.token = std::move(token);
  entry.asked_with = generation;
  Keep(entry, {company.id, provider->name}, *provider, std::move(found));
  if (generation != entry.generation) entry.fresh_until_ms = entry.not_before_ms = 0;
  entry.is_running = false;
  ended_.notify_all();
}

// Called with the lock.
void Probes::Keep(Entry& entry, const Key& key, const Provider& provider, Found found) {
  const int64_t now_ms = settings_.clock.MonotonicMs();
  entry.fresh_until_ms = now_ms + provider.limits.fresh_s * 1'000;
  entry.failures = IsFailure(found.row) ? entry.failures + 1 : 0;
  entry.not_before_ms = found.not_before_ms.value_or(0);
  if (entry.failures >= kFailuresMax) {
    entry.not_before_ms = std::max(entry.not_before_ms, now_ms + kRestMs);
  }
  const bool is_news = !entry.found || entry.found->row.status != found.row.status ||
                       entry.found->row.reason != found.row.reason;
  if (is_news && entry.is_configured) {
    log::Notice("the store in a delivery app", {{"app", provider.name},
                                                {"status", Name(found.row.status)},
                                                {"reason", Name(found.row.reason)},
                                                {"words", found.words}});
  }
  entry.is_open = found.row.status == StoreStatus::kUnknown
                      ? -1
                      : static_cast<int>(found.row.status == StoreStatus::kOpen);
  entry.found = std::move(found);
  if (entry.is_configured) ShowInMetrics(entry, key);
}

void Probes::ShowInMetrics(Entry& entry, const Key& key) {
  if (entry.open_gauge) return;
  const std::string labels = Concat({R"(app=")", key.second, R"(",company=")", key.first, R"(")"});
  entry.open_gauge.emplace(
      settings_.metrics, "comanda_delivery_store_open",
      "1 while the restaurant's store is open in that app, else 0.",
      [&entry] { return entry.is_open == 1 ? 1.0 : 0.0; }, labels);
  entry.known_gauge.emplace(
      settings_.metrics, "comanda_delivery_store_known",
      "1 while that app tells the state of the store, 0 while it is UNKNOWN.",
      [&entry] { return entry.is_open >= 0 ? 1.0 : 0.0; }, labels);
}

}  // namespace comanda::delivery
