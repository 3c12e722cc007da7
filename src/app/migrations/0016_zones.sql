-- What is known of a company's time zone, for when the system has no data for it (company/zones.h).
ALTER TABLE company ADD COLUMN utc_offset_s INTEGER;  -- seconds east of UTC, as last looked at; null: never yet
-- 0: the system had no data when it was last looked at, and days are cut by utc_offset_s.
ALTER TABLE company ADD COLUMN zone_has_data INTEGER NOT NULL DEFAULT 1;
