#pragma once

// Menu rows that were changed at this box are pushed to the cloud before its menu is read again
// (contract section 15.5): PUT /v1/menu/products with one product a step, under the cloud's ids
// (aliases), matched by sku where there is none. Edited on both sides since the last reading: the
// push wins, and a difference "menu" names both versions.
//
// What counts as changed locally is decided by what both sides had last (store::MenuState), not by
// who wrote an event: neither what the sync itself writes nor a product that was sold out is
// pushed.
//
// A cloud that went back to an earlier time (cloud/orders/went_back.h) shows a product as it was
// before it was pushed, or not at all: it is pushed again (IsLost). One that was changed there
// since then is taken, and a difference says so.
//
// Steps of the menu are in the journal under an empty order id, kinds kMenu and kMenuClear. One
// that the cloud refuses is dropped (DropPush): the cloud's version then comes back with the next
// reading.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cloud/link/client.h"
#include "cloud/orders/journal.h"
#include "cloud/orders/step.h"
#include "cloud/restaurant/restaurant_store.h"
#include "company/company.h"
#include "db/session.h"
#include "events/log.h"
#include "json/reader.h"
#include "menu/product.h"

namespace comanda::cloud {

// Notes all products as they are: only what changes from now on is pushed. In the transaction that
// links the company.
void NoteMenu(db::Tx& tx, db::CompanyId company);

// Plans the push of the products that an event of the log names, in the caller's transaction. The
// number of new steps.
size_t PlanMenu(db::Tx& tx, db::CompanyId company, const events::StoredEvent& event,
                const db::Stamp& stamp);

// The request that shows the product of a step as the cloud has it, to be asked before the step is
// sent for the first time; nothing where the cloud does not know the product.
std::optional<Request> LookBeforePush(db::Session& session, db::CompanyId company,
                                      const Step& step);
// Its answer: an edit of the cloud that the push is about to replace becomes a difference. Where
// the cloud has a text that is empty locally, a step behind the push clears it.
void NoteBeforePush(db::Tx& tx, db::CompanyId company, const Step& step, std::string_view answer,
                    const db::Stamp& stamp);

// The cloud has accepted the step: its answer names the id of a new product, which becomes an
// alias; the menu is due to be read, which gives those of the rows below it.
void TakePushed(db::Tx& tx, db::CompanyId company, const Step& step, std::string_view answer,
                const db::Stamp& stamp);

// The cloud has refused the step, which the caller removes: a difference with the problem.
void DropPush(db::Tx& tx, db::CompanyId company, const Step& step, std::string_view problem,
              const db::Stamp& stamp);

// Whether the cloud, which shows a product with a last change of that time (0: it says none), has
// lost what was pushed of it. What it has not shown since the push is lost in doubt, where the
// cloud may have gone back.
bool IsLost(const store::MenuState& state, UtcMs changed_at, bool went_back);
// Pushes it again. `fingerprint`: of what the cloud shows; empty: it shows no such product, which a
// difference says. `knows_category`: the cloud shows its category.
void PushAgain(db::Tx& tx, db::CompanyId company, const std::string& product_id,
               const std::string& fingerprint, bool knows_category, const db::Stamp& stamp);
// The cloud that went back shows the product with a later change than was pushed.
void NoteChangedSince(db::Tx& tx, const company::Company& company, const menu::Product& box,
                      const menu::Product& shown, const db::Stamp& stamp);

// The step has its answer.
void RemovePush(db::Tx& tx, db::CompanyId company, const Waiting& waiting);

// Local ids of the products that wait for their push.
std::vector<std::string> WaitingProducts(db::Session& session, db::CompanyId company);

// A reading shows a product that was edited here: if the cloud has edited it too, a difference.
void NoteCloudEdit(db::Tx& tx, const company::Company& company, const menu::Product& box,
                   const menu::Product& shown, const db::Stamp& stamp);

}  // namespace comanda::cloud
