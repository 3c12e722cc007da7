-- SQLite takes it that a company has ten rows, and reads all of them where an index does not name one column more. Each
-- statement that looks for rows of one state names the state in its index.

DROP INDEX cloud_order_parked;
CREATE INDEX cloud_order_parked ON cloud_order(company_id, parked, order_id, waiting) WHERE parked > '';

-- The differences of an order are looked for with each answer of the cloud.
CREATE TABLE cloud_difference_by_order (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  number INTEGER NOT NULL,
  order_id TEXT NOT NULL,             -- empty: not of an order
  kind TEXT NOT NULL,                 -- totals, date, link, reference, status, menu
  box TEXT NOT NULL,
  cloud TEXT NOT NULL,
  detail TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (company_id, order_id, kind, number)
) STRICT, WITHOUT ROWID;
INSERT INTO cloud_difference_by_order SELECT company_id, number, order_id, kind, box, cloud, detail, at FROM cloud_difference;
DROP TABLE cloud_difference;
ALTER TABLE cloud_difference_by_order RENAME TO cloud_difference;
CREATE UNIQUE INDEX cloud_difference_number ON cloud_difference(company_id, number);

DROP INDEX delivery_event_parked;
CREATE INDEX delivery_event_parked ON delivery_event(company_id, app, state, event_id) WHERE state = 'parked';
DROP INDEX delivery_order_unaccepted;
CREATE INDEX delivery_order_unaccepted ON delivery_order(company_id, app, is_accepted, received_at, accept_by, order_id)
  WHERE is_accepted = 0;
DROP INDEX delivery_command_waiting;
CREATE INDEX delivery_command_waiting ON delivery_command(company_id, app, state, made_at, external_id) WHERE state = 'waiting';
DROP INDEX delivery_command_parked;
CREATE INDEX delivery_command_parked ON delivery_command(company_id, app, state, external_id, step) WHERE state = 'parked';
