-- The catalogue over the API: versions of products, and their JSON as GET shows it.

-- How often what GET shows of the product has changed. Stock counts do not raise it.
ALTER TABLE product ADD COLUMN version INTEGER NOT NULL DEFAULT 1;

-- Rendered once per change (menu/record.h). A record of another version, render version or currency is
-- stale: readers then render the product themselves, and the chores make it anew.
CREATE TABLE product_record (
  company_id INTEGER NOT NULL,
  product_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  render_version INTEGER NOT NULL,
  currency TEXT NOT NULL,
  available INTEGER NOT NULL,
  json TEXT NOT NULL,                 -- with marks where stock and cost belong
  PRIMARY KEY (company_id, product_id)
) STRICT;

-- The stock that is filled into records.
CREATE INDEX variant_counted ON variant(company_id, product_id, position, id) WHERE stock IS NOT NULL;
