-- The server that publishes a live stream, or did last and has its last segments: another one to which the device
-- has gone on takes them from there (docs/servers.md#video).
alter table stream_marks add column node bigint;
create index stream_marks_node on stream_marks (device_id) where node is not null;
