#pragma once

// users[] of an import file.

#include <string>
#include <vector>

#include "company/tally.h"
#include "db/session.h"
#include "json/reader.h"
#include "users/draft.h"

namespace comanda::users {

// `row` is the company's; every wrong field is noted in its errors.
std::vector<Draft> ReadDrafts(json::ObjectReader& row, const std::string& company_uuid);

company::Tally Import(db::Tx& tx, db::CompanyId company, const std::vector<Draft>& drafts,
                      const db::Stamp& stamp);

}  // namespace comanda::users
