-- Positions by month of their fix time, and events.
--
-- The ends are open ranges, not a default partition: so the planner knows the order of all partitions and
-- finds the latest position of a device without sorting. storage/devices/partitions.py makes the months between.

create table positions (
    id bigint not null,
    device_id bigint not null,
    server_time timestamptz not null,
    device_time timestamptz not null,
    fix_time timestamptz not null,
    latitude double precision not null,
    longitude double precision not null,
    altitude double precision not null,
    speed double precision not null,
    course double precision not null,
    accuracy double precision not null,
    outdated boolean not null,
    valid boolean not null,
    protocol text not null,
    address text,
    network jsonb,
    geofence_ids bigint[],
    attributes jsonb not null,
    primary key (id, fix_time)
) partition by range (fix_time);
create index positions_device_id_fix_time on positions (device_id, fix_time, id);

create table positions_early partition of positions for values from (minvalue) to ('2000-01-01 00:00:00+00');
create table positions_late partition of positions for values from ('2000-01-01 00:00:00+00') to (maxvalue);

-- Ids are handed out in blocks, so that a row is complete before it is copied in.
create table id_blocks (
    name text primary key,
    next_id bigint not null
);
insert into id_blocks values ('positions', 1), ('events', 1);

create table events (
    id bigint primary key,
    type text not null,
    event_time timestamptz not null,
    device_id bigint not null,
    position_id bigint not null default 0,
    geofence_id bigint not null default 0,
    maintenance_id bigint not null default 0,
    attributes jsonb not null default '{}'
);
create index events_device_id_event_time on events (device_id, event_time);
