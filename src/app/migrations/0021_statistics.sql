-- What SQLite's planner assumes of some indexes. Without statistics it takes a range of updated_at for narrower than an
-- equality of client_id, and reads years of orders for those of a client. The rows are the same in every database, so that
-- all boxes plan alike, whatever their data; ANALYZE is never run on the data. They are ratios, not counts: in an index
-- without a row here SQLite assumes ten entries of a company, a quarter of them in a range of the next column, and at least
-- two. Fewer for an equality, so that it leads; more for that of a table, which has thousands of orders, so that a day of
-- them is read by its time; more for created_seq, of which nearly all are below a snapshot; the open orders before a
-- client's or a table's. An order has fewer lines than modifiers, so that reports read the lines first.
-- Which index leads: tests/sql/test_plans.py.
ANALYZE sqlite_schema;                -- makes the table
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('orders', 'orders_number', '1000000 10 1 1 1 1 1'),
  ('orders', 'orders_client', '1000000 10 2 1 1'),
  ('orders', 'orders_table', '1000000 10 3 1 1'),
  ('orders', 'orders_open', '4 4 2 1 1'),
  ('orders', 'orders_created_seq', '1000000 20 1'),
  ('combo', 'sqlite_autoindex_combo_1', '1000000 10 1 1'),
  ('combo_modifier', 'combo_modifier', '1000000 10 6 2 1');
ANALYZE sqlite_schema;                -- reads it
