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
