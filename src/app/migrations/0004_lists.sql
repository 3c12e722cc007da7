-- Lists of orders that answer as fast with a million of them (orders/buckets.h, orders/list.cc).

-- Which combinations of filtered values there are, and how many orders have each: exact totals, and an index
-- that finds rare ones whatever the filter.
CREATE TABLE order_facet (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  facet INTEGER NOT NULL,             -- stands for the values in orders.facet
  status INTEGER NOT NULL,
  service_type INTEGER NOT NULL,
  source TEXT NOT NULL,
  paid INTEGER NOT NULL,
  delivery_status INTEGER NOT NULL,   -- -1: none
  orders INTEGER NOT NULL,
  PRIMARY KEY (company_id, facet)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX order_facet_values ON order_facet(company_id, status, service_type, source, paid, delivery_status);

-- Orders by stretches of what lists sort by, so that a deep page is found without walking to it.
CREATE TABLE order_tally (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  tally INTEGER NOT NULL,
  bucket INTEGER NOT NULL,
  orders INTEGER NOT NULL,
  PRIMARY KEY (company_id, tally, bucket)
) STRICT, WITHOUT ROWID;

-- The same of created_at alone, for each facet.
CREATE TABLE facet_tally (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  bucket INTEGER NOT NULL,
  facet INTEGER NOT NULL,
  orders INTEGER NOT NULL,
  PRIMARY KEY (company_id, bucket, facet)
) STRICT, WITHOUT ROWID;

ALTER TABLE orders ADD COLUMN facet INTEGER NOT NULL DEFAULT 0;

INSERT INTO order_facet (company_id, facet, status, service_type, source, paid, delivery_status, orders)
SELECT company_id, row_number() OVER (PARTITION BY company_id ORDER BY status, service_type, source, paid, delivery),
  status, service_type, source, paid, delivery, orders
FROM (
  SELECT company_id, status, service_type, source, paid, coalesce(delivery_status, -1) AS delivery, count(*) AS orders
  FROM orders GROUP BY company_id, status, service_type, source, paid, coalesce(delivery_status, -1)
) AS grouped;

UPDATE orders SET facet = f.facet FROM order_facet AS f
WHERE f.company_id = orders.company_id AND f.status = orders.status AND f.service_type = orders.service_type
  AND f.source = orders.source AND f.paid = orders.paid AND f.delivery_status = coalesce(orders.delivery_status, -1);

INSERT INTO facet_tally (company_id, bucket, facet, orders)
SELECT company_id, created_at / 536870912, facet, count(*) FROM orders
GROUP BY company_id, created_at / 536870912, facet;

INSERT INTO order_tally (company_id, tally, bucket, orders)
SELECT company_id, 0, created_at / 536870912, count(*) FROM orders GROUP BY company_id, created_at / 536870912;
INSERT INTO order_tally (company_id, tally, bucket, orders)
SELECT company_id, 1, updated_at / 536870912, count(*) FROM orders GROUP BY company_id, updated_at / 536870912;
INSERT INTO order_tally (company_id, tally, bucket, orders)
SELECT company_id, 2, scheduled_delivery_date / 536870912, count(*) FROM orders
WHERE scheduled_delivery_date IS NOT NULL GROUP BY company_id, scheduled_delivery_date / 536870912;
INSERT INTO order_tally (company_id, tally, bucket, orders)
SELECT company_id, 3, bucket, count(*) FROM (
  SELECT company_id, (instr('0123456789abcdef', substr(id, 1, 1)) - 1) * 65536
    + (instr('0123456789abcdef', substr(id, 2, 1)) - 1) * 4096
    + (instr('0123456789abcdef', substr(id, 3, 1)) - 1) * 256
    + (instr('0123456789abcdef', substr(id, 4, 1)) - 1) * 16
    + (instr('0123456789abcdef', substr(id, 5, 1)) - 1) AS bucket
  FROM orders WHERE scheduled_delivery_date IS NULL
) AS unscheduled GROUP BY company_id, bucket;
INSERT INTO order_tally (company_id, tally, bucket, orders)
WITH RECURSIVE octave (low, width, base) AS (
  SELECT 256, 2, 256
  UNION ALL
  SELECT low * 2, width * 2, base + 128 FROM octave WHERE low < 1152921504606846976
), amount (company_id, tally, amount) AS (
  SELECT company_id, 4, total FROM orders
  UNION ALL
  SELECT company_id, 5, order_number FROM orders
), placed (company_id, tally, bucket) AS (
  SELECT company_id, tally, CASE WHEN amount < 0 THEN 0 ELSE amount END FROM amount WHERE amount < 256
  UNION ALL
  SELECT company_id, tally, base + (amount - low) / width
  FROM amount JOIN octave ON amount >= low AND amount < low * 2
)
SELECT company_id, tally, bucket, count(*) FROM placed GROUP BY company_id, tally, bucket;

DROP TABLE order_count;
DROP INDEX orders_status;
DROP INDEX orders_created_seq;

-- Each with created_seq, so that filter[snapshot] reads nothing but the index.
DROP INDEX orders_created;
DROP INDEX orders_updated;
DROP INDEX orders_scheduled;
DROP INDEX orders_total;
DROP INDEX orders_number;
CREATE INDEX orders_created ON orders(company_id, created_at, id, created_seq);
CREATE INDEX orders_updated ON orders(company_id, updated_at, id, created_seq);
CREATE INDEX orders_scheduled ON orders(company_id, scheduled_delivery_date, id, created_seq);
CREATE INDEX orders_total ON orders(company_id, total, id, created_seq);
CREATE INDEX orders_number ON orders(company_id, order_number, id, created_seq);
CREATE INDEX orders_facet ON orders(company_id, facet, created_at, id, created_seq);
CREATE INDEX orders_created_seq ON orders(company_id, created_seq);
CREATE INDEX orders_client ON orders(company_id, client_id, created_at, id, created_seq) WHERE client_id IS NOT NULL;
CREATE INDEX orders_table ON orders(company_id, table_id, created_at, id, created_seq) WHERE table_id IS NOT NULL;
