-- YYYY-MM-DD, by the zone and the day_starts_at of the moment of creation. Null: not written since orders have it.
ALTER TABLE orders ADD COLUMN business_day TEXT;
