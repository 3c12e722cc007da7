-- Webhooks (contract section 13): subscriptions, each with its position in the event log, and what became of messages.
-- The log is the queue: a receiver that is down costs no rows.

CREATE TABLE webhook (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  id TEXT NOT NULL,
  url TEXT NOT NULL,
  merchant_id TEXT,
  headers TEXT NOT NULL,              -- JSON object, as it was sent
  ack_codes TEXT NOT NULL,            -- numbers, with commas; empty: any 2xx
  public_key_pin TEXT,
  is_active INTEGER NOT NULL,
  selection TEXT NOT NULL,            -- the kinds asked for, by position in the log
  secret TEXT NOT NULL,
  old_secret TEXT,                    -- signs too, until secret_rotates_until
  secret_rotates_until INTEGER,
  settled_seq INTEGER NOT NULL,       -- messages of events up to here are settled or have a row in webhook_delivery
  sequence INTEGER NOT NULL,          -- the number of the last message up to there
  events_lost INTEGER NOT NULL DEFAULT 0,
  last_outcome TEXT,
  last_status INTEGER,
  last_delivery_at INTEGER,
  last_success_ms INTEGER NOT NULL DEFAULT 0, -- the same in counted time (events/marks.h)
  failures_in_a_row INTEGER NOT NULL DEFAULT 0,
  failing_ms INTEGER NOT NULL DEFAULT 0,
  attempts_failed INTEGER NOT NULL DEFAULT 0,
  suspended TEXT NOT NULL DEFAULT '', -- gone, failing
  suspended_at INTEGER,
  revision INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  created_seq INTEGER NOT NULL,
  checksum INTEGER NOT NULL,          -- of the row but created_seq
  PRIMARY KEY (company_id, id)
) STRICT, WITHOUT ROWID;

-- Messages that are late (they failed, or wait behind one that did, while others passed), and the log of the last days.
CREATE TABLE webhook_delivery (
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
  PRIMARY KEY (company_id, webhook_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_delivery_number ON webhook_delivery(company_id, webhook_id, number);
CREATE INDEX webhook_delivery_unsettled ON webhook_delivery(company_id, webhook_id, seq) WHERE state IN ('late', 'waiting');
