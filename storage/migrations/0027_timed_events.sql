-- Events that come at an instant and not with a position: up to which instant they have been stored
-- (docs/decisions/0156-timed-events.md). `subject_id` is a device, a maintenance or a geofence, by `type`.

create table timed_event_marks (
    type text not null,
    subject_id bigint not null,
    fired_until timestamptz not null,
    primary key (type, subject_id)
);
