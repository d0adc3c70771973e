-- Networks from which a user has logged in lately; failed logins of strangers do not lock the user out there.
create table known_addresses (
    user_id bigint not null references users on delete cascade,
    -- An IPv4 address, or the /64 network of an IPv6 address.
    network text not null,
    last_login timestamptz not null,
    primary key (user_id, network)
);
create index known_addresses_last_login on known_addresses (last_login);
