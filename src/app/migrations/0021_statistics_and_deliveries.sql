-- What SQLite's planner assumes of some indexes. Without statistics it takes a range of updated_at for narrower than an
-- equality of client_id, and reads years of orders for those of a client. The rows are the same in every database, so that
-- all boxes plan alike, whatever their data; ANALYZE is never run on the data. They are ratios, not counts: in an index
-- without a row here SQLite assumes ten entries of a company, a quarter of them in a range of the next column, and at least
-- two. Fewer for an equality, so that it leads; more for that of a table, which has thousands of orders, so that a day of
-- them is read by its time; more for created_seq, of which nearly all are below a snapshot; the open orders before a
-- client's or a table's. An order has fewer lines than modifiers, so that reports read the lines first.
-- Which index leads: tests/sql/test_plans.py.
ANALYZE sqlite_schema;                -- makes the table
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('orders', 'orders_number', '1000000 10 1 1 1 1 1'),
  ('orders', 'orders_client', '1000000 10 2 1 1'),
  ('orders', 'orders_table', '1000000 10 3 1 1'),
  ('orders', 'orders_open', '4 4 2 1 1'),
  ('orders', 'orders_created_seq', '1000000 20 1'),
  ('combo', 'sqlite_autoindex_combo_1', '1000000 10 1 1'),
  ('combo_modifier', 'combo_modifier', '1000000 10 6 2 1');
ANALYZE sqlite_schema;                -- reads it

-- Deliveries by event. They were rows of their primary key, which ends in a random id: each one was put between others, and
-- went on on a page of its own. Now one follows the other, as they are written and as they are forgotten, and ten
-- subscriptions write half as many pages or fewer.
CREATE TABLE delivery_by_event (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  webhook_id TEXT NOT NULL,
  id TEXT NOT NULL,
  number INTEGER NOT NULL,            -- of the subscription, in the order in which rows were written
  seq INTEGER NOT NULL,               -- of the event; 0: a test
  kind TEXT NOT NULL,
  event_id TEXT NOT NULL,             -- of the message
  subject_type TEXT NOT NULL,
  subject_id TEXT NOT NULL,
  subject_version INTEGER NOT NULL,
  sequence INTEGER,
  state TEXT NOT NULL,                -- delivered, late, waiting (behind a late one), dead
  attempts TEXT NOT NULL,             -- JSON array of the last ten
  outcome TEXT,                       -- of the last one
  failures INTEGER NOT NULL,
  failing_since_ms INTEGER NOT NULL,  -- in counted time (events/marks.h): see webhooks/delivery.h
  next_attempt_at INTEGER,
  created_at INTEGER NOT NULL,        -- the event's time
  settled_at INTEGER,
  checksum INTEGER NOT NULL,          -- of the row but number and outcome
  PRIMARY KEY (company_id, webhook_id, seq, id)
) STRICT;
INSERT INTO delivery_by_event (company_id, webhook_id, id, number, seq, kind, event_id, subject_type, subject_id,
  subject_version, sequence, state, attempts, outcome, failures, failing_since_ms, next_attempt_at, created_at, settled_at,
  checksum)
SELECT company_id, webhook_id, id, number, seq, kind, event_id, subject_type, subject_id, subject_version, sequence, state,
  attempts, outcome, failures, failing_since_ms, next_attempt_at, created_at, settled_at, checksum
FROM webhook_delivery ORDER BY company_id, seq, webhook_id, id;
DROP TABLE webhook_delivery;
ALTER TABLE delivery_by_event RENAME TO webhook_delivery;
CREATE INDEX webhook_delivery_number ON webhook_delivery(company_id, webhook_id, number);
CREATE INDEX webhook_delivery_unsettled ON webhook_delivery(company_id, webhook_id, seq) WHERE state IN ('late', 'waiting');
