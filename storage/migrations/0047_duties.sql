-- What one server of a cluster does for all of them (docs/servers.md#duties).
create table duties (
    name text primary key,
    -- The server that holds it; null: none.
    node bigint,
    -- Counts the holders.
    epoch bigint not null
) with (fillfactor = 50);
