-- The keys that secrets in this database are encrypted with: their ids, never the keys (docs/server.md#secrets-at-rest).
-- A server that lacks one of them does not start.
create table encryption_keys (
    id text primary key,
    created timestamptz not null
);

-- The ids of the keys that a server has, the one that encrypts first: a key that another server lacks is not used.
alter table nodes add column encryption_keys text[] not null default '{}';
