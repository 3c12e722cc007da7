-- last_event_at: of the newest event that the log still has (7 days, and the last change of each order for 90 days).
SELECT c.id AS company_id, c.name, c.country_code, c.timezone, c.currency, c.city,
  to_timestamp((SELECT e.at FROM event AS e WHERE e.company_id = c.company_id ORDER BY e.seq DESC LIMIT 1) / 1000.0)
    AS last_event_at
FROM company AS c
