-- The audit log from the newest row on, of a user, of an object and of a kind of action (docs/server.md#audit).

drop index audit_action_time;
create index audit_action_time on audit (action_time, id);
create index audit_user on audit (user_id, action_time, id);
create index audit_object on audit (object_type, object_id, action_time, id) where object_type is not null;
create index audit_action on audit (action_type, action_time, id);
