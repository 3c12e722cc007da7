-- A million orders: every list reads narrow indexes alone, reports read one short row for each order.

-- -- lists (orders/page_store.h) -----------------------------------------------------------------------

-- Orders by facet and by stretches of what lists sort by, so that a deep page is found without walking to it,
-- whatever the filters. It takes the place of two tables, of all orders and of created_at alone.
DROP TABLE order_tally;
DROP TABLE facet_tally;
CREATE TABLE order_tally (
  company_id INTEGER NOT NULL,
  tally INTEGER NOT NULL,
  bucket INTEGER NOT NULL,
  facet INTEGER NOT NULL,
  orders INTEGER NOT NULL,
  PRIMARY KEY (company_id, tally, bucket, facet)
) STRICT, WITHOUT ROWID;

INSERT INTO order_tally (company_id, tally, bucket, facet, orders)
SELECT company_id, 0, created_at / 536870912, facet, count(*) FROM orders
GROUP BY company_id, created_at / 536870912, facet;
INSERT INTO order_tally (company_id, tally, bucket, facet, orders)
SELECT company_id, 1, updated_at / 536870912, facet, count(*) FROM orders
GROUP BY company_id, updated_at / 536870912, facet;
INSERT INTO order_tally (company_id, tally, bucket, facet, orders)
SELECT company_id, 2, scheduled_delivery_date / 536870912, facet, count(*) FROM orders
WHERE scheduled_delivery_date IS NOT NULL GROUP BY company_id, scheduled_delivery_date / 536870912, facet;
INSERT INTO order_tally (company_id, tally, bucket, facet, orders)
WITH digit (sign, number) AS (
  VALUES ('0', 0), ('1', 1), ('2', 2), ('3', 3), ('4', 4), ('5', 5), ('6', 6), ('7', 7), ('8', 8), ('9', 9),
    ('a', 10), ('b', 11), ('c', 12), ('d', 13), ('e', 14), ('f', 15)
), unscheduled (company_id, prefix, facet, orders) AS (
  SELECT company_id, substr(id, 1, 5), facet, count(*) FROM orders WHERE scheduled_delivery_date IS NULL
  GROUP BY company_id, substr(id, 1, 5), facet
)
SELECT u.company_id, 3, a.number * 65536 + b.number * 4096 + c.number * 256 + d.number * 16 + e.number, u.facet, u.orders
FROM unscheduled AS u
JOIN digit AS a ON a.sign = substr(u.prefix, 1, 1)
JOIN digit AS b ON b.sign = substr(u.prefix, 2, 1)
JOIN digit AS c ON c.sign = substr(u.prefix, 3, 1)
JOIN digit AS d ON d.sign = substr(u.prefix, 4, 1)
JOIN digit AS e ON e.sign = substr(u.prefix, 5, 1);
INSERT INTO order_tally (company_id, tally, bucket, facet, orders)
WITH RECURSIVE octave (low, width, base) AS (
  SELECT 256, 2, 256
  UNION ALL
  SELECT low * 2, width * 2, base + 128 FROM octave WHERE low < 1152921504606846976
), amount (company_id, tally, facet, amount, orders) AS (
  SELECT company_id, 4, facet, total, count(*) FROM orders GROUP BY company_id, facet, total
  UNION ALL
  SELECT company_id, 5, facet, order_number, count(*) FROM orders GROUP BY company_id, facet, order_number
), placed (company_id, tally, bucket, facet, orders) AS (
  SELECT company_id, tally, CASE WHEN amount < 0 THEN 0 ELSE amount END, facet, orders FROM amount WHERE amount < 256
  UNION ALL
  SELECT company_id, tally, base + (amount - low) / width, facet, orders
  FROM amount JOIN octave ON amount >= low AND amount < low * 2
)
SELECT company_id, tally, bucket, facet, sum(orders) FROM placed GROUP BY company_id, tally, bucket, facet;

-- What filters look at stands in the indexes that sort. Those of tables and clients have all that lists sort by.
DROP INDEX orders_updated;
DROP INDEX orders_scheduled;
DROP INDEX orders_total;
DROP INDEX orders_number;
DROP INDEX orders_client;
DROP INDEX orders_table;
CREATE INDEX orders_updated ON orders(company_id, updated_at, id, created_seq, facet, created_at);
CREATE INDEX orders_scheduled ON orders(company_id, scheduled_delivery_date, id, created_seq, facet, created_at);
CREATE INDEX orders_total ON orders(company_id, total, id, created_seq, facet, created_at);
CREATE INDEX orders_number ON orders(company_id, order_number, id, created_seq, facet, created_at);
CREATE INDEX orders_client ON orders(company_id, client_id, created_at, id, created_seq, facet, total, order_number,
  scheduled_delivery_date, updated_at) WHERE client_id IS NOT NULL;
CREATE INDEX orders_table ON orders(company_id, table_id, created_at, id, created_seq, facet, total, order_number,
  scheduled_delivery_date, updated_at) WHERE table_id IS NOT NULL;

-- -- reports (orders/sale.h) ---------------------------------------------------------------------------

-- What reports add up, of orders that have lines or payments. Fields end in the character 31, rows in 30: no text
-- of an order has them.
CREATE TABLE sale (
  company_id INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  order_id TEXT NOT NULL,
  facet INTEGER NOT NULL,
  payments TEXT NOT NULL,
  lines TEXT NOT NULL,
  PRIMARY KEY (company_id, created_at, order_id)
) STRICT, WITHOUT ROWID;

INSERT INTO sale (company_id, created_at, order_id, facet, payments, lines)
SELECT o.company_id, o.created_at, o.id, o.facet, (
  WITH RECURSIVE packed (position, whole) AS (
    SELECT -1, ''
    UNION ALL
    SELECT p.position, packed.whole || p.payment_method_id || '' || p.amount || '' || p.tip_amount || ''
      || CASE WHEN p.canceled_at IS NULL THEN 0 ELSE 1 END || ''
    FROM packed JOIN payment AS p
      ON p.company_id = o.company_id AND p.order_id = o.id AND p.position = packed.position + 1
  ) SELECT whole FROM packed ORDER BY position DESC LIMIT 1
), (
  WITH RECURSIVE packed (position, whole) AS (
    SELECT -1, ''
    UNION ALL
    SELECT l.position, packed.whole || coalesce(l.product_id, '') || '' || coalesce(l.variant_id, '') || ''
      || CASE WHEN l.product_id IS NULL THEN l.product_name ELSE '' END || '' || l.quantity || '' || l.combo_price
      || '' || CASE WHEN l.canceled_at IS NULL THEN 0 ELSE 1 END || '' || (
        WITH RECURSIVE chosen (position, whole) AS (
          SELECT -1, ''
          UNION ALL
          SELECT m.position, chosen.whole || m.name || '' || m.quantity || '' || m.price || ''
          FROM chosen JOIN combo_modifier AS m ON m.company_id = l.company_id AND m.order_id = l.order_id
            AND m.combo_position = l.position AND m.position = chosen.position + 1
        ) SELECT whole FROM chosen ORDER BY position DESC LIMIT 1
      ) || ''
    FROM packed JOIN combo AS l
      ON l.company_id = o.company_id AND l.order_id = o.id AND l.position = packed.position + 1
  ) SELECT whole FROM packed ORDER BY position DESC LIMIT 1
)
FROM orders AS o
WHERE EXISTS (SELECT 1 FROM combo AS l WHERE l.company_id = o.company_id AND l.order_id = o.id)
  OR EXISTS (SELECT 1 FROM payment AS p WHERE p.company_id = o.company_id AND p.order_id = o.id)
ORDER BY o.company_id, o.created_at, o.id;
