-- The machine whose program serves this database (machine/hold.h). One row at most: without it, no program that knows
-- of machines has served the database yet.

CREATE TABLE machine (
  machine INTEGER PRIMARY KEY CHECK (machine = 1),
  machine_id TEXT NOT NULL,           -- derived from /etc/machine-id; empty: the machine had none
  held_since INTEGER                  -- outgoing messages are held since then; null: they are sent
) STRICT;
