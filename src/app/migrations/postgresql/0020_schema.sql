-- The schema of the migrations 1 to 20, with which a database on PostgreSQL begins. Made by scripts/postgresql_schema; the
-- migrations say what each column is for.

CREATE TABLE company (
  company_id BIGINT PRIMARY KEY,
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
  latitude TEXT,
  longitude TEXT,
  timezone TEXT NOT NULL,
  business_hours TEXT NOT NULL,
  language TEXT,
  currency TEXT NOT NULL,
  day_starts_at BIGINT NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  utc_offset_s BIGINT,
  zone_has_data BIGINT NOT NULL DEFAULT 1
);

CREATE TABLE company_counter (
  company_id BIGINT PRIMARY KEY REFERENCES company(company_id),
  epoch BIGINT NOT NULL DEFAULT 1,
  event_seq BIGINT NOT NULL DEFAULT 0,
  order_changes BIGINT NOT NULL DEFAULT 0,
  catalogue_changes BIGINT NOT NULL DEFAULT 0,
  other_changes BIGINT NOT NULL DEFAULT 0,
  business_day TEXT NOT NULL DEFAULT '',
  order_number BIGINT NOT NULL DEFAULT 0,
  log_start BIGINT NOT NULL DEFAULT 1,
  records_dropped_to BIGINT NOT NULL DEFAULT 0,
  event_chain BIGINT NOT NULL DEFAULT 0,
  chain_start BIGINT NOT NULL DEFAULT 1,
  checksums_complete BIGINT NOT NULL DEFAULT 1,
  checksum BIGINT,
  number_checksum BIGINT
);

CREATE TABLE payment_method (
  company_id BIGINT NOT NULL REFERENCES company(company_id),
  id TEXT NOT NULL,
  code TEXT NOT NULL,
  description TEXT NOT NULL,
  service_types BIGINT NOT NULL,
  active BIGINT NOT NULL DEFAULT 1,
  created_seq BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (company_id, id)
);
CREATE UNIQUE INDEX payment_method_code ON payment_method(company_id, code);
CREATE UNIQUE INDEX payment_method_created_seq ON payment_method(company_id, created_seq);

CREATE TABLE staff (
  company_id BIGINT NOT NULL REFERENCES company(company_id),
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  name_folded TEXT NOT NULL,
  email TEXT,
  country_calling_code TEXT,
  phone_number TEXT,
  role TEXT NOT NULL CHECK (role IN ('admin', 'manager', 'waiter', 'rider', 'cook', 'sales', 'cashier')),
  active BIGINT NOT NULL DEFAULT 1,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  created_seq BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (company_id, id)
);
CREATE INDEX staff_name ON staff(company_id, name_folded, id);
CREATE UNIQUE INDEX staff_created_seq ON staff(company_id, created_seq);

CREATE TABLE client (
  company_id BIGINT NOT NULL REFERENCES company(company_id),
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  name_folded TEXT NOT NULL,
  email TEXT,
  country_calling_code TEXT,
  phone_number TEXT,
  document_type TEXT,
  document_number TEXT,
  notes TEXT,
  orders_count BIGINT NOT NULL DEFAULT 0,
  last_order_at BIGINT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  created_seq BIGINT NOT NULL DEFAULT 0,
  phone_reversed TEXT,
  searchable BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (company_id, id)
);
CREATE UNIQUE INDEX client_created_seq ON client(company_id, created_seq);
CREATE INDEX client_unsearchable ON client(company_id, created_seq) WHERE searchable = 0;
CREATE INDEX client_phone ON client(company_id, phone_reversed, created_seq) WHERE phone_reversed IS NOT NULL;
CREATE INDEX client_email ON client(company_id, email, created_seq) WHERE email IS NOT NULL;
CREATE INDEX client_created ON client(company_id, created_at, id, created_seq);
CREATE INDEX client_name ON client(company_id, name_folded, id, created_seq);
CREATE INDEX client_last_order ON client(company_id, last_order_at, id, created_seq);
CREATE INDEX client_updated ON client(company_id, updated_at, created_seq);

CREATE TABLE address (
  company_id BIGINT NOT NULL,
  id TEXT NOT NULL,
  client_id TEXT NOT NULL,
  address TEXT NOT NULL,
  area TEXT,
  city TEXT,
  reference TEXT,
  complement TEXT,
  latitude TEXT,
  longitude TEXT,
  position BIGINT NOT NULL,
  PRIMARY KEY (company_id, id),
  FOREIGN KEY (company_id, client_id) REFERENCES client(company_id, id)
);
CREATE INDEX address_client ON address(company_id, client_id, position);

CREATE TABLE dining_table (
  company_id BIGINT NOT NULL REFERENCES company(company_id),
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  area TEXT,
  active BIGINT NOT NULL DEFAULT 1,
  created_seq BIGINT NOT NULL DEFAULT 0,
  name_folded TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (company_id, id)
);

CREATE TABLE station (
  company_id BIGINT NOT NULL REFERENCES company(company_id),
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (company_id, id)
);

CREATE TABLE category (
  company_id BIGINT NOT NULL REFERENCES company(company_id),
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  slug TEXT NOT NULL,
  description TEXT,
  image_url TEXT,
  position BIGINT NOT NULL,
  visible BIGINT NOT NULL DEFAULT 1,
  PRIMARY KEY (company_id, id)
);

CREATE TABLE product (
  company_id BIGINT NOT NULL,
  id TEXT NOT NULL,
  category_id TEXT NOT NULL,
  name TEXT NOT NULL,
  slug TEXT NOT NULL,
  description TEXT,
  image_url TEXT,
  images TEXT NOT NULL DEFAULT '[]',
  position BIGINT NOT NULL,
  visible BIGINT NOT NULL DEFAULT 1,
  stock_enabled BIGINT NOT NULL DEFAULT 0,
  messages_for_customers TEXT,
  kitchen_id TEXT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  version BIGINT NOT NULL DEFAULT 1,
  PRIMARY KEY (company_id, id),
  FOREIGN KEY (company_id, category_id) REFERENCES category(company_id, id),
  FOREIGN KEY (company_id, kitchen_id) REFERENCES station(company_id, id)
);
CREATE INDEX product_category ON product(company_id, category_id, position);

CREATE TABLE variant (
  company_id BIGINT NOT NULL,
  id TEXT NOT NULL,
  product_id TEXT NOT NULL,
  name TEXT NOT NULL,
  sku TEXT,
  price BIGINT NOT NULL,
  original_price BIGINT,
  packaging_price BIGINT NOT NULL DEFAULT 0,
  cost BIGINT,
  stock BIGINT,
  stock_threshold BIGINT,
  position BIGINT NOT NULL,
  sku_folded TEXT,
  PRIMARY KEY (company_id, id),
  FOREIGN KEY (company_id, product_id) REFERENCES product(company_id, id)
);
CREATE UNIQUE INDEX variant_sku ON variant(company_id, sku) WHERE sku IS NOT NULL;
CREATE INDEX variant_product ON variant(company_id, product_id, position);
CREATE INDEX variant_counted ON variant(company_id, product_id, position, id) WHERE stock IS NOT NULL;
CREATE INDEX variant_sku_folded ON variant(company_id, sku_folded) WHERE sku_folded IS NOT NULL;

CREATE TABLE modifier_category (
  company_id BIGINT NOT NULL,
  id TEXT NOT NULL,
  product_id TEXT NOT NULL,
  name TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('one', 'many')),
  required BIGINT NOT NULL DEFAULT 0,
  min_modifiers BIGINT NOT NULL DEFAULT 0,
  max_modifiers BIGINT,
  is_active BIGINT NOT NULL DEFAULT 1,
  position BIGINT NOT NULL,
  PRIMARY KEY (company_id, id),
  FOREIGN KEY (company_id, product_id) REFERENCES product(company_id, id)
);
CREATE INDEX modifier_category_product ON modifier_category(company_id, product_id, position);

CREATE TABLE modifier (
  company_id BIGINT NOT NULL,
  id TEXT NOT NULL,
  modifier_category_id TEXT NOT NULL,
  product_id TEXT NOT NULL,
  name TEXT NOT NULL,
  sku TEXT,
  price BIGINT NOT NULL DEFAULT 0,
  original_price BIGINT,
  max_limit BIGINT,
  visible BIGINT NOT NULL DEFAULT 1,
  position BIGINT NOT NULL,
  sku_folded TEXT,
  PRIMARY KEY (company_id, id),
  FOREIGN KEY (company_id, modifier_category_id) REFERENCES modifier_category(company_id, id),
  FOREIGN KEY (company_id, product_id) REFERENCES product(company_id, id)
);
CREATE INDEX modifier_of_category ON modifier(company_id, modifier_category_id, position);
CREATE INDEX modifier_sku_folded ON modifier(company_id, sku_folded, sku) WHERE sku_folded IS NOT NULL;

CREATE TABLE orders (
  company_id BIGINT NOT NULL REFERENCES company(company_id),
  id TEXT NOT NULL,
  public_id TEXT NOT NULL,
  order_number BIGINT NOT NULL,
  reference TEXT,
  fingerprint TEXT,
  source TEXT NOT NULL,
  country_code TEXT NOT NULL,
  timezone TEXT NOT NULL,
  currency TEXT NOT NULL,
  version BIGINT NOT NULL,
  status BIGINT NOT NULL,
  service_type BIGINT NOT NULL,
  delivery_status BIGINT,
  delivery_status_reason TEXT,
  delivery_status_by_rider BIGINT NOT NULL DEFAULT 0,
  delivered_by TEXT,
  rider_provider TEXT,
  rider_user_id TEXT,
  rider_name TEXT,
  rider_phone_number TEXT,
  rider_country_calling_code TEXT,
  rider_assigned_at BIGINT,
  cancel_reason TEXT,
  scheduled_delivery_date BIGINT,
  client_id TEXT,
  client TEXT,
  table_id TEXT,
  table_snapshot TEXT,
  address_id TEXT,
  address TEXT,
  comment TEXT,
  order_title TEXT,
  delivery_comment TEXT,
  subtotal BIGINT NOT NULL,
  total_discounts BIGINT NOT NULL,
  delivery_price BIGINT NOT NULL,
  packaging_price BIGINT NOT NULL,
  service_fee_price BIGINT NOT NULL,
  total_tips BIGINT NOT NULL,
  total BIGINT NOT NULL,
  total_paid BIGINT NOT NULL,
  paid BIGINT NOT NULL,
  paid_at BIGINT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  closed_at BIGINT,
  canceled_at BIGINT,
  created_seq BIGINT NOT NULL,
  facet BIGINT NOT NULL DEFAULT 0,
  record_seq BIGINT,
  render_version BIGINT NOT NULL DEFAULT 0,
  external_id TEXT,
  checksum BIGINT,
  origin BIGINT NOT NULL DEFAULT 0,
  unknown_status TEXT,
  unknown_members TEXT,
  gone_at BIGINT,
  business_day TEXT,
  PRIMARY KEY (company_id, id)
);
CREATE UNIQUE INDEX orders_public_id ON orders(company_id, public_id);
CREATE UNIQUE INDEX orders_reference ON orders(company_id, reference) WHERE reference IS NOT NULL;
CREATE INDEX orders_created_seq ON orders(company_id, created_seq);
CREATE INDEX orders_updated ON orders(company_id, updated_at, id, created_seq, facet, created_at);
CREATE INDEX orders_scheduled ON orders(company_id, scheduled_delivery_date, id, created_seq, facet, created_at);
CREATE INDEX orders_total ON orders(company_id, total, id, created_seq, facet, created_at);
CREATE INDEX orders_number ON orders(company_id, order_number, id, created_seq, facet, created_at);
CREATE UNIQUE INDEX orders_external ON orders(company_id, source, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX orders_created ON orders(company_id, created_at, id, created_seq, facet);
CREATE INDEX orders_open ON orders(company_id, status, created_at, id) WHERE status < 4;
CREATE INDEX orders_client ON orders(company_id, client_id, created_at, id) WHERE client_id IS NOT NULL;
CREATE INDEX orders_table ON orders(company_id, table_id, created_at, id) WHERE table_id IS NOT NULL;

CREATE TABLE order_status (
  company_id BIGINT NOT NULL,
  order_id TEXT NOT NULL,
  position BIGINT NOT NULL,
  status BIGINT NOT NULL,
  at BIGINT NOT NULL,
  by TEXT NOT NULL,
  implied BIGINT NOT NULL,
  request_key TEXT,
  PRIMARY KEY (company_id, order_id, position)
);

CREATE TABLE combo_modifier (
  company_id BIGINT NOT NULL,
  order_id TEXT NOT NULL,
  combo_position BIGINT NOT NULL,
  position BIGINT NOT NULL,
  id TEXT NOT NULL,
  modifier_id TEXT,
  name TEXT NOT NULL,
  quantity BIGINT NOT NULL,
  price BIGINT NOT NULL,
  original_price BIGINT NOT NULL,
  unit_quantity BIGINT,
  unit_price BIGINT,
  original_unit_price BIGINT,
  group_name TEXT,
  PRIMARY KEY (company_id, order_id, combo_position, position)
);

CREATE TABLE payment (
  company_id BIGINT NOT NULL,
  order_id TEXT NOT NULL,
  position BIGINT NOT NULL,
  id TEXT NOT NULL,
  payment_method_id TEXT NOT NULL,
  payment_method_code TEXT NOT NULL,
  payment_method_description TEXT NOT NULL,
  amount BIGINT NOT NULL,
  tip_amount BIGINT NOT NULL,
  received_amount BIGINT,
  reference TEXT,
  comment TEXT,
  created_at BIGINT NOT NULL,
  canceled_at BIGINT,
  request_key TEXT,
  PRIMARY KEY (company_id, order_id, position)
);

CREATE TABLE discount (
  company_id BIGINT NOT NULL,
  order_id TEXT NOT NULL,
  position BIGINT NOT NULL,
  id TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('AMOUNT', 'PERCENTAGE')),
  value BIGINT NOT NULL,
  amount BIGINT NOT NULL,
  reason TEXT,
  created_at BIGINT NOT NULL,
  request_key TEXT,
  PRIMARY KEY (company_id, order_id, position)
);

CREATE TABLE event (
  company_id BIGINT NOT NULL REFERENCES company(company_id),
  seq BIGINT NOT NULL,
  epoch BIGINT NOT NULL,
  event_id TEXT NOT NULL,
  type TEXT NOT NULL,
  changes TEXT NOT NULL,
  subject_type TEXT NOT NULL,
  subject_id TEXT NOT NULL,
  subject_version BIGINT NOT NULL,
  at BIGINT NOT NULL,
  body TEXT NOT NULL,
  note TEXT NOT NULL,
  checksum BIGINT,
  chain BIGINT,
  PRIMARY KEY (company_id, seq)
);

CREATE TABLE api_key (
  company_id BIGINT NOT NULL REFERENCES company(company_id),
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  name_folded TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  key_prefix TEXT NOT NULL,
  last_four TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  scopes TEXT NOT NULL,
  tier TEXT NOT NULL,
  allowed_cidrs TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  last_used_at BIGINT,
  last_used_ip TEXT,
  expires_at BIGINT,
  revoked_at BIGINT,
  created_seq BIGINT NOT NULL DEFAULT 0,
  ended TEXT,
  checksum BIGINT,
  PRIMARY KEY (company_id, id)
);
CREATE UNIQUE INDEX api_key_created_seq ON api_key(company_id, created_seq);

CREATE TABLE audit (
  company_id BIGINT NOT NULL REFERENCES company(company_id),
  seq BIGINT NOT NULL,
  at BIGINT NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  subject_id TEXT NOT NULL,
  detail TEXT NOT NULL,
  PRIMARY KEY (company_id, seq)
);

CREATE TABLE client_word (
  company_id BIGINT NOT NULL,
  word TEXT NOT NULL,
  client_seq BIGINT NOT NULL,
  PRIMARY KEY (company_id, word, client_seq)
);

CREATE TABLE product_record (
  company_id BIGINT NOT NULL,
  product_id TEXT NOT NULL,
  version BIGINT NOT NULL,
  render_version BIGINT NOT NULL,
  currency TEXT NOT NULL,
  available BIGINT NOT NULL,
  json TEXT NOT NULL,
  checksum BIGINT,
  PRIMARY KEY (company_id, product_id)
);

CREATE TABLE order_facet (
  company_id BIGINT NOT NULL REFERENCES company(company_id),
  facet BIGINT NOT NULL,
  status BIGINT NOT NULL,
  service_type BIGINT NOT NULL,
  source TEXT NOT NULL,
  paid BIGINT NOT NULL,
  delivery_status BIGINT NOT NULL,
  orders BIGINT NOT NULL,
  PRIMARY KEY (company_id, facet)
);
CREATE UNIQUE INDEX order_facet_values ON order_facet(company_id, status, service_type, source, paid, delivery_status);

CREATE TABLE idempotency (
  company_id BIGINT NOT NULL REFERENCES company(company_id),
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  status BIGINT NOT NULL,
  etag TEXT NOT NULL,
  location TEXT NOT NULL,
  event_seq BIGINT,
  body TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  mark BIGINT NOT NULL DEFAULT 0,
  checksum BIGINT,
  PRIMARY KEY (company_id, scope, key)
);

CREATE TABLE mark (
  mark BIGINT PRIMARY KEY,
  counted_ms BIGINT NOT NULL,
  at BIGINT NOT NULL,
  settled_at BIGINT NOT NULL,
  away_ms BIGINT NOT NULL,
  is_synchronised BIGINT NOT NULL,
  schema_version BIGINT NOT NULL
);

CREATE TABLE event_mark (
  company_id BIGINT NOT NULL REFERENCES company(company_id),
  mark BIGINT NOT NULL,
  event_seq BIGINT NOT NULL,
  PRIMARY KEY (company_id, mark)
);

CREATE TABLE webhook (
  company_id BIGINT NOT NULL REFERENCES company(company_id),
  id TEXT NOT NULL,
  url TEXT NOT NULL,
  merchant_id TEXT,
  headers TEXT NOT NULL,
  ack_codes TEXT NOT NULL,
  public_key_pin TEXT,
  is_active BIGINT NOT NULL,
  selection TEXT NOT NULL,
  secret TEXT NOT NULL,
  old_secret TEXT,
  secret_rotates_until BIGINT,
  settled_seq BIGINT NOT NULL,
  sequence BIGINT NOT NULL,
  events_lost BIGINT NOT NULL DEFAULT 0,
  last_outcome TEXT,
  last_status BIGINT,
  last_delivery_at BIGINT,
  last_success_ms BIGINT NOT NULL DEFAULT 0,
  failures_in_a_row BIGINT NOT NULL DEFAULT 0,
  failing_ms BIGINT NOT NULL DEFAULT 0,
  attempts_failed BIGINT NOT NULL DEFAULT 0,
  suspended TEXT NOT NULL DEFAULT '',
  suspended_at BIGINT,
  revision BIGINT NOT NULL DEFAULT 1,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  created_seq BIGINT NOT NULL,
  checksum BIGINT NOT NULL,
  PRIMARY KEY (company_id, id)
);

CREATE TABLE webhook_delivery (
  company_id BIGINT NOT NULL REFERENCES company(company_id),
  webhook_id TEXT NOT NULL,
  id TEXT NOT NULL,
  number BIGINT NOT NULL,
  seq BIGINT NOT NULL,
  kind TEXT NOT NULL,
  event_id TEXT NOT NULL,
  subject_type TEXT NOT NULL,
  subject_id TEXT NOT NULL,
  subject_version BIGINT NOT NULL,
  sequence BIGINT,
  state TEXT NOT NULL,
  attempts TEXT NOT NULL,
  outcome TEXT,
  failures BIGINT NOT NULL,
  failing_since_ms BIGINT NOT NULL,
  next_attempt_at BIGINT,
  created_at BIGINT NOT NULL,
  settled_at BIGINT,
  checksum BIGINT NOT NULL,
  PRIMARY KEY (company_id, webhook_id, id)
);
CREATE INDEX webhook_delivery_number ON webhook_delivery(company_id, webhook_id, number);
CREATE INDEX webhook_delivery_unsettled ON webhook_delivery(company_id, webhook_id, seq) WHERE state IN ('late', 'waiting');

CREATE TABLE machine (
  machine BIGINT PRIMARY KEY CHECK (machine = 1),
  machine_id TEXT NOT NULL,
  held_since BIGINT
);

CREATE TABLE alias (
  company_id BIGINT NOT NULL REFERENCES company(company_id),
  kind BIGINT NOT NULL,
  cloud_id TEXT NOT NULL,
  box_id TEXT NOT NULL,
  cloud_public_id TEXT,
  PRIMARY KEY (company_id, kind, cloud_id)
);
CREATE UNIQUE INDEX alias_box ON alias(company_id, kind, box_id);
CREATE UNIQUE INDEX alias_public ON alias(company_id, cloud_public_id) WHERE cloud_public_id IS NOT NULL;

CREATE TABLE cloud_link (
  company_id BIGINT PRIMARY KEY REFERENCES company(company_id),
  cloud_company_id TEXT NOT NULL,
  linked_at BIGINT NOT NULL,
  since BIGINT,
  paused_at BIGINT,
  planned_seq BIGINT NOT NULL,
  cursor TEXT,
  features TEXT NOT NULL,
  progress TEXT NOT NULL DEFAULT '{}',
  url TEXT NOT NULL DEFAULT '',
  ca_file TEXT NOT NULL DEFAULT '',
  scanned_id TEXT,
  lost_from BIGINT,
  lost_until BIGINT
);

CREATE TABLE cloud_order (
  company_id BIGINT NOT NULL REFERENCES company(company_id),
  order_id TEXT NOT NULL,
  planned_version BIGINT NOT NULL,
  base TEXT NOT NULL,
  waiting BIGINT NOT NULL DEFAULT 0,
  is_open BIGINT NOT NULL,
  touched_at BIGINT NOT NULL,
  parked TEXT NOT NULL DEFAULT '',
  problem TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (company_id, order_id)
);
CREATE INDEX cloud_order_open ON cloud_order(company_id, touched_at, order_id) WHERE waiting > 0 AND parked = '' AND is_open = 1;
CREATE INDEX cloud_order_waiting ON cloud_order(company_id, touched_at, order_id, waiting) WHERE waiting > 0 AND parked = '';
CREATE INDEX cloud_order_being_served ON cloud_order(company_id, order_id) WHERE is_open = 1;
CREATE INDEX cloud_order_parked ON cloud_order(company_id, parked, order_id, waiting) WHERE parked > '';

CREATE TABLE cloud_step (
  company_id BIGINT NOT NULL REFERENCES company(company_id),
  order_id TEXT NOT NULL,
  position BIGINT NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  body TEXT NOT NULL,
  row_ids TEXT NOT NULL,
  occurred_at BIGINT NOT NULL,
  attempts BIGINT NOT NULL DEFAULT 0,
  first_sent_at BIGINT,
  is_in_mirror BIGINT NOT NULL DEFAULT 1,
  PRIMARY KEY (company_id, order_id, position)
);

CREATE TABLE pairing_code (
  company_id BIGINT NOT NULL REFERENCES company(company_id),
  hash TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  scopes TEXT NOT NULL,
  tier TEXT NOT NULL,
  made_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  ended TEXT,
  ended_at BIGINT,
  key_id TEXT,
  checksum BIGINT NOT NULL,
  PRIMARY KEY (company_id, hash)
);

CREATE TABLE cloud_menu (
  company_id BIGINT NOT NULL REFERENCES company(company_id),
  product_id TEXT NOT NULL,
  cloud_hash TEXT NOT NULL,
  box_hash TEXT NOT NULL,
  PRIMARY KEY (company_id, product_id)
);

CREATE TABLE delivery_state (
  company_id BIGINT NOT NULL REFERENCES company(company_id),
  app TEXT NOT NULL,
  store_status TEXT NOT NULL,
  PRIMARY KEY (company_id, app)
);

CREATE TABLE delivery_app (
  company_id BIGINT NOT NULL REFERENCES company(company_id),
  app TEXT NOT NULL,
  mode TEXT NOT NULL,
  accept TEXT NOT NULL,
  presence TEXT NOT NULL,
  position BIGINT NOT NULL,
  PRIMARY KEY (company_id, app)
);

CREATE TABLE delivery_answer (
  company_id BIGINT NOT NULL REFERENCES company(company_id),
  app TEXT NOT NULL,
  number BIGINT NOT NULL,
  received_at BIGINT NOT NULL,
  body TEXT NOT NULL,
  problem TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (company_id, app, number)
);

CREATE TABLE delivery_event (
  company_id BIGINT NOT NULL REFERENCES company(company_id),
  app TEXT NOT NULL,
  event_id TEXT NOT NULL,
  external_id TEXT NOT NULL,
  news TEXT NOT NULL,
  at BIGINT NOT NULL,
  received_at BIGINT NOT NULL,
  raw TEXT NOT NULL,
  words TEXT NOT NULL,
  state TEXT NOT NULL,
  attempts BIGINT NOT NULL DEFAULT 0,
  problem TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (company_id, app, event_id)
);
CREATE INDEX delivery_event_waiting ON delivery_event(company_id, app, at, event_id) WHERE state = 'waiting';
CREATE INDEX delivery_event_received ON delivery_event(company_id, app, received_at);
CREATE INDEX delivery_event_parked ON delivery_event(company_id, app, state, event_id) WHERE state = 'parked';

CREATE TABLE delivery_order (
  company_id BIGINT NOT NULL REFERENCES company(company_id),
  app TEXT NOT NULL,
  external_id TEXT NOT NULL,
  order_id TEXT NOT NULL,
  received_at BIGINT NOT NULL,
  is_accepted BIGINT NOT NULL DEFAULT 0,
  accept_by BIGINT,
  prepare_at BIGINT,
  told BIGINT NOT NULL DEFAULT 0,
  is_delivered_here BIGINT NOT NULL DEFAULT 0,
  pending BIGINT NOT NULL DEFAULT 0,
  details TEXT NOT NULL,
  PRIMARY KEY (company_id, app, external_id)
);
CREATE UNIQUE INDEX delivery_order_order ON delivery_order(company_id, order_id) WHERE order_id <> '';
CREATE INDEX delivery_order_received ON delivery_order(company_id, app, received_at);
CREATE INDEX delivery_order_unaccepted ON delivery_order(company_id, app, is_accepted, received_at, accept_by, order_id) WHERE is_accepted = 0;

CREATE TABLE delivery_command (
  company_id BIGINT NOT NULL REFERENCES company(company_id),
  app TEXT NOT NULL,
  external_id TEXT NOT NULL,
  step BIGINT NOT NULL,
  state TEXT NOT NULL,
  made_at BIGINT NOT NULL,
  attempts BIGINT NOT NULL DEFAULT 0,
  problem TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (company_id, app, external_id, step)
);
CREATE INDEX delivery_command_waiting ON delivery_command(company_id, app, state, made_at, external_id) WHERE state = 'waiting';
CREATE INDEX delivery_command_parked ON delivery_command(company_id, app, state, external_id, step) WHERE state = 'parked';

CREATE TABLE cloud_difference (
  company_id BIGINT NOT NULL REFERENCES company(company_id),
  number BIGINT NOT NULL,
  order_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  box TEXT NOT NULL,
  cloud TEXT NOT NULL,
  detail TEXT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (company_id, order_id, kind, number)
);
CREATE UNIQUE INDEX cloud_difference_number ON cloud_difference(company_id, number);

CREATE TABLE combo (
  company_id BIGINT NOT NULL,
  order_id TEXT NOT NULL,
  position BIGINT NOT NULL,
  id TEXT NOT NULL,
  product_id TEXT,
  product_name TEXT NOT NULL,
  product_category_name TEXT,
  variant_id TEXT,
  variant_name TEXT,
  sku TEXT,
  quantity BIGINT NOT NULL,
  comment TEXT,
  variant_price BIGINT NOT NULL,
  variant_original_price BIGINT NOT NULL,
  modifiers_price BIGINT NOT NULL,
  combo_price BIGINT NOT NULL,
  combo_original_price BIGINT NOT NULL,
  kitchen_id TEXT,
  stock_taken BIGINT NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL,
  canceled_at BIGINT,
  variant_unit_price BIGINT,
  variant_original_unit_price BIGINT,
  request_key TEXT,
  PRIMARY KEY (company_id, order_id, position)
);
