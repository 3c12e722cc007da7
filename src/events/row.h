#pragma once

// A row of the table of events as a statement returns it: one of this room, or that of a list which
// joins the rows of its records. The statement returns all columns that Content has, and checksum.

#include <optional>
#include <string_view>

#include "base/problem.h"
#include "db/session.h"
#include "events/check.h"

namespace comanda::events {

// Views of the row. Fault kDamaged where a value is of another type.
Content ReadContent(const auto& row) {
  return {.seq = row.Int("seq"),
          .epoch = row.Int("epoch"),
          .event_id = row.View("event_id"),
          .type = row.View("type"),
          .changes = row.View("changes"),
          .subject_type = row.View("subject_type"),
          .subject_id = row.View("subject_id"),
          .subject_version = row.Int("subject_version"),
          .at = row.Int("at"),
          .body = row.View("body"),
          .note = row.View("note")};
}

// The body as a view of the row; nothing if the row is damaged, or belongs to another subject or
// another version.
std::optional<std::string_view> FindBody(db::Session& session, db::CompanyId company,
                                         const auto& row, std::string_view subject_id,
                                         int64_t subject_version) {
  try {
    const Content content = ReadContent(row);
    const bool is_wanted = content.subject_id == subject_id &&
                           content.subject_version == subject_version &&
                           IsSound(session, company, content, row.OptionalInt("checksum"));
    if (!is_wanted) return std::nullopt;
    return content.body;
  } catch (const Fault& fault) {
    if (fault.kind != Fault::Kind::kDamaged) throw;
    return std::nullopt;
  }
}

}  // namespace comanda::events
