-- The library of captures and of files that devices sent (docs/video.md#library).

-- Files that users keep: retention and quotas leave them.
create table kept_files (
    -- The name of the file, which no other file of any device has.
    name text primary key,
    device_id bigint not null references devices on delete cascade,
    -- Its place in lists.
    time timestamptz not null,
    -- The event that names the file; of a capture 0.
    event_id bigint not null,
    -- In bytes.
    size bigint not null,
    user_id bigint references users on delete set null
);
create index kept_files_device_id on kept_files (device_id, time);
create index kept_files_user_id on kept_files (user_id);

create index events_media on events (device_id, event_time, id) where type = 'media';
