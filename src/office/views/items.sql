-- The unit price of items of old programs, which have none: as orders/pricing.h takes it from the total.
SELECT c.id AS company_id, i.order_id, i.position, i.id AS item_id,
  make_date(CAST(substr(o.business_day, 1, 4) AS integer), CAST(substr(o.business_day, 6, 2) AS integer),
    CAST(substr(o.business_day, 9, 2) AS integer)) AS business_day,
  i.product_id, i.product_name, i.product_category_name AS category_name, i.variant_id, i.variant_name, i.sku,
  i.quantity * 0.001 AS quantity,
  coalesce(i.variant_unit_price,
    CASE WHEN i.quantity > 0 THEN (i.variant_price * 1000 + i.quantity / 2) / i.quantity ELSE i.variant_price END)
    * minor_unit(o.currency) AS unit_price,
  i.combo_price * minor_unit(o.currency) AS total, i.combo_original_price * minor_unit(o.currency) AS original_total,
  i.kitchen_id, to_timestamp(i.created_at / 1000.0) AS created_at, to_timestamp(i.canceled_at / 1000.0) AS canceled_at
FROM orders AS o
JOIN company AS c ON c.company_id = o.company_id
JOIN combo AS i ON i.company_id = o.company_id AND i.order_id = o.id
