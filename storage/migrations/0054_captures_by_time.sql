-- Captures are listed by when they began, also those of all devices. Rows that are made of files found on the
-- disk have numbers that are higher than those of later captures.
drop index captures_device_id;
create index captures_device_id on captures (device_id, started_at, number);
create index captures_started_at on captures (started_at, number);
