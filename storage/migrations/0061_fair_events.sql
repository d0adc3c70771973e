-- Events that wait for notifications and for ticket rules are taken of each device in turn (storage/events/waiting.py): those
-- of a device that has thousands do not hold back others.
alter table unmatched_events add column device_id bigint not null default 0;
update unmatched_events set device_id = events.device_id from events where events.id = event_id;
create index unmatched_events_device_id on unmatched_events (device_id, event_id);
alter table ticket_rule_events add column device_id bigint not null default 0;
update ticket_rule_events set device_id = events.device_id from events where events.id = event_id;
create index ticket_rule_events_device_id on ticket_rule_events (device_id, event_id);
