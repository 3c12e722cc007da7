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
