-- How the webhooks of companies fail, and which server sends their messages (docs/ticket-webhooks.md).

create table ticket_webhooks (
    company_id bigint primary key references companies on delete cascade,
    -- Failed attempts since the last success, over all tickets, and the first of them.
    failures integer not null default 0,
    failing_since timestamptz,
    -- Nothing is sent before this instant.
    held_until timestamptz,
    -- When the sender disabled the webhook; null again as soon as it has seen that it was enabled.
    stopped_at timestamptz,
    -- Messages that were given up without having been delivered.
    dropped bigint not null default 0,
    -- The one server that sends the company's messages, until when.
    holder text not null default '',
    leased_until timestamptz
);

drop index ticket_messages_next_attempt;
create index ticket_messages_due on ticket_messages (company_id, next_attempt, id) where state = 'waiting';
create index ticket_messages_created on ticket_messages (created);
create index ticket_message_attempts_at on ticket_message_attempts (at);
