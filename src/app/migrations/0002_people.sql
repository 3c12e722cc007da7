-- Lists of people: which rows came later (filter[snapshot]), and the search of clients by words and by the
-- ends of phone numbers. created_seq numbers a company's rows of one kind from 1, without a gap: such rows
-- are never deleted, so the last number is their count.

ALTER TABLE client ADD COLUMN created_seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE client ADD COLUMN phone_reversed TEXT;  -- digits of calling code and number, the last one first
ALTER TABLE client ADD COLUMN searchable INTEGER NOT NULL DEFAULT 0;  -- 1: client_word and phone_reversed are made
ALTER TABLE staff ADD COLUMN created_seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE payment_method ADD COLUMN created_seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE api_key ADD COLUMN created_seq INTEGER NOT NULL DEFAULT 0;

UPDATE client SET created_seq = numbered.seq FROM (
  SELECT company_id, id, row_number() OVER (PARTITION BY company_id ORDER BY created_at, id) AS seq FROM client
) AS numbered WHERE client.company_id = numbered.company_id AND client.id = numbered.id;
UPDATE staff SET created_seq = numbered.seq FROM (
  SELECT company_id, id, row_number() OVER (PARTITION BY company_id ORDER BY created_at, id) AS seq FROM staff
) AS numbered WHERE staff.company_id = numbered.company_id AND staff.id = numbered.id;
UPDATE payment_method SET created_seq = numbered.seq FROM (
  SELECT company_id, id, row_number() OVER (PARTITION BY company_id ORDER BY id) AS seq FROM payment_method
) AS numbered WHERE payment_method.company_id = numbered.company_id AND payment_method.id = numbered.id;
UPDATE api_key SET created_seq = numbered.seq FROM (
  SELECT company_id, id, row_number() OVER (PARTITION BY company_id ORDER BY created_at, id) AS seq FROM api_key
) AS numbered WHERE api_key.company_id = numbered.company_id AND api_key.id = numbered.id;

CREATE UNIQUE INDEX client_created_seq ON client(company_id, created_seq);
CREATE UNIQUE INDEX staff_created_seq ON staff(company_id, created_seq);
CREATE UNIQUE INDEX payment_method_created_seq ON payment_method(company_id, created_seq);
CREATE UNIQUE INDEX api_key_created_seq ON api_key(company_id, created_seq);

-- Words as Folded() makes them, of name and e-mail. Short rows: those of a common word are read together.
CREATE TABLE client_word (
  company_id INTEGER NOT NULL,
  word TEXT NOT NULL,
  client_seq INTEGER NOT NULL,
  PRIMARY KEY (company_id, word, client_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX client_unsearchable ON client(company_id, created_seq) WHERE searchable = 0;
CREATE INDEX client_phone ON client(company_id, phone_reversed, created_seq) WHERE phone_reversed IS NOT NULL;
CREATE INDEX client_email ON client(company_id, email, created_seq) WHERE email IS NOT NULL;

-- One for each sort, with created_seq so that a walk finds the rows of a filter without reading them.
DROP INDEX client_created;
CREATE INDEX client_created ON client(company_id, created_at, id, created_seq);
CREATE INDEX client_name ON client(company_id, name_folded, id, created_seq);
CREATE INDEX client_last_order ON client(company_id, last_order_at, id, created_seq);
CREATE INDEX client_updated ON client(company_id, updated_at, created_seq);  -- for updated_since
