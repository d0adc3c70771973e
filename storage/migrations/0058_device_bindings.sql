-- How each device reports, by which a stranger who knows its name is told from it (docs/devices.md#who-a-device-is).
create table device_bindings (
    device_id bigint primary key references devices on delete cascade,
    -- Other protocols are refused.
    protocol text not null,
    since timestamptz not null,
    -- manufacturer, model and terminalId of a JT/T 808 registration. Null: none was seen yet.
    registration jsonb,
    -- SHA-256 of the authentication code of a JT/T 808 terminal whose device has a secret. Null: none is known yet.
    code bytea
);

-- Until now every protocol was let in: devices are bound to the one of their latest position.
insert into device_bindings (device_id, protocol, since)
select devices.id, latest.protocol, latest.server_time from devices cross join lateral (
    select protocol, server_time from positions
    where device_id = devices.id and fix_time <= server_time + interval '1 day'
    order by fix_time desc, id desc limit 1
) latest where latest.protocol <> '';

-- The last login of each kind that differed from the binding, for those who may edit the device.
create table differing_logins (
    device_id bigint not null references devices on delete cascade,
    protocol text not null,
    -- "protocol", "registration", "network" or "secret".
    reason text not null,
    refused boolean not null,
    host text not null,
    registration jsonb,
    time timestamptz not null,
    -- When it was last told by an event.
    told timestamptz,
    primary key (device_id, protocol, reason)
);

-- Whether the device sends datagrams there: then it may send them to another server, and else not.
alter table homes add column datagrams boolean not null default false;
