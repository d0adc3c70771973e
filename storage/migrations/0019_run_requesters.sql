-- Who asked for a run by hand, with whose rights its steps are sent; null: the owner's. No reference: the
-- history outlives the user.
alter table scheduled_command_runs add column requested_by bigint;
