-- Pairing codes (contract section 3): a device exchanges one for an API key, once, within ten minutes.

CREATE TABLE pairing_code (
  company_id INTEGER NOT NULL REFERENCES company(company_id),
  hash TEXT NOT NULL,                 -- SHA-256 of the code, hexadecimal; the code itself is not stored
  id TEXT NOT NULL,                   -- names the code in the audit log
  name TEXT NOT NULL,                 -- name, scopes and tier of the key that it is exchanged for
  scopes TEXT NOT NULL,
  tier TEXT NOT NULL,
  made_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  ended TEXT,                         -- used, expired; null: it is open. Never cleared
  ended_at INTEGER,
  key_id TEXT,                        -- of a used one: the key that was made
  checksum INTEGER NOT NULL,
  PRIMARY KEY (company_id, hash)
) STRICT, WITHOUT ROWID;
