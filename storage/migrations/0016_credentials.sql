-- Credentials as rows: which tokens were issued, with what each session began, and who shared what.
-- Tokens issued earlier have no row; they are valid until they expire.

create table tokens (
    id text primary key,
    purpose text not null check (purpose in ('session', 'share')),
    -- Whom it logs in.
    user_id bigint not null references users on delete cascade,
    -- Who issued it for somebody else: by sharing, or in a session as another user.
    issuer_id bigint references users on delete cascade,
    -- The token with which it was issued; it ends with that.
    parent_id text,
    issued timestamptz not null,
    expires timestamptz not null
);
create index tokens_user_id on tokens (user_id);
create index tokens_issuer_id on tokens (issuer_id);
create index tokens_parent_id on tokens (parent_id) where parent_id is not null;
create index tokens_expires on tokens (expires);

alter table sessions
    -- The token with which it began.
    add column token_id text,
    -- Who began it as another user.
    add column impersonator_id bigint references users on delete cascade,
    add column address text,
    add column user_agent text;
create index sessions_token_id on sessions (token_id) where token_id is not null;
create index sessions_impersonator_id on sessions (impersonator_id) where impersonator_id is not null;

-- Who created a temporary user by sharing: the user ends with the sharer's access.
alter table users add column shared_by bigint references users on delete cascade;
create index users_shared_by on users (shared_by) where shared_by is not null;
-- The address of a temporary user begins with that of the sharer, unless it was too long.
update users guest set shared_by = sharer.id from users sharer
where guest.temporary and not sharer.temporary and starts_with(lower(guest.email), lower(sharer.email) || ':');
