-- When a device's list of recordings came; null for lists stored before this column.

alter table recordings add column received_at timestamptz;
