-- -- damage (orders/checksum.h, events/checksum.h) ----------------------------------------------------

-- CRC-32 of the order with all its rows, as a signed number of 32 bits. Null: of an older program, and not yet
-- given one.
ALTER TABLE orders ADD COLUMN checksum INTEGER;
-- CRC-32 of the event's content, and of that together with the predecessor's `chain`.
ALTER TABLE event ADD COLUMN checksum INTEGER;
ALTER TABLE event ADD COLUMN chain INTEGER;

-- The `chain` of the last event, and the first event that has one.
ALTER TABLE company_counter ADD COLUMN event_chain INTEGER NOT NULL DEFAULT 0;
ALTER TABLE company_counter ADD COLUMN chain_start INTEGER NOT NULL DEFAULT 1;
-- 1: every order and event has a checksum, so that a missing one is damage.
ALTER TABLE company_counter ADD COLUMN checksums_complete INTEGER NOT NULL DEFAULT 1;
UPDATE company_counter SET chain_start = event_seq + 1, checksums_complete = 0;

-- -- time (base/clock.h) -------------------------------------------------------------------------------

-- Moments of counted time (events/marks.h), by which answers and events are forgotten.
CREATE TABLE mark (
  mark INTEGER PRIMARY KEY,
  counted_ms INTEGER NOT NULL,        -- counted time since the first mark
  at INTEGER NOT NULL,                -- by the wall clock
  settled_at INTEGER NOT NULL,        -- the same moment by the settled clock
  away_ms INTEGER NOT NULL,           -- for how long the two had differed by more than 5 minutes; 0: they did not
  is_synchronised INTEGER NOT NULL,   -- 1: the system said that it kept the wall clock right
  schema_version INTEGER NOT NULL
) STRICT;
-- The last event of each company's log at that moment.
CREATE TABLE event_mark (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  mark INTEGER NOT NULL,
  event_seq INTEGER NOT NULL,
  PRIMARY KEY (company_id, mark)
) STRICT, WITHOUT ROWID;
-- The last mark before the answer was kept; 0: none.
ALTER TABLE idempotency ADD COLUMN mark INTEGER NOT NULL DEFAULT 0;

-- Whether a key has ended, written down when it is first seen to have (keys/keys.h): NULL, 'revoked' or 'expired'.
ALTER TABLE api_key ADD COLUMN ended TEXT;
UPDATE api_key SET ended = 'revoked' WHERE revoked_at <= updated_at;
