-- New files have pages of 1 KiB. A row of a table WITHOUT ROWID that takes more than a quarter of a page is continued on a
-- page that holds nothing else. The items of orders are such rows: their table has rowids, so that several share a page.

CREATE TABLE combo_with_rowid (
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
  variant_unit_price INTEGER,
  variant_original_unit_price INTEGER,
  request_key TEXT,                   -- the Idempotency-Key that made the row
  PRIMARY KEY (company_id, order_id, position)
) STRICT;
INSERT INTO combo_with_rowid SELECT company_id, order_id, position, id, product_id, product_name, product_category_name,
  variant_id, variant_name, sku, quantity, comment, variant_price, variant_original_price, modifiers_price, combo_price,
  combo_original_price, kitchen_id, stock_taken, created_at, canceled_at, variant_unit_price, variant_original_unit_price,
  request_key FROM combo;
DROP TABLE combo;
ALTER TABLE combo_with_rowid RENAME TO combo;
