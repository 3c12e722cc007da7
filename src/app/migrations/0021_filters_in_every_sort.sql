-- What filters compare is in every index that the list of orders is sorted by: a page in the order of one sort, filtered by
-- the time of another, reads no order that is not on it.

DROP INDEX orders_created;
DROP INDEX orders_scheduled;
DROP INDEX orders_total;
DROP INDEX orders_number;
CREATE INDEX orders_created ON orders(company_id, created_at, id, created_seq, facet, updated_at);
CREATE INDEX orders_scheduled ON orders(company_id, scheduled_delivery_date, id, created_seq, facet, created_at, updated_at);
CREATE INDEX orders_total ON orders(company_id, total, id, created_seq, facet, created_at, updated_at);
CREATE INDEX orders_number ON orders(company_id, order_number, id, created_seq, facet, created_at, updated_at);
