-- What the quotas of users count: who created a row, and how many points a geofence has (docs/server.md#quotas). Of what
-- is there already the creator is taken to be the user who was there first of those that are linked to it.

alter table geofences
    add column creator_id bigint references users on delete set null,
    -- Points of an area are separated by commas; a circle has a centre and a radius.
    add column points integer generated always as (length(area) - length(replace(area, ',', '')) + 1) stored;
alter table drivers add column creator_id bigint references users on delete set null;
alter table orders add column creator_id bigint references users on delete set null;
alter table maintenance add column creator_id bigint references users on delete set null;
alter table notifications add column creator_id bigint references users on delete set null;
alter table calendars add column creator_id bigint references users on delete set null;
alter table commands add column creator_id bigint references users on delete set null;
alter table groups add column creator_id bigint references users on delete set null;
alter table scheduled_commands add column creator_id bigint references users on delete set null;
alter table scheduled_reports add column creator_id bigint references users on delete set null;

update geofences set creator_id = (select min(user_id) from user_geofence where geofence_id = geofences.id);
update drivers set creator_id = (select min(user_id) from user_driver where driver_id = drivers.id);
update orders set creator_id = (select min(user_id) from user_order where order_id = orders.id);
update maintenance set creator_id = (select min(user_id) from user_maintenance where maintenance_id = maintenance.id);
update notifications set creator_id = (select min(user_id) from user_notification where notification_id = notifications.id);
update calendars set creator_id = (select min(user_id) from user_calendar where calendar_id = calendars.id);
update commands set creator_id = (select min(user_id) from user_command where command_id = commands.id);
update groups set creator_id = (select min(user_id) from user_group where user_group.group_id = groups.id);
update scheduled_commands set creator_id = (
    select min(user_id) from user_scheduled_command where scheduled_command_id = scheduled_commands.id);
update scheduled_reports set creator_id = (select min(user_id) from user_report where report_id = scheduled_reports.id);

create index geofences_creator_id on geofences (creator_id);
create index drivers_creator_id on drivers (creator_id);
create index orders_creator_id on orders (creator_id);
create index maintenance_creator_id on maintenance (creator_id);
create index notifications_creator_id on notifications (creator_id);
create index calendars_creator_id on calendars (creator_id);
create index commands_creator_id on commands (creator_id);
create index groups_creator_id on groups (creator_id);
create index scheduled_commands_creator_id on scheduled_commands (creator_id);
create index scheduled_reports_creator_id on scheduled_reports (creator_id);
