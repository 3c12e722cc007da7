-- Pairing codes (contract section 3): a device exchanges one for an API key, once, within ten minutes. Below: what sync with
-- the cloud needs beside version 12.

CREATE TABLE pairing_code (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  hash TEXT NOT NULL,                 -- SHA-256 of the code, hexadecimal; the code itself is not stored
  id TEXT NOT NULL,                   -- names the code in the audit log
  name TEXT NOT NULL,                 -- name, scopes and tier of the key that it is exchanged for
  scopes TEXT NOT NULL,
  tier TEXT NOT NULL,
  made_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  ended TEXT,                         -- used, expired; null: it is open. Never cleared
  ended_at INTEGER,
  key_id TEXT,                        -- of a used one: the key that was made
  checksum INTEGER NOT NULL,
  PRIMARY KEY (company_id, hash)
) STRICT, WITHOUT ROWID;

-- Where the cloud of a link is, as `comanda cloud link` was told; empty: the link has ended.
ALTER TABLE cloud_link ADD COLUMN url TEXT NOT NULL DEFAULT '';
ALTER TABLE cloud_link ADD COLUMN ca_file TEXT NOT NULL DEFAULT '';
-- Orders from before the link are in the journal up to this id; null: all are.
ALTER TABLE cloud_link ADD COLUMN scanned_id TEXT;
-- Of a restored database: from the last change that it has to the restore. Orders of the API that the cloud shows from
-- this time were made here.
ALTER TABLE cloud_link ADD COLUMN lost_from INTEGER;
ALTER TABLE cloud_link ADD COLUMN lost_until INTEGER;

-- Orders that are being served go before the backlog.
CREATE INDEX cloud_order_open ON cloud_order(company_id, touched_at, order_id)
  WHERE waiting > 0 AND parked = '' AND is_open = 1;

-- With the number of steps, so that they are counted without reading the rows.
DROP INDEX cloud_order_waiting;
CREATE INDEX cloud_order_waiting ON cloud_order(company_id, touched_at, order_id, waiting)
  WHERE waiting > 0 AND parked = '';
DROP INDEX cloud_order_parked;
CREATE INDEX cloud_order_parked ON cloud_order(company_id, order_id, waiting) WHERE parked <> '';

-- Orders that are open here, so that one that left the cloud's list of open orders is found.
CREATE INDEX cloud_order_being_served ON cloud_order(company_id, order_id) WHERE is_open = 1;

-- Sync of the menu with the cloud (contract section 15.5): what both sides had of a product when they were equal last.
-- A side whose hash has changed since was edited.
CREATE TABLE cloud_menu (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  product_id TEXT NOT NULL,           -- of this box
  cloud_hash TEXT NOT NULL,           -- of the cloud's record (cloud/restaurant_document.h); empty: not known
  box_hash TEXT NOT NULL,             -- of the product here, as it would be pushed (cloud/menu_body.h)
  PRIMARY KEY (company_id, product_id)
) STRICT, WITHOUT ROWID;

-- Never filled: what was written here by the sync itself is what equals box_hash.
DROP TABLE cloud_own_event;

-- Delivery apps (contract section 12): the last state of the store that was reported for each configured app. A state
-- that differs from it is STORE_STATUS_CHANGED.
CREATE TABLE delivery_state (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  app TEXT NOT NULL,                  -- the provider's name
  store_status TEXT NOT NULL,         -- OPEN, PAUSED, CLOSED, UNKNOWN
  PRIMARY KEY (company_id, app)
) STRICT, WITHOUT ROWID;

-- Orders of delivery apps (contract section 7): how each app is asked for them.
CREATE TABLE delivery_app (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  app TEXT NOT NULL,
  mode TEXT NOT NULL,                 -- off, mirror, primary
  accept TEXT NOT NULL,               -- auto, kitchen
  presence TEXT NOT NULL,             -- watched, always
  position INTEGER NOT NULL,          -- changes of the event log up to here have become commands
  PRIMARY KEY (company_id, app)
) STRICT, WITHOUT ROWID;

-- What an app answered, as it came, until it is read: on disk before anything is made of it. One that cannot be read
-- stays, with the problem.
CREATE TABLE delivery_answer (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  app TEXT NOT NULL,
  number INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  body TEXT NOT NULL,
  problem TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (company_id, app, number)
) STRICT, WITHOUT ROWID;

-- What an app told. A row is applied when the order is as it says, never because it was seen.
CREATE TABLE delivery_event (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  app TEXT NOT NULL,
  event_id TEXT NOT NULL,             -- of the app
  external_id TEXT NOT NULL,          -- of the order there
  news TEXT NOT NULL,                 -- placed, confirmed, … (delivery/order_source.h)
  at INTEGER NOT NULL,                -- by the app
  received_at INTEGER NOT NULL,
  raw TEXT NOT NULL,                  -- JSON
  words TEXT NOT NULL,                -- why it was cancelled
  state TEXT NOT NULL,                -- waiting, applied, parked
  attempts INTEGER NOT NULL DEFAULT 0,
  problem TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (company_id, app, event_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX delivery_event_waiting ON delivery_event(company_id, app, at, event_id) WHERE state = 'waiting';
CREATE INDEX delivery_event_parked ON delivery_event(company_id, app) WHERE state = 'parked';
CREATE INDEX delivery_event_received ON delivery_event(company_id, app, received_at);

-- Orders of apps: what is known of them beside the order itself.
CREATE TABLE delivery_order (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  app TEXT NOT NULL,
  external_id TEXT NOT NULL,
  order_id TEXT NOT NULL,             -- empty: it is not placed yet
  received_at INTEGER NOT NULL,
  is_accepted INTEGER NOT NULL DEFAULT 0, -- the app knows that it is confirmed, or has ended it
  accept_by INTEGER,                  -- the app cancels it if it is not confirmed by then; null: that is not known
  prepare_at INTEGER,                 -- of one ordered for later
  told INTEGER NOT NULL DEFAULT 0,    -- the furthest that the app itself told (delivery::News)
  is_delivered_here INTEGER NOT NULL DEFAULT 0,
  pending INTEGER NOT NULL DEFAULT 0, -- minor units that are paid at the door
  details TEXT NOT NULL,              -- JSON, as the app shows the order; empty after 7 days
  PRIMARY KEY (company_id, app, external_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX delivery_order_order ON delivery_order(company_id, order_id) WHERE order_id <> '';
CREATE INDEX delivery_order_unaccepted ON delivery_order(company_id, app, received_at) WHERE is_accepted = 0;
CREATE INDEX delivery_order_received ON delivery_order(company_id, app, received_at);

-- What is told to an app, each step of an order once.
CREATE TABLE delivery_command (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  app TEXT NOT NULL,
  external_id TEXT NOT NULL,
  step INTEGER NOT NULL,              -- delivery::Command: an earlier one goes first
  state TEXT NOT NULL,                -- waiting, done, parked
  made_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  problem TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (company_id, app, external_id, step)
) STRICT, WITHOUT ROWID;
CREATE INDEX delivery_command_waiting ON delivery_command(company_id, app, made_at) WHERE state = 'waiting';
CREATE INDEX delivery_command_parked ON delivery_command(company_id, app) WHERE state = 'parked';
