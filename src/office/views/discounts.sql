-- A discount that is taken back leaves its position empty. value: an amount, or percent.
SELECT c.id AS company_id, d.order_id,
  (SELECT count(*) FROM discount AS b WHERE b.company_id = d.company_id AND b.order_id = d.order_id
    AND b.position < d.position) AS position,
  d.type, d.value * CASE d.type WHEN 'PERCENTAGE' THEN 0.0001 ELSE minor_unit(o.currency) END AS value,
  d.amount * minor_unit(o.currency) AS amount
FROM orders AS o
JOIN company AS c ON c.company_id = o.company_id
JOIN discount AS d ON d.company_id = o.company_id AND d.order_id = o.id
