-- Sync with the cloud (contract section 15).

-- The side that made an order, which decides who may change it: 0 this box, 1 the cloud.
ALTER TABLE orders ADD COLUMN origin INTEGER NOT NULL DEFAULT 0;
-- Of an order of the cloud: its status, where this program knows no such status, and members of its record that this
-- program does not know, as a JSON object. Both are shown.
ALTER TABLE orders ADD COLUMN unknown_status TEXT;
ALTER TABLE orders ADD COLUMN unknown_members TEXT;
-- The cloud answers 404 for it; it stays readable here.
ALTER TABLE orders ADD COLUMN gone_at INTEGER;

-- The same record here and in the cloud. Ids of the cloud are any text.
CREATE TABLE alias (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  kind INTEGER NOT NULL,              -- aliases::Kind
  cloud_id TEXT NOT NULL,
  box_id TEXT NOT NULL,
  cloud_public_id TEXT,               -- of orders
  PRIMARY KEY (company_id, kind, cloud_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX alias_box ON alias(company_id, kind, box_id);
CREATE UNIQUE INDEX alias_public ON alias(company_id, cloud_public_id) WHERE cloud_public_id IS NOT NULL;

-- The link of a company with its counterpart. The key is in DIR/cloud.key, the address in the settings.
CREATE TABLE cloud_link (
  company_id INTEGER PRIMARY KEY REFERENCES company(company_id),
  cloud_company_id TEXT NOT NULL,
  linked_at INTEGER NOT NULL,
  since INTEGER,                      -- orders created before are not sent; null: all are
  paused_at INTEGER,
  planned_seq INTEGER NOT NULL,       -- the changes of the event log up to here are in the journal
  cursor TEXT,                        -- of the cloud's events; null: none yet, or the cloud has no events
  features TEXT NOT NULL,             -- JSON: what the cloud was found to offer (cloud/features.h)
  progress TEXT NOT NULL DEFAULT '{}' -- JSON: when each kind of record was read last, and its entity tags
) STRICT;

-- The journal. What the cloud has of an order, or will have once the steps that wait are sent.
CREATE TABLE cloud_order (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  order_id TEXT NOT NULL,
  planned_version INTEGER NOT NULL,   -- of the order, when it was planned last; 0: not planned yet
  image TEXT NOT NULL,                -- JSON (cloud/image.h)
  seen TEXT NOT NULL DEFAULT '{}',    -- JSON: status, rider and delivery status as the cloud showed them last
  waiting INTEGER NOT NULL DEFAULT 0, -- steps that wait
  is_open INTEGER NOT NULL,           -- neither finalised nor cancelled
  touched_at INTEGER NOT NULL,        -- the last change that was planned
  parked TEXT NOT NULL DEFAULT '',    -- why nothing is sent: refused, cancelled_but_paid, gone; empty: not parked
  problem TEXT NOT NULL DEFAULT '',   -- the problem document of the refusal
  PRIMARY KEY (company_id, order_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX cloud_order_waiting ON cloud_order(company_id, touched_at, order_id) WHERE waiting > 0 AND parked = '';
CREATE INDEX cloud_order_parked ON cloud_order(company_id, order_id) WHERE parked <> '';

-- A request that changes an order in the cloud. Key and body never change once the row is written; the row goes when
-- the cloud has accepted it.
CREATE TABLE cloud_step (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  order_id TEXT NOT NULL,             -- empty: a change of the menu
  position INTEGER NOT NULL,          -- of the order; increases, and is not used again
  kind TEXT NOT NULL,                 -- cloud/step.h
  key TEXT NOT NULL,                  -- Idempotency-Key
  body TEXT NOT NULL,                 -- JSON, or empty
  row_ids TEXT NOT NULL,              -- of this box, with commas: the rows that the step adds, or the one it removes
  occurred_at INTEGER NOT NULL,
  state TEXT NOT NULL,                -- waiting, parked
  attempts INTEGER NOT NULL DEFAULT 0,
  first_sent_at INTEGER,              -- null: never sent
  next_at INTEGER NOT NULL DEFAULT 0,
  problem TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (company_id, order_id, position)
) STRICT, WITHOUT ROWID;

-- What is not the same on both sides, and what was left out.
CREATE TABLE cloud_difference (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  number INTEGER NOT NULL,
  order_id TEXT NOT NULL,             -- empty: not of an order
  kind TEXT NOT NULL,                 -- totals, date, link, reference, status, menu
  box TEXT NOT NULL,
  cloud TEXT NOT NULL,
  detail TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (company_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX cloud_difference_order ON cloud_difference(company_id, order_id, kind);

-- Events of products that the sync itself has made: they are not sent back.
CREATE TABLE cloud_own_event (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  seq INTEGER NOT NULL,
  PRIMARY KEY (company_id, seq)
) STRICT, WITHOUT ROWID;
