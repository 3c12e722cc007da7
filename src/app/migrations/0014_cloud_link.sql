-- Where the cloud of a link is, as `comanda cloud link` was told.
ALTER TABLE cloud_link ADD COLUMN url TEXT NOT NULL DEFAULT '';
ALTER TABLE cloud_link ADD COLUMN ca_file TEXT NOT NULL DEFAULT '';
