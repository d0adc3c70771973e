-- Types of events that ticket rules of companies follow, with the users whose rights the rules have
-- (docs/ticket-rules.md); written when a company is stored.
create table ticket_rule_types (
    company_id bigint not null references companies on delete cascade,
    type text not null,
    user_id bigint not null references users on delete cascade,
    primary key (company_id, type, user_id)
);
create index ticket_rule_types_type on ticket_rule_types (type, user_id);
create index ticket_rule_types_user_id on ticket_rule_types (user_id);

-- Stored events of these types that rules have not looked at yet: written with the event, removed in the transaction
-- that writes what the rules make of it.
create table ticket_rule_events (
    event_id bigint primary key,
    -- The time at which the event was stored.
    stored timestamptz not null
);

-- Tickets that each rule opened in its present hour, which begins with the first.
create table ticket_rule_hours (
    company_id bigint not null references companies on delete cascade,
    rule text not null,
    began timestamptz not null,
    tickets integer not null,
    primary key (company_id, rule)
);

alter table ticket_rule_tickets
    -- Entries of the history about joined events, and the time of the last.
    add column entries integer not null default 0,
    add column last_entry_at timestamptz,
    -- Whether the end of the cause has been added since the last event.
    add column is_over boolean not null default false;
