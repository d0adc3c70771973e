-- Stills that users took of videos, in the library (docs/video.md#library).
create table stills (
    id bigint generated always as identity primary key,
    -- The name of the file, which no other file of any device has.
    name text not null unique,
    device_id bigint not null references devices on delete cascade,
    -- 0: not known.
    channel integer not null,
    -- When it was kept, and when what it shows was.
    time timestamptz not null,
    shown_at timestamptz,
    user_id bigint references users on delete set null
);
create index stills_device_id on stills (device_id, time, id);
create index stills_user_id on stills (user_id);

-- Milliseconds that the film lasts; of files that devices sent it stands in the event that names them.
alter table captures add column duration bigint;
