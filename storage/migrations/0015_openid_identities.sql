-- Who of the OpenID provider a user is: found by e-mail once, and by this from then on.
create table openid_identities (
    issuer text not null,
    subject text not null,
    user_id bigint not null references users on delete cascade,
    linked timestamptz not null,
    primary key (issuer, subject),
    unique (user_id, issuer)
);
