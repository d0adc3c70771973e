-- Firings of scheduled commands of which some devices have no run records yet: they get theirs in portions, so that a
-- firing for thousands of devices is no long statement.
create table unfinished_firings (
    firing bigint primary key,
    scheduled_command_id bigint not null references scheduled_commands on delete cascade,
    phase text not null,
    at timestamptz not null,
    requested_by bigint,
    -- Of the steps, the first one first.
    command_ids bigint[] not null,
    delays integer[] not null,
    -- The devices up to this one have their records.
    after_device bigint not null default 0
);
create index unfinished_firings_scheduled_command_id on unfinished_firings (scheduled_command_id);

-- What the opposite phase skips is looked for by device.
drop index scheduled_command_runs_open;
create index scheduled_command_runs_open on scheduled_command_runs (scheduled_command_id, device_id)
    where status in ('pending', 'sending', 'queued', 'delivering');
