-- Fails where a report has asked for finished days of one of the devices: then positions that are late are stored with
-- what drops these days (storage/devices/report_days.py, which has the key of the lock as `_GUARD`). The error is
-- VersionFound of storage/errors.py. A function, because its statements are planned once for each connection and not
-- with each batch; no procedure, because release 0.7.0, to which users go back by a backup, cannot remove one.
create function expect_no_days(device_ids bigint[]) returns void language plpgsql as $$
begin
    perform pg_advisory_xact_lock_shared(1836085860);
    if exists (select from report_versions where device_id = any(device_ids)) then
        raise sqlstate 'MP001';
    end if;
end $$;
