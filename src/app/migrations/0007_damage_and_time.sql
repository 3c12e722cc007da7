-- -- damage (orders/checksum.h, events/checksum.h) ----------------------------------------------------

-- CRC-32 of the order with all its rows, as a signed number of 32 bits. Null: of an older program, and not yet
-- given one.
ALTER TABLE orders ADD COLUMN checksum INTEGER;
-- CRC-32 of the event's content, and of that together with the predecessor's `chain`.
ALTER TABLE event ADD COLUMN checksum INTEGER;
ALTER TABLE event ADD COLUMN chain INTEGER;

-- The `chain` of the last event, and the first event that has one.
ALTER TABLE company_counter ADD COLUMN event_chain INTEGER NOT NULL DEFAULT 0;
ALTER TABLE company_counter ADD COLUMN chain_start INTEGER NOT NULL DEFAULT 1;
-- 1: every order and event has a checksum, so that a missing one is damage.
ALTER TABLE company_counter ADD COLUMN checksums_complete INTEGER NOT NULL DEFAULT 1;
UPDATE company_counter SET chain_start = event_seq + 1, checksums_complete = 0;
