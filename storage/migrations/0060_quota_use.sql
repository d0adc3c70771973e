-- What is counted towards quotas, kept up to date by triggers (docs/server.md#quotas): counting it when it is asked for
-- took seconds for a group with thousands of devices, in which other changes waited. A measure is named by its table,
-- and a colon and its name: geofences:points.

-- Null: of rows without a creator.
create table user_quota_use (
    user_id bigint references users on delete cascade,
    measure text not null,
    amount bigint not null,
    unique nulls not distinct (user_id, measure)
);
create index user_quota_use_measure on user_quota_use (measure) include (amount);
create table device_quota_use (
    device_id bigint references devices on delete cascade,
    measure text,
    amount bigint not null,
    primary key (device_id, measure)
);
create table group_quota_use (
    group_id bigint references groups on delete cascade,
    measure text,
    amount bigint not null,
    primary key (group_id, measure)
);
-- Locked by who changes what groups and those below them have. The rows of the groups themselves are locked by who edits
-- these, in another order.
create table quota_locks (group_id bigint primary key references groups on delete cascade);

alter table devices add column creator_id bigint references users on delete set null;
update devices set creator_id = (select min(user_id) from user_device where device_id = devices.id);
-- Of a calendar: steps of reading and evaluating it; 0 for those that were stored before.
alter table calendars add column cost integer not null default 0;
create index devices_creator_id on devices (creator_id);

-- SQL that adds to what owners use: `source` is a query for owner, measure and amount. Rows are locked in a fixed order.
-- The row of an owner that was deleted is gone, so what is subtracted from that needs none.
create function quota_use_sql(owner text, source text) returns text language sql immutable as $$
    select format(
        'with change (owner_id, measure, amount) as materialized (
            select owner_id, measure, sum(amount) from (%2$s) as source (owner_id, measure, amount)
            group by 1, 2 having sum(amount) <> 0
        ),
        held as materialized (
            select used.ctid, change.amount from %1$s_quota_use used join change
                on used.%1$s_id is not distinct from change.owner_id and used.measure = change.measure
            where change.amount < 0 order by used.%1$s_id, used.measure for update of used
        ),
        less as (
            update %1$s_quota_use used set amount = used.amount + held.amount from held where used.ctid = held.ctid
        )
        insert into %1$s_quota_use as used (%1$s_id, measure, amount)
        select owner_id, measure, amount from change where amount > 0 order by 1, 2
        on conflict (%1$s_id, measure) do update set amount = used.amount + excluded.amount',
        owner, source)
$$;

-- What rows `p` count for, as SQL; `measures` are their names, each followed by SQL of what it counts of a row.
create function quota_measures(table_name text, measures text[]) returns text language sql immutable as $$
    select 'cross join lateral (values ' || string_agg(
        format('(%L, (%s)::bigint)', table_name || ':' || measures[place], measures[place + 1]), ', ')
        || ') as counted (measure, amount)'
    from generate_series(1, cardinality(measures), 2) as place
$$;

-- Rows that count for who created them. Arguments: measures.
create function count_created() returns trigger language plpgsql as $$
begin
    execute quota_use_sql('user', format('select p.creator_id, measure, %s amount from %s p %s',
        case tg_op when 'DELETE' then '-' end, case tg_op when 'DELETE' then 'removed' else 'added' end,
        quota_measures(tg_table_name, tg_argv[0:])));
    return null;
end
$$;

-- A row of these that counts for more or less than before.
create function count_created_anew() returns trigger language plpgsql as $$
declare
    source text := 'select p.creator_id, measure, %s amount from (select ($%s).*) p '
        || replace(quota_measures(tg_table_name, tg_argv[0:]), '%', '%%');
begin
    execute quota_use_sql('user', format(source || ' union all ' || source, '', 1, '-', 2)) using new, old;
    return null;
end
$$;

-- Links. Arguments: what the linked rows count for, SQL of which (of the link `l` or the linked row `p`), the table of
-- the linked row, the column that leads to it, and measures.
create function count_linked() returns trigger language plpgsql as $$
begin
    execute quota_use_sql(tg_argv[0], format('select %s, measure, %s amount from %s l left join %I p on p.id = l.%I %s',
        tg_argv[1], case tg_op when 'DELETE' then '-' end, case tg_op when 'DELETE' then 'removed' else 'added' end,
        tg_argv[2], tg_argv[3], quota_measures(tg_argv[2], tg_argv[4:])));
    return null;
end
$$;

-- A linked row that counts for more or less than before. Arguments: as above, with the table of the links.
create function count_linked_anew() returns trigger language plpgsql as $$
declare
    source text := 'select ' || tg_argv[1] || ', measure, %s amount from (select ($%s).*) p join '
        || quote_ident(tg_argv[2]) || ' l on l.' || quote_ident(tg_argv[3]) || ' = p.id '
        || replace(quota_measures(tg_table_name, tg_argv[4:]), '%', '%%');
begin
    execute quota_use_sql(tg_argv[0], format(source || ' union all ' || source, '', 1, '-', 2)) using new, old;
    return null;
end
$$;

-- Ends links before the row that they lead to is gone, so that it is known what they counted for.
create function end_links() returns trigger language plpgsql as $$
begin
    execute format('delete from %I where %I = $1', tg_argv[0], tg_argv[1]) using old.id;
    return old;
end
$$;

create function quoted_words(words text[]) returns text language sql as $$
    select string_agg(quote_literal(word), ', ' order by place) from unnest(words) with ordinality as each (word, place)
$$;
create function any_differs(columns text[]) returns text language sql as $$
    select string_agg(format('old.%1$I is distinct from new.%1$I', name), ' or ') from unnest(columns) as name
$$;

-- Have the rows of a table count for who created them. `columns` are those that the measures depend on. It is no procedure,
-- since those are not dropped by `motorpool restore --force` of older releases.
create function count_rows(table_name text, columns text[], measures text[]) returns void language plpgsql as $$
begin
    execute format('create trigger count_added after insert on %1$I referencing new table as added
        for each statement execute function count_created(%2$s)', table_name, quoted_words(measures));
    execute format('create trigger count_changed after update on %1$I for each row when (%3$s)
        execute function count_created_anew(%2$s)', table_name, quoted_words(measures),
        any_differs(columns || 'creator_id'::text));
    execute format('create trigger count_removed after delete on %1$I referencing old table as removed
        for each statement execute function count_created(%2$s)', table_name, quoted_words(measures));
    execute quota_use_sql('user', format('select p.creator_id, measure, amount from %I p %s',
        table_name, quota_measures(table_name, measures)));
end
$$;

-- Have rows count for those that they are linked to, or links of them for who created them.
create function count_links(
    owner text, owner_id text, link_table text, table_name text, column_name text, columns text[], measures text[]
) returns void language plpgsql as $$
declare
    arguments text := quoted_words(array[owner, owner_id, table_name, column_name] || measures);
begin
    execute format('create trigger count_added after insert on %1$I referencing new table as added
        for each statement execute function count_linked(%2$s)', link_table, arguments);
    execute format('create trigger count_removed after delete on %1$I referencing old table as removed
        for each statement execute function count_linked(%2$s)', link_table, arguments);
    if cardinality(columns) > 0 then
        execute format('create trigger end_%1$s before delete on %2$I
            for each row execute function end_links(%1$L, %3$L)', link_table, table_name, column_name);
        execute format('create trigger count_%1$s after update on %2$I for each row when (%3$s)
            execute function count_linked_anew(%4$s)', link_table, table_name, any_differs(columns),
            quoted_words(array[owner, owner_id, link_table, column_name] || measures));
    end if;
    execute quota_use_sql(owner, format('select %s, measure, amount from %I l join %I p on p.id = l.%I %s',
        owner_id, link_table, table_name, column_name, quota_measures(table_name, measures)));
end
$$;

do $$
declare
    attributes text := 'octet_length(p.attributes::text)';
    plain text[] := array['drivers', 'orders', 'maintenance', 'notifications', 'commands', 'groups',
        'scheduled_commands', 'scheduled_reports'];
    points text[] := array['rows', '1', 'points', 'p.points'];
    name text;
begin
    foreach name in array plain loop
        perform count_rows(name, '{attributes}', array['rows', '1', 'bytes', attributes]);
    end loop;
    perform count_rows('geofences', '{area, attributes}',
        points || array['bytes', attributes || ' + octet_length(p.area)']);
    perform count_rows('calendars', '{data, cost, attributes}',
        array['rows', '1', 'cost', 'p.cost', 'bytes', attributes || ' + octet_length(p.data)']);
    perform count_rows('devices', '{attributes}', array['bytes', attributes]);
    perform count_rows('companies', '{attributes}', array['rules',
        'case jsonb_typeof(p.attributes -> ''ticketRules'')'
        ' when ''array'' then jsonb_array_length(p.attributes -> ''ticketRules'') else 0 end']);
    foreach name in array array['device', 'group'] loop
        perform count_links(name, 'l.' || name || '_id', name || '_geofence', 'geofences', 'geofence_id',
            '{points}', points);
        perform count_links(name, 'l.' || name || '_id', name || '_attribute', 'computed_attributes', 'attribute_id',
            '{expression}', array['rows', '1', 'characters', 'length(p.expression)']);
        perform count_links(name, 'l.' || name || '_id', name || '_maintenance', 'maintenance', 'maintenance_id',
            '{}', array['rows', '1']);
        perform count_links(name, 'l.' || name || '_id', name || '_notification', 'notifications',
            'notification_id', '{}', array['rows', '1']);
        perform count_links(name, 'l.' || name || '_id', name || '_scheduled_command', 'scheduled_commands',
            'scheduled_command_id', '{on_start, on_end}',
            array['steps', 'jsonb_array_length(p.on_start) + jsonb_array_length(p.on_end)']);
    end loop;
    perform count_links('device', 'l.device_id', 'device_device', 'devices', 'linked_device_id', '{}',
        array['linked', '1']);
    perform count_links('user', 'p.creator_id', 'user_notification', 'notifications', 'notification_id',
        '{creator_id}', array['links', '1']);
end
$$;
