-- The server that each device is connected to, in a cluster (docs/servers.md#devices).
create table homes (
    device_id bigint primary key references devices on delete cascade,
    -- Null: to none.
    node bigint,
    -- The server before that.
    former bigint,
    -- Counts the connections.
    epoch bigint not null
) with (fillfactor = 70);
