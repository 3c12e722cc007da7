SELECT c.id AS company_id, o.id AS order_id, o.public_id, o.order_number,
  make_date(CAST(substr(o.business_day, 1, 4) AS integer), CAST(substr(o.business_day, 6, 2) AS integer),
    CAST(substr(o.business_day, 9, 2) AS integer)) AS business_day,
  to_timestamp(o.created_at / 1000.0) AS created_at, to_timestamp(o.closed_at / 1000.0) AS closed_at,
  to_timestamp(o.canceled_at / 1000.0) AS canceled_at,
  CASE o.status WHEN 0 THEN 'PENDING' WHEN 1 THEN 'PREPARING' WHEN 2 THEN 'READY' WHEN 3 THEN 'DELIVERED'
    WHEN 4 THEN 'FINALIZED' ELSE 'CANCELLED' END AS status,
  CASE o.service_type WHEN 0 THEN 'ONSITE' WHEN 1 THEN 'TABLE' WHEN 2 THEN 'DELIVERY' ELSE 'TAKEAWAY' END AS service_type,
  o.source, o.table_id,
  o.subtotal * minor_unit(o.currency) AS subtotal, o.total_discounts * minor_unit(o.currency) AS total_discounts,
  o.delivery_price * minor_unit(o.currency) AS delivery_price,
  o.packaging_price * minor_unit(o.currency) AS packaging_price,
  o.service_fee_price * minor_unit(o.currency) AS service_fee, o.total_tips * minor_unit(o.currency) AS total_tips,
  o.total * minor_unit(o.currency) AS total, o.total_paid * minor_unit(o.currency) AS total_paid, o.paid = 1 AS paid,
  o.currency, o.version
FROM orders AS o
JOIN company AS c ON c.company_id = o.company_id
