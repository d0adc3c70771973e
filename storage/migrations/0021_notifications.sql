-- Stored events whose notifications have not been made yet (docs/decisions/0170): written with the event, removed in
-- the transaction that puts its messages into the outbox.
create table unmatched_events (
    event_id bigint primary key,
    -- The time at which the event was stored.
    stored timestamptz not null
);
create index notifications_type on notifications (type);

-- How users' own receivers fail: a mail account, a webhook, a chat. No row: the last message was delivered.
create table failing_receivers (
    user_id bigint not null references users on delete cascade,
    -- As outbox.lane.
    lane text not null,
    failures integer not null,
    since timestamptz not null,
    last_failure timestamptz not null,
    last_error text not null,
    -- Null while messages are still made for it.
    paused timestamptz,
    primary key (user_id, lane)
);
-- Messages to one webhook are sent in the order of their ids; one that was refused several times is overtaken.
alter table outbox add column is_overtaken boolean not null default false;
create index outbox_webhook on outbox (user_id, id) where lane = 'webhook';
