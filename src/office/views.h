#pragma once

// The views by which a chain's office asks in SQL (contract section 23): schema `office`, role
// `comanda_office`. Each is a file of views/, a SELECT on the tables of the restaurants; names and
// columns are a promise as /v1 is. The sandbox is in none.
//
//   - Amounts are in major units, with as many decimals as ISO 4217 gives the currency of the row's
//     order, quantities in units: numeric, never rounded. Instants are timestamptz.
//   - business_day is that of the order's row, as a date. It is null in orders of programs that
//   knew
//     no business days and have not been written since. The expression is, to the letter, that of
//     the index by which a range of days is found.
//   - No view has a condition that hides a row of its tables, so that none needs security_barrier:
//     a function of whoever asks sees columns of the view, and these of each row are his to see.
//   - No person: no client, staff name, phone, e-mail, address, comment, reason, rider, reference
//     of a payment. No view reads rendered records (event.body).
//   - A column is added at the end of its view: that is all that CREATE OR REPLACE VIEW takes.
//   - Not there yet, and to come with suspended companies and linked boxes: state, last_seen_at and
//     behind_seconds of office.company.
//
// What is called minor_unit(x.currency) in the files is the value of one minor unit of that
// currency. It stands for an expression and no function: a function would have to be callable by
// whoever asks, and is called for each row where it is not inlined.

#include "db/postgresql/published.h"

namespace comanda::office {

// Valid for the life of the process. Any thread.
const db::Published& Views();

}  // namespace comanda::office
