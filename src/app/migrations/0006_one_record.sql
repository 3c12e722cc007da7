-- Every record is stored once, lists and reports read the orders' own rows.

-- The record of an order: the body of its latest event (orders/record.h).
-- Rows of `event` before company_counter.log_start are no longer part of the event log: each only holds the
-- record of an order that has not changed since.

-- The event whose body is the record; null: the record is rendered from the order's rows when it is read.
ALTER TABLE orders ADD COLUMN record_seq INTEGER;
-- The render version of that body.
ALTER TABLE orders ADD COLUMN render_version INTEGER NOT NULL DEFAULT 0;
-- The id that another channel gave to the order, unique within its source.
ALTER TABLE orders ADD COLUMN external_id TEXT;
CREATE UNIQUE INDEX orders_external ON orders(company_id, source, external_id) WHERE external_id IS NOT NULL;

ALTER TABLE company_counter ADD COLUMN log_start INTEGER NOT NULL DEFAULT 1;
-- Records of orders closed long ago have been dropped up to this event.
ALTER TABLE company_counter ADD COLUMN records_dropped_to INTEGER NOT NULL DEFAULT 0;
UPDATE company_counter SET log_start = coalesce(
  (SELECT min(e.seq) FROM event AS e WHERE e.company_id = company_counter.company_id), event_seq + 1);

UPDATE orders SET record_seq = e.seq, render_version = 1 FROM event AS e
WHERE e.company_id = orders.company_id AND e.subject_type = 'order' AND e.subject_id = orders.id
  AND e.subject_version = orders.version;

-- Orders whose latest event has left the log: the number of the order's first event is free then.
INSERT INTO event (company_id, seq, epoch, event_id, type, changes, subject_type, subject_id, subject_version, at, body, note)
SELECT o.company_id, o.created_seq, 0, '', 'ORDER_UPDATED', '', 'order', o.id, o.version, o.updated_at,
  '{' || r.head || ',"combos":' || r.combos || ',"payments":' || r.payments || ',"discounts":' || r.discounts || '}', ''
FROM orders AS o
JOIN company_counter AS c ON c.company_id = o.company_id
JOIN order_record AS r ON r.company_id = o.company_id AND r.order_id = o.id
WHERE o.record_seq IS NULL AND o.created_seq < c.log_start AND r.version = o.version AND r.render_version = 1
  AND (o.closed_at IS NULL OR o.closed_at >= (SELECT max(l.updated_at) FROM orders AS l WHERE l.company_id = o.company_id)
    - 7776000000)  -- 90 days
ON CONFLICT (company_id, seq) DO NOTHING;

UPDATE orders SET record_seq = created_seq, render_version = 1 FROM event AS e
WHERE orders.record_seq IS NULL AND e.company_id = orders.company_id AND e.seq = orders.created_seq
  AND e.subject_type = 'order' AND e.subject_id = orders.id AND e.subject_version = orders.version;

DROP TABLE order_record;

-- Answers kept under an Idempotency-Key: those that show an order point at the event that holds it. The key of
-- a creation is the order's reference. Old answers are found by scanning, once an hour.
CREATE TABLE answer (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  scope TEXT NOT NULL,                -- method and path with the order's UUID in it
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  status INTEGER NOT NULL,
  etag TEXT NOT NULL,
  location TEXT NOT NULL,
  event_seq INTEGER,                  -- {"data": <body of that event>}
  body TEXT NOT NULL,                 -- the whole body where event_seq is null
  created_at INTEGER NOT NULL,
  PRIMARY KEY (company_id, scope, key)
) STRICT, WITHOUT ROWID;
INSERT INTO answer (company_id, scope, key, fingerprint, status, etag, location, event_seq, body, created_at)
SELECT company_id, scope, key, fingerprint, status, etag, location, NULL, body, created_at FROM idempotency
WHERE scope <> 'POST /v1/orders';
DROP TABLE idempotency;
ALTER TABLE answer RENAME TO idempotency;

-- What was asked, beside what was computed. Null in rows of older programs: the unit price is then the rounded
-- quotient of the line total (orders/pricing.h).
ALTER TABLE combo ADD COLUMN variant_unit_price INTEGER;
ALTER TABLE combo ADD COLUMN variant_original_unit_price INTEGER;
ALTER TABLE combo ADD COLUMN request_key TEXT;             -- the Idempotency-Key that made the row
ALTER TABLE combo_modifier ADD COLUMN unit_quantity INTEGER;  -- of the modifier in one item, whole
ALTER TABLE combo_modifier ADD COLUMN unit_price INTEGER;
ALTER TABLE combo_modifier ADD COLUMN original_unit_price INTEGER;
ALTER TABLE payment ADD COLUMN request_key TEXT;
ALTER TABLE discount ADD COLUMN request_key TEXT;
ALTER TABLE order_status ADD COLUMN request_key TEXT;

-- One index for each sort of the list; those of rare values are narrow.
DROP TABLE order_tally;
DROP TABLE sale;
DROP INDEX orders_created;
DROP INDEX orders_facet;
DROP INDEX orders_client;
DROP INDEX orders_table;
CREATE INDEX orders_created ON orders(company_id, created_at, id, created_seq, facet);
CREATE INDEX orders_open ON orders(company_id, status, created_at, id) WHERE status < 4;
CREATE INDEX orders_client ON orders(company_id, client_id, created_at, id) WHERE client_id IS NOT NULL;
CREATE INDEX orders_table ON orders(company_id, table_id, created_at, id) WHERE table_id IS NOT NULL;
