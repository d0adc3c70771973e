-- Whether the defaults of retention apply to this database: not to one that was in use before there were any
-- (docs/decisions/0039-retention-of-new-installations.md).

create table installation (
    id integer primary key default 1 check (id = 1),
    has_retention_defaults boolean not null
);
insert into installation (has_retention_defaults)
    select not exists (select from users) and not exists (select from devices) and not exists (select from audit);

-- For the deletion of old events; those of the audit have such an index.
create index events_event_time on events (event_time);
