-- How often what GET shows of a product has changed, for its events. Stock counts do not raise it.

ALTER TABLE product ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
