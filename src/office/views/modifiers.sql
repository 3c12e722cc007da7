SELECT c.id AS company_id, m.order_id, m.combo_position AS item_position, m.position, m.modifier_id, m.name,
  m.quantity * 0.001 AS quantity, m.price * minor_unit(o.currency) AS total
FROM orders AS o
JOIN company AS c ON c.company_id = o.company_id
JOIN combo_modifier AS m ON m.company_id = o.company_id AND m.order_id = o.id
