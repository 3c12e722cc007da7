-- What is paid and the tips are summed over payments, as by-payment-methods and by-tips do: another system's sums of an order
-- may differ from its payments.
SELECT c.id AS company_id,
  make_date(CAST(substr(o.business_day, 1, 4) AS integer), CAST(substr(o.business_day, 6, 2) AS integer),
    CAST(substr(o.business_day, 9, 2) AS integer)) AS business_day,
  count(*) FILTER (WHERE o.status <> 5) AS orders, count(*) FILTER (WHERE o.status = 5) AS canceled,
  coalesce(sum(o.total) FILTER (WHERE o.status <> 5), 0) * minor_unit(o.currency) AS total,
  coalesce(sum(o.total_discounts) FILTER (WHERE o.status <> 5), 0) * minor_unit(o.currency) AS discounts,
  coalesce(sum(o.delivery_price) FILTER (WHERE o.status <> 5), 0) * minor_unit(o.currency) AS delivery,
  coalesce(sum(p.amount) FILTER (WHERE o.status <> 5), 0) * minor_unit(o.currency) AS paid,
  coalesce(sum(p.tip) FILTER (WHERE o.status <> 5), 0) * minor_unit(o.currency) AS tips,
  o.currency
FROM orders AS o
JOIN company AS c ON c.company_id = o.company_id
CROSS JOIN LATERAL (SELECT sum(a.amount) AS amount, sum(a.tip_amount) AS tip FROM payment AS a
  WHERE a.company_id = o.company_id AND a.order_id = o.id AND a.canceled_at IS NULL) AS p
GROUP BY c.id, 2, o.currency
