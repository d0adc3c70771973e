-- What devices have in their memories, by their latest answer to our query.

create table recordings (
    device_id bigint primary key references devices on delete cascade,
    list jsonb not null
);
