-- Failed logins and other limited attempts, counted for all servers of a cluster (docs/servers.md#limits-on-guesses).
create table counted_attempts (
    -- What is counted, such as "account" or "address".
    kind text not null,
    key text not null,
    -- At most as many as the limit.
    times timestamptz[] not null,
    -- The end of the window of the last one.
    expires timestamptz not null,
    primary key (kind, key)
);
create index counted_attempts_expires on counted_attempts (expires);
