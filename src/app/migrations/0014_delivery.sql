-- Delivery apps (contract section 12): the last state of the store that was reported for each configured app. A state
-- that differs from it is STORE_STATUS_CHANGED.
CREATE TABLE delivery_state (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  app TEXT NOT NULL,                  -- the provider's name
  store_status TEXT NOT NULL,         -- OPEN, PAUSED, CLOSED, UNKNOWN
  PRIMARY KEY (company_id, app)
) STRICT, WITHOUT ROWID;
