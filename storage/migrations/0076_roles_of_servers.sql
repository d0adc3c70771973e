-- What each server does for its cluster (docs/servers.md#roles). One of an earlier release does everything.
alter table nodes add column roles text[] not null default '{devices,api,duties}';
