-- Moves of tickets from status to status, which statistics count by the thousand.
alter table ticket_events
    add column from_kind text generated always as (
        case when type = 'statusChanged' then attributes ->> 'fromKind' end
    ) stored,
    add column to_kind text generated always as (
        case when type = 'statusChanged' then attributes ->> 'toKind' end
    ) stored;
create index ticket_events_moves on ticket_events (company_id, event_time) include (ticket_id, from_kind, to_kind)
    where to_kind is not null;
