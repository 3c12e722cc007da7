SELECT c.id AS company_id, p.id AS product_id, v.id AS variant_id, g.name AS category_name, p.name,
  v.name AS variant_name, v.sku, v.price * minor_unit(c.currency) AS price,
  v.original_price * minor_unit(c.currency) AS original_price, v.cost * minor_unit(c.currency) AS cost,
  v.stock * 0.001 AS stock, p.visible = 1 AS visible, to_timestamp(p.updated_at / 1000.0) AS updated_at
FROM company AS c
JOIN product AS p ON p.company_id = c.company_id
JOIN category AS g ON g.company_id = p.company_id AND g.id = p.category_id
JOIN variant AS v ON v.company_id = p.company_id AND v.product_id = p.id
