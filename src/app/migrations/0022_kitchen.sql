-- Devices and dishes that are sold out for a while (contract sections 3 and 9).

-- Keys and pairing codes of a role (auth/roles.h). Null: of scopes alone, as all were before.
ALTER TABLE api_key ADD COLUMN role TEXT;
ALTER TABLE api_key ADD COLUMN idle_days INTEGER;  -- the key ends when it was not used for so long; null: it may be idle
ALTER TABLE pairing_code ADD COLUMN role TEXT;

-- Sold out since then; null: it is not. Until then, or until somebody says so. When the time has come, all three become
-- null in one transaction, so that no clock brings it back.
ALTER TABLE product ADD COLUMN sold_out_since INTEGER;
ALTER TABLE product ADD COLUMN sold_out_until INTEGER;
ALTER TABLE product ADD COLUMN sold_out_by TEXT;   -- the name of the key that said so
ALTER TABLE modifier ADD COLUMN sold_out_since INTEGER;
ALTER TABLE modifier ADD COLUMN sold_out_until INTEGER;
ALTER TABLE modifier ADD COLUMN sold_out_by TEXT;

-- What ends by time: a few rows at most.
CREATE INDEX product_sold_out ON product(sold_out_until) WHERE sold_out_until IS NOT NULL;
CREATE INDEX modifier_sold_out ON modifier(sold_out_until) WHERE sold_out_until IS NOT NULL;
