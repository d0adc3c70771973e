-- When a server on this database was last known to run: devices seen until shortly before it stopped are expected
-- to reconnect after the next start. A table of its own: the row of settings has a version, and no need of writes.
create table heartbeats (
    id integer primary key check (id = 1),
    last_alive timestamptz not null
);
