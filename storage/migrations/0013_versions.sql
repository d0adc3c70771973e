-- The version of each record that users edit, for the headers ETag and If-Match: each update adds one.
do $$
declare
    name text;
begin
    foreach name in array array['users', 'groups', 'devices', 'commands', 'scheduled_commands', 'calendars',
        'geofences', 'drivers', 'orders', 'maintenance', 'computed_attributes', 'notifications', 'server'] loop
        execute format('alter table %I add column version bigint not null default 1', name);
    end loop;
end
$$;
