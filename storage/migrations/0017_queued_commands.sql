-- Who queued a command; null for steps of scheduled commands, and for commands queued before this migration.
alter table queued_commands add column user_id bigint;
