-- Checksums of the rows on which all others depend. Null: of an older program, and not yet given one.

-- CRC-32 of what moves with events, and of the order number with its day (events/store.cc).
ALTER TABLE company_counter ADD COLUMN checksum INTEGER;
ALTER TABLE company_counter ADD COLUMN number_checksum INTEGER;
-- Of what the key is and grants (keys/store.cc).
ALTER TABLE api_key ADD COLUMN checksum INTEGER;
-- Of the rendered product: one without is made again.
ALTER TABLE product_record ADD COLUMN checksum INTEGER;
-- Of an answer kept under an Idempotency-Key.
ALTER TABLE idempotency ADD COLUMN checksum INTEGER;
