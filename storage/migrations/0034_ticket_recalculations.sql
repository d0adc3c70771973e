-- What the due times of each priority's open tickets were last computed with (docs/service-levels.md#changes).
--
-- A row that differs from what the priority says now is work to do, whoever changed the priority, its calendars or
-- a time zone, and whether or not the change was announced. Progress is kept here, in the transaction of
-- the tickets, so that a restart goes on where it stopped.

create table ticket_recalculations (
    priority_id bigint primary key references ticket_priorities on delete cascade,
    -- Minutes, calendars and attributes of the priority.
    targets text not null,
    -- Versions of the calendars, and time zones that they fall back to.
    hours text not null,
    -- Version of the tz database; it only advances.
    tz_version text not null,
    -- Written into the history: "priority" or "calendar".
    reason text not null,
    -- When the change was noticed.
    since timestamptz not null,
    -- 1: all open tickets; 2: those that were written while the change was made; 0: done.
    pass integer not null default 1,
    -- Tickets up to this one are done in this pass.
    after_ticket_id bigint not null default 0
);
create index ticket_recalculations_pass on ticket_recalculations (since) where pass > 0;

-- The open tickets of a priority in the order in which they are computed again.
create index tickets_open_of_priority on tickets (priority_id, id) where status_kind in ('new', 'open', 'pending');
