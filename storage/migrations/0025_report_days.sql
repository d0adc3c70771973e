-- What reports found out about days that are over (storage/reports/report_days.py).

create table report_versions (
    device_id bigint primary key,
    -- Raised by each change of positions that may lie in such a day.
    version bigint not null
);

create table report_days (
    device_id bigint not null,
    begins timestamptz not null,
    ends timestamptz not null,
    -- Digests of the settings, and of the machine's state at the beginning.
    settings bytea not null,
    state bytea not null,
    result bytea not null,
    primary key (device_id, begins, ends, settings, state)
);
