-- Where the other servers of the cluster reach this one (docs/servers.md#video); null: nowhere.
alter table nodes add column address text;
-- What they show it, so that it answers.
alter table nodes add column key text;
