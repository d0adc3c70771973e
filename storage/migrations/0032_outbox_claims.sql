-- Until when a server is sending the message, and no other one does (docs/decisions/0210). Null: no server is.
alter table outbox add column claimed_until timestamptz;
create index outbox_claimed on outbox (lane, claimed_until) where claimed_until is not null;
