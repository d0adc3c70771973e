-- Whether an account was there before a login of an OpenID provider was linked to it. Linking removes its password, which
-- said until now that the role of an administrator was given here and not by the provider.

alter table openid_identities add column existed boolean not null default false;
