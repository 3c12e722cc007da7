-- GET /v1/company/tables: which rows came later (filter[snapshot]), and the name by which they are sorted. No index: a
-- dining room has some dozens of tables.

ALTER TABLE dining_table ADD COLUMN created_seq INTEGER NOT NULL DEFAULT 0;
-- As Folded() makes it. That is no function of SQL, so names of an older program get all of it but rare letters, until
-- their next import.
ALTER TABLE dining_table ADD COLUMN name_folded TEXT NOT NULL DEFAULT '';

UPDATE dining_table SET created_seq = numbered.seq FROM (
  SELECT company_id, id, row_number() OVER (PARTITION BY company_id ORDER BY id) AS seq FROM dining_table
) AS numbered WHERE dining_table.company_id = numbered.company_id AND dining_table.id = numbered.id;
UPDATE dining_table SET name_folded = lower(replace(replace(replace(replace(replace(replace(replace(replace(replace(
  replace(replace(replace(name, 'á', 'a'), 'é', 'e'), 'í', 'i'), 'ó', 'o'), 'ú', 'u'), 'ñ', 'n'),
  'Á', 'a'), 'É', 'e'), 'Í', 'i'), 'Ó', 'o'), 'Ú', 'u'), 'Ñ', 'n'));
