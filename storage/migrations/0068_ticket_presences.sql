-- Who looks at a ticket or writes in it (docs/tickets.md#presence): leases of seconds, which a crash of the
-- database may lose.
create unlogged table ticket_presences (
    ticket_id bigint not null references tickets on delete cascade,
    user_id bigint not null references users on delete cascade,
    state text not null,
    -- When the user came into this state.
    since timestamptz not null,
    expires_at timestamptz not null,
    primary key (ticket_id, user_id)
);
create index ticket_presences_user_id on ticket_presences (user_id);
create index ticket_presences_expires_at on ticket_presences (expires_at);
