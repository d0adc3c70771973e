-- Expirations of users and devices that were mailed, so that each is mailed once.

create table mailed_expirations (
    kind text not null check (kind in ('user', 'device')),
    object_id bigint not null,
    expires timestamptz not null,
    is_reminder boolean not null,
    primary key (kind, object_id, expires, is_reminder)
);
create index mailed_expirations_expires on mailed_expirations (expires);
create index users_expiration_time on users (expiration_time) where expiration_time is not null;
create index devices_expiration_time on devices (expiration_time) where expiration_time is not null;
