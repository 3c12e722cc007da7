-- Sync by level (contract section 15.1): of each order what the cloud has, as far as this box knows, in one place; what
-- is to be sent is what differs from it.

-- What the cloud showed last becomes a part of it.
UPDATE cloud_order SET image = substr(image, 1, length(image) - 1) || ',"shown":' || seen || '}';
ALTER TABLE cloud_order RENAME COLUMN image TO base;
ALTER TABLE cloud_order DROP COLUMN seen;

-- A request that waits for its answer: one of an order at most. What older programs planned ahead keeps its keys and
-- bodies: the mirror of such an order has already what they do (1).
ALTER TABLE cloud_step ADD COLUMN is_in_mirror INTEGER NOT NULL DEFAULT 1;
ALTER TABLE cloud_step DROP COLUMN state;
ALTER TABLE cloud_step DROP COLUMN next_at;
ALTER TABLE cloud_step DROP COLUMN problem;
