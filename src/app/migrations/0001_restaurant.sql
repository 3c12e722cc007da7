-- The restaurant: companies and what orders refer to, orders, keys, events, idempotency, audit.
-- company_id is a small integer that stands for the company's UUID inside this file and leads every key.
-- Money in minor units, quantities in thousandths, time in UTC milliseconds, booleans 0/1, JSON opaque.
-- Tables whose rows may pass a kilobyte keep their key in an index of its own: with WITHOUT ROWID every
-- comparison of a look-up would read such a row whole.

CREATE TABLE company (
  company_id INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  description TEXT,
  logo TEXT,
  public_url TEXT,
  phone TEXT,
  address TEXT,
  area TEXT,
  city TEXT,
  state TEXT,
  country_code TEXT NOT NULL,
  postal_code TEXT,
  latitude TEXT,                      -- decimal text, as it came
  longitude TEXT,
  timezone TEXT NOT NULL,
  business_hours TEXT NOT NULL,       -- JSON, as contract section 10 shows it
  language TEXT,
  currency TEXT NOT NULL,
  day_starts_at INTEGER NOT NULL DEFAULT 0,  -- minutes after local midnight
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

-- What every write moves, apart from the profile: kept small because it is written with each change.
CREATE TABLE company_counter (
  company_id INTEGER PRIMARY KEY REFERENCES company(company_id),
  epoch INTEGER NOT NULL DEFAULT 1,   -- raised by every restore or promotion
  event_seq INTEGER NOT NULL DEFAULT 0,
  order_changes INTEGER NOT NULL DEFAULT 0,
  catalogue_changes INTEGER NOT NULL DEFAULT 0,
  other_changes INTEGER NOT NULL DEFAULT 0,
  business_day TEXT NOT NULL DEFAULT '',  -- YYYY-MM-DD of the last order_number
  order_number INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE payment_method (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  id TEXT NOT NULL,
  code TEXT NOT NULL,
  description TEXT NOT NULL,
  service_types INTEGER NOT NULL,     -- bits: ONSITE 1, TABLE 2, DELIVERY 4, TAKEAWAY 8
  active INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (company_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX payment_method_code ON payment_method(company_id, code);

CREATE TABLE staff (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  name_folded TEXT NOT NULL,
  email TEXT,
  country_calling_code TEXT,
  phone_number TEXT,
  role TEXT NOT NULL CHECK (role IN ('admin', 'manager', 'waiter', 'rider', 'cook', 'sales', 'cashier')),
  active INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (company_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX staff_name ON staff(company_id, name_folded, id);

CREATE TABLE client (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  name_folded TEXT NOT NULL,
  email TEXT,
  country_calling_code TEXT,
  phone_number TEXT,
  document_type TEXT,
  document_number TEXT,
  notes TEXT,
  orders_count INTEGER NOT NULL DEFAULT 0,
  last_order_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (company_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX client_created ON client(company_id, created_at, id);

CREATE TABLE address (
  company_id INTEGER NOT NULL,
  id TEXT NOT NULL,
  client_id TEXT NOT NULL,
  address TEXT NOT NULL,
  area TEXT,
  city TEXT,
  reference TEXT,
  complement TEXT,
  latitude TEXT,
  longitude TEXT,
  position INTEGER NOT NULL,
  PRIMARY KEY (company_id, id),
  FOREIGN KEY (company_id, client_id) REFERENCES client(company_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX address_client ON address(company_id, client_id, position);

CREATE TABLE dining_table (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  area TEXT,
  active INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (company_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE station (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (company_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE category (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  slug TEXT NOT NULL,
  description TEXT,
  image_url TEXT,
  position INTEGER NOT NULL,
  visible INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (company_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE product (
  company_id INTEGER NOT NULL,
  id TEXT NOT NULL,
  category_id TEXT NOT NULL,
  name TEXT NOT NULL,
  slug TEXT NOT NULL,
  description TEXT,
  image_url TEXT,
  images TEXT NOT NULL DEFAULT '[]',  -- JSON array of texts
  position INTEGER NOT NULL,
  visible INTEGER NOT NULL DEFAULT 1,
  stock_enabled INTEGER NOT NULL DEFAULT 0,
  messages_for_customers TEXT,
  kitchen_id TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (company_id, id),
  FOREIGN KEY (company_id, category_id) REFERENCES category(company_id, id),
  FOREIGN KEY (company_id, kitchen_id) REFERENCES station(company_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX product_category ON product(company_id, category_id, position);

CREATE TABLE variant (
  company_id INTEGER NOT NULL,
  id TEXT NOT NULL,
  product_id TEXT NOT NULL,
  name TEXT NOT NULL,
  sku TEXT,
  price INTEGER NOT NULL,
  original_price INTEGER,
  packaging_price INTEGER NOT NULL DEFAULT 0,
  cost INTEGER,
  stock INTEGER,                      -- thousandths; null: not counted
  stock_threshold INTEGER,            -- thousandths
  position INTEGER NOT NULL,
  PRIMARY KEY (company_id, id),
  FOREIGN KEY (company_id, product_id) REFERENCES product(company_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX variant_sku ON variant(company_id, sku) WHERE sku IS NOT NULL;
CREATE INDEX variant_product ON variant(company_id, product_id, position);

CREATE TABLE modifier_category (
  company_id INTEGER NOT NULL,
  id TEXT NOT NULL,
  product_id TEXT NOT NULL,
  name TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('one', 'many')),
  required INTEGER NOT NULL DEFAULT 0,
  min_modifiers INTEGER NOT NULL DEFAULT 0,
  max_modifiers INTEGER,
  is_active INTEGER NOT NULL DEFAULT 1,
  position INTEGER NOT NULL,
  PRIMARY KEY (company_id, id),
  FOREIGN KEY (company_id, product_id) REFERENCES product(company_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX modifier_category_product ON modifier_category(company_id, product_id, position);

CREATE TABLE modifier (
  company_id INTEGER NOT NULL,
  id TEXT NOT NULL,
  modifier_category_id TEXT NOT NULL,
  product_id TEXT NOT NULL,
  name TEXT NOT NULL,
  sku TEXT,
  price INTEGER NOT NULL DEFAULT 0,
  original_price INTEGER,
  max_limit INTEGER,
  visible INTEGER NOT NULL DEFAULT 1,
  position INTEGER NOT NULL,
  PRIMARY KEY (company_id, id),
  FOREIGN KEY (company_id, modifier_category_id) REFERENCES modifier_category(company_id, id),
  FOREIGN KEY (company_id, product_id) REFERENCES product(company_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX modifier_of_category ON modifier(company_id, modifier_category_id, position);

-- Orders. Embedded snapshots (client, table, address) are JSON as the record shows them.
CREATE TABLE orders (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  id TEXT NOT NULL,
  public_id TEXT NOT NULL,
  order_number INTEGER NOT NULL,
  reference TEXT,                     -- the Idempotency-Key of its creation; null for other channels
  fingerprint TEXT,                   -- of that request, kept for ever (contract section 5)
  source TEXT NOT NULL,
  country_code TEXT NOT NULL,
  timezone TEXT NOT NULL,
  currency TEXT NOT NULL,
  version INTEGER NOT NULL,
  status INTEGER NOT NULL,            -- rank in the order's life; 5 is CANCELLED
  service_type INTEGER NOT NULL,
  delivery_status INTEGER,
  delivery_status_reason TEXT,
  delivery_status_by_rider INTEGER NOT NULL DEFAULT 0,  -- RIDER_ASSIGNED set by PUT rider: DELETE takes it back
  delivered_by TEXT,
  rider_provider TEXT,                -- null: no rider
  rider_user_id TEXT,                 -- JSON, a text or an integer, as it was sent
  rider_name TEXT,
  rider_phone_number TEXT,
  rider_country_calling_code TEXT,
  rider_assigned_at INTEGER,
  cancel_reason TEXT,
  scheduled_delivery_date INTEGER,
  client_id TEXT,
  client TEXT,
  table_id TEXT,
  table_snapshot TEXT,
  address_id TEXT,
  address TEXT,
  comment TEXT,
  order_title TEXT,
  delivery_comment TEXT,
  subtotal INTEGER NOT NULL,
  total_discounts INTEGER NOT NULL,
  delivery_price INTEGER NOT NULL,
  packaging_price INTEGER NOT NULL,
  service_fee_price INTEGER NOT NULL,
  total_tips INTEGER NOT NULL,
  total INTEGER NOT NULL,
  total_paid INTEGER NOT NULL,
  paid INTEGER NOT NULL,
  paid_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  closed_at INTEGER,
  canceled_at INTEGER,
  created_seq INTEGER NOT NULL,       -- number of the event of its creation, for filter[snapshot]
  PRIMARY KEY (company_id, id)
) STRICT;
CREATE UNIQUE INDEX orders_public_id ON orders(company_id, public_id);
CREATE UNIQUE INDEX orders_reference ON orders(company_id, reference) WHERE reference IS NOT NULL;
CREATE INDEX orders_created ON orders(company_id, created_at, id);
CREATE INDEX orders_status ON orders(company_id, status, created_at, id);
CREATE INDEX orders_updated ON orders(company_id, updated_at, id);
CREATE INDEX orders_scheduled ON orders(company_id, scheduled_delivery_date, id);
CREATE INDEX orders_total ON orders(company_id, total, id);
CREATE INDEX orders_number ON orders(company_id, order_number, id);
CREATE INDEX orders_created_seq ON orders(company_id, created_seq, status);

-- Exact totals without counting rows (design section 4).
CREATE TABLE order_count (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  status INTEGER NOT NULL,
  orders INTEGER NOT NULL,
  PRIMARY KEY (company_id, status)
) STRICT, WITHOUT ROWID;

CREATE TABLE order_status (
  company_id INTEGER NOT NULL,
  order_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  status INTEGER NOT NULL,
  at INTEGER NOT NULL,
  by TEXT NOT NULL,
  implied INTEGER NOT NULL,
  PRIMARY KEY (company_id, order_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE combo (
  company_id INTEGER NOT NULL,
  order_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  id TEXT NOT NULL,
  product_id TEXT,
  product_name TEXT NOT NULL,
  product_category_name TEXT,
  variant_id TEXT,
  variant_name TEXT,
  sku TEXT,
  quantity INTEGER NOT NULL,          -- thousandths
  comment TEXT,
  variant_price INTEGER NOT NULL,     -- line totals, as the record shows them
  variant_original_price INTEGER NOT NULL,
  modifiers_price INTEGER NOT NULL,
  combo_price INTEGER NOT NULL,
  combo_original_price INTEGER NOT NULL,
  kitchen_id TEXT,
  stock_taken INTEGER NOT NULL DEFAULT 0,  -- thousandths; given back on cancel
  created_at INTEGER NOT NULL,
  canceled_at INTEGER,
  PRIMARY KEY (company_id, order_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE combo_modifier (
  company_id INTEGER NOT NULL,
  order_id TEXT NOT NULL,
  combo_position INTEGER NOT NULL,
  position INTEGER NOT NULL,
  id TEXT NOT NULL,
  modifier_id TEXT,
  name TEXT NOT NULL,
  quantity INTEGER NOT NULL,          -- thousandths: of the modifier x of the item
  price INTEGER NOT NULL,             -- line totals
  original_price INTEGER NOT NULL,
  PRIMARY KEY (company_id, order_id, combo_position, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE payment (
  company_id INTEGER NOT NULL,
  order_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  id TEXT NOT NULL,
  payment_method_id TEXT NOT NULL,
  payment_method_code TEXT NOT NULL,
  payment_method_description TEXT NOT NULL,
  amount INTEGER NOT NULL,
  tip_amount INTEGER NOT NULL,
  received_amount INTEGER,
  reference TEXT,
  comment TEXT,
  created_at INTEGER NOT NULL,
  canceled_at INTEGER,
  PRIMARY KEY (company_id, order_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE discount (
  company_id INTEGER NOT NULL,
  order_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  id TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('AMOUNT', 'PERCENTAGE')),
  value INTEGER NOT NULL,             -- minor units, or ten-thousandths of a percent
  amount INTEGER NOT NULL,            -- its effect
  reason TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (company_id, order_id, position)
) STRICT, WITHOUT ROWID;

-- The public JSON of each order in fragments that filter[include] can leave out (design section 4).
CREATE TABLE order_record (
  company_id INTEGER NOT NULL,
  order_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  render_version INTEGER NOT NULL,
  head TEXT NOT NULL,
  combos TEXT NOT NULL,
  payments TEXT NOT NULL,
  discounts TEXT NOT NULL,
  PRIMARY KEY (company_id, order_id)
) STRICT;

CREATE TABLE event (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  seq INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  event_id TEXT NOT NULL,
  type TEXT NOT NULL,
  changes TEXT NOT NULL,              -- names, comma-separated
  subject_type TEXT NOT NULL,
  subject_id TEXT NOT NULL,
  subject_version INTEGER NOT NULL,
  at INTEGER NOT NULL,
  body TEXT NOT NULL,                 -- the record after the change
  note TEXT NOT NULL,                 -- further members as JSON, or empty
  PRIMARY KEY (company_id, seq)
) STRICT;

CREATE TABLE api_key (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  name_folded TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,          -- SHA-256 in hex
  key_prefix TEXT NOT NULL,
  last_four TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  scopes TEXT NOT NULL,               -- names, comma-separated
  tier TEXT NOT NULL,
  allowed_cidrs TEXT NOT NULL,        -- comma-separated, or empty
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  last_used_at INTEGER,
  last_used_ip TEXT,
  expires_at INTEGER,
  revoked_at INTEGER,
  PRIMARY KEY (company_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  scope TEXT NOT NULL,                -- method and path with the order's UUID in it
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  status INTEGER NOT NULL,
  etag TEXT NOT NULL,
  location TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (company_id, scope, key)
) STRICT;
CREATE INDEX idempotency_age ON idempotency(company_id, created_at);

CREATE TABLE audit (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  seq INTEGER NOT NULL,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,               -- key.created, key.revoked …
  subject_id TEXT NOT NULL,
  detail TEXT NOT NULL,               -- JSON, never a secret
  PRIMARY KEY (company_id, seq)
) STRICT, WITHOUT ROWID;
