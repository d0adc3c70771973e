-- The keys that sign tokens: the latest signs, those before it are accepted until the last of their tokens ends.
create table signing_keys (
    id bigint primary key,
    value bytea not null,
    created timestamptz not null,
    -- Null for the latest.
    accepted_until timestamptz
);
insert into signing_keys (id, value, created) select 1, value, now() from keys where name = 'session tokens';
delete from keys where name = 'session tokens';
