-- How severe events are, and who has reviewed them (docs/events.md#review). Those of before have neither.
alter table events add column severity text, add column review jsonb;
-- Few of many rows: what waits for review is counted and listed without reading the others.
create index events_open on events (device_id, event_time, id) where review ->> 'state' = 'OPEN';
