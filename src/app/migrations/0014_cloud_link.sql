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
