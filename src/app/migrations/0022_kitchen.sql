-- The kitchen (contract section 20). A ticket is derived from its order; stored is only what the kitchen has said itself.

-- Raised by events of tickets and by changes of the kitchen's settings: what a key sees of the feed goes by counter.
ALTER TABLE company_counter ADD COLUMN kitchen_changes INTEGER NOT NULL DEFAULT 0;

ALTER TABLE station ADD COLUMN prepares INTEGER NOT NULL DEFAULT 1;
ALTER TABLE station ADD COLUMN position INTEGER NOT NULL DEFAULT 0;
ALTER TABLE station ADD COLUMN watched_at INTEGER;  -- when a display last watched it, to the hour

-- How many lines the order had then, those of later writes not counted: times of one millisecond do not say which of two
-- writes came first, and a line that was added after the dishes were called ready is another dish. NULL: an older program.
ALTER TABLE order_status ADD COLUMN lines INTEGER;

-- Lines that have a mark, or had one that was taken back.
CREATE TABLE kitchen_line (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  order_id TEXT NOT NULL,
  line_id TEXT NOT NULL,              -- combo.id
  done_at INTEGER,
  done_by TEXT,                       -- the name of the key
  undone_moves INTEGER,               -- how many moves the order had behind it when the line was called back
  PRIMARY KEY (company_id, order_id, line_id)
) STRICT, WITHOUT ROWID;

-- Orders of which the kitchen has said anything.
CREATE TABLE kitchen_order (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  order_id TEXT NOT NULL,
  writes INTEGER NOT NULL,            -- the kitchen's own, part of the ticket's revision
  changed_at INTEGER NOT NULL,        -- of the last one
  rush_at INTEGER,
  out_at INTEGER,
  out_lines INTEGER,                  -- how many lines the order had at out_at
  PRIMARY KEY (company_id, order_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX kitchen_order_changed ON kitchen_order(company_id, changed_at);

-- What the restaurant has set; without a row all is as kitchen/settings.h says.
CREATE TABLE kitchen_settings (
  company_id INTEGER PRIMARY KEY REFERENCES company(company_id),
  lead_minutes INTEGER NOT NULL
) STRICT;
CREATE TABLE kitchen_threshold (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  service_type INTEGER NOT NULL,      -- orders/order.h
  warn_minutes INTEGER NOT NULL,
  late_minutes INTEGER NOT NULL,
  PRIMARY KEY (company_id, service_type)
) STRICT, WITHOUT ROWID;

-- Devices and dishes that are sold out for a while (contract sections 3 and 9).

-- Keys and pairing codes of a role (auth/roles.h). Null: of scopes alone, as all were before.
ALTER TABLE api_key ADD COLUMN role TEXT;
ALTER TABLE api_key ADD COLUMN idle_days INTEGER;  -- the key ends when it was not used for so long; null: it may be idle
ALTER TABLE pairing_code ADD COLUMN role TEXT;

-- Sold out since then; null: it is not. Until then, or until somebody says so. When the time has come, all three become
-- null in one transaction, so that no clock brings it back.
ALTER TABLE product ADD COLUMN sold_out_since INTEGER;
ALTER TABLE product ADD COLUMN sold_out_until INTEGER;
ALTER TABLE product ADD COLUMN sold_out_by TEXT;   -- the name of the key that said so
ALTER TABLE modifier ADD COLUMN sold_out_since INTEGER;
ALTER TABLE modifier ADD COLUMN sold_out_until INTEGER;
ALTER TABLE modifier ADD COLUMN sold_out_by TEXT;

-- What ends by time: a few rows at most.
CREATE INDEX product_sold_out ON product(sold_out_until) WHERE sold_out_until IS NOT NULL;
CREATE INDEX modifier_sold_out ON modifier(sold_out_until) WHERE sold_out_until IS NOT NULL;
