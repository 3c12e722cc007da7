SELECT c.id AS company_id, p.order_id, p.position, p.id AS payment_id,
  make_date(CAST(substr(o.business_day, 1, 4) AS integer), CAST(substr(o.business_day, 6, 2) AS integer),
    CAST(substr(o.business_day, 9, 2) AS integer)) AS business_day,
  p.payment_method_code AS method_code, p.payment_method_description AS method_name,
  p.amount * minor_unit(o.currency) AS amount, p.tip_amount * minor_unit(o.currency) AS tip,
  to_timestamp(p.created_at / 1000.0) AS created_at, to_timestamp(p.canceled_at / 1000.0) AS canceled_at
FROM orders AS o
JOIN company AS c ON c.company_id = o.company_id
JOIN payment AS p ON p.company_id = o.company_id AND p.order_id = o.id
