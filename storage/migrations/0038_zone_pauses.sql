-- Which tickets may be paused while their vehicle is outside of a zone, and which are
-- (docs/service-levels.md#outside-of-the-zone).
create index ticket_categories_zone on ticket_categories (id) where attributes ? 'pauseWhenOutside';
create index tickets_open_of_device on tickets (category_id, id)
    where device_id is not null and status_kind in ('new', 'open', 'pending');
create unique index ticket_pauses_outside on ticket_pauses (ticket_id)
    where ends is null and reason = 'outsideZone';
