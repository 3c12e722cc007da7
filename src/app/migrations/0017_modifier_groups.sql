-- The name of the modifier's group, as the menu, the request or a delivery app has it; null: none.
ALTER TABLE combo_modifier ADD COLUMN group_name TEXT;
