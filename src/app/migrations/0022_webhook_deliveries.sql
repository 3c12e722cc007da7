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
