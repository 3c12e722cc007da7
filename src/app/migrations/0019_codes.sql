-- Skus are compared without case: sku_folded is the sku in lower case (A to Z). White space and control characters around
-- skus are cut, as the program cuts those of what is sent (TrimmedCode, base/text.h), but where another variant would then
-- have the same sku or one that differs in case alone: those stay, and the start that upgraded logs them. The four texts are
-- C0 with the blank and DEL, C1 with the no-break space, and the spaces of Unicode with those of zero width.
ALTER TABLE variant ADD COLUMN sku_folded TEXT;
ALTER TABLE modifier ADD COLUMN sku_folded TEXT;

CREATE TABLE sku_cut (
  kind TEXT NOT NULL,
  company_id INTEGER NOT NULL,
  id TEXT NOT NULL,
  product_id TEXT NOT NULL,
  cut TEXT,                           -- null: the sku stays
  folded TEXT,
  PRIMARY KEY (kind, company_id, id)
) STRICT, WITHOUT ROWID;
INSERT INTO sku_cut (kind, company_id, id, product_id, cut)
  SELECT kind, company_id, id, product_id, nullif(trim(sku,
    CAST(x'0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f207f' AS TEXT)
    || CAST(x'c280c281c282c283c284c285c286c287c288c289c28ac28bc28cc28dc28ec28f' AS TEXT)
    || CAST(x'c290c291c292c293c294c295c296c297c298c299c29ac29bc29cc29dc29ec29fc2a0' AS TEXT)
    || CAST(x'e28080e28081e28082e28083e28084e28085e28086e28087e28088e28089e2808ae2808b' AS TEXT)
    || CAST(x'e280a8e280a9e280afe2819fe38080efbbbf' AS TEXT)), '')
  FROM (SELECT 'variant' AS kind, company_id, id, product_id, sku FROM variant
    UNION ALL SELECT 'modifier', company_id, id, product_id, sku FROM modifier) WHERE sku IS NOT NULL;
UPDATE sku_cut SET folded = lower(cut);
UPDATE sku_cut SET cut = NULL WHERE kind = 'variant' AND (company_id, folded) IN (
  SELECT company_id, folded FROM sku_cut WHERE kind = 'variant' GROUP BY company_id, folded HAVING count(*) > 1);

UPDATE product SET version = version + 1 WHERE (company_id, id) IN (
  SELECT c.company_id, c.product_id FROM sku_cut c
  JOIN variant v ON c.kind = 'variant' AND v.company_id = c.company_id AND v.id = c.id AND v.sku <> c.cut
  UNION SELECT c.company_id, c.product_id FROM sku_cut c
  JOIN modifier m ON c.kind = 'modifier' AND m.company_id = c.company_id AND m.id = c.id AND m.sku <> c.cut);
UPDATE variant SET (sku, sku_folded) = (SELECT coalesce(c.cut, variant.sku), c.folded FROM sku_cut c
  WHERE c.kind = 'variant' AND c.company_id = variant.company_id AND c.id = variant.id) WHERE sku IS NOT NULL;
UPDATE modifier SET (sku, sku_folded) = (SELECT coalesce(c.cut, modifier.sku), c.folded FROM sku_cut c
  WHERE c.kind = 'modifier' AND c.company_id = modifier.company_id AND c.id = modifier.id) WHERE sku IS NOT NULL;
DROP TABLE sku_cut;

CREATE INDEX variant_sku_folded ON variant(company_id, sku_folded) WHERE sku_folded IS NOT NULL;
CREATE INDEX modifier_sku_folded ON modifier(company_id, sku_folded, sku) WHERE sku_folded IS NOT NULL;
