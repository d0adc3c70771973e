-- Stores events, JSON as storage/events/events.py encodes them, and returns those that wait for the notifier: such that
-- notifications exist for their type. Those of types that ticket rules follow are left for these. With `stored_at` null
-- nothing waits. A function, because its statements are planned once for each connection and not with each batch.
create function store_events(given jsonb, stored_at timestamptz)
returns table (waiting_id bigint, waiting_device_id bigint) language plpgsql as $$
begin
    insert into events (id, type, event_time, device_id, position_id, geofence_id, maintenance_id, attributes, severity,
        review)
    select id, type, "eventTime", "deviceId", "positionId", "geofenceId", "maintenanceId", attributes, severity, review
    from jsonb_to_recordset(given) as event (id bigint, type text, "eventTime" timestamptz, "deviceId" bigint,
        "positionId" bigint, "geofenceId" bigint, "maintenanceId" bigint, attributes jsonb, severity text, review jsonb);
    if stored_at is null then
        return;
    end if;
    if exists (select from ticket_rule_types) then
        insert into ticket_rule_events (event_id, device_id, stored)
        select id, "deviceId", stored_at from jsonb_to_recordset(given) as event (id bigint, type text, "deviceId" bigint)
        where exists (select from ticket_rule_types where type = event.type);
    end if;
    if exists (select from notifications) then
        return query
        select id, "deviceId" from jsonb_to_recordset(given) as event (id bigint, type text, "deviceId" bigint)
        where exists (select from notifications where type = event.type);
    end if;
end $$;
