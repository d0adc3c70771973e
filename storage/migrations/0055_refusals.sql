-- One row for each user, operation and hour counts the requests that were refused (docs/server.md#audit).

create unique index audit_refused on audit (
    user_id, (attributes ->> 'operation'), date_trunc('hour', action_time at time zone 'UTC')
) where action_type = 'refused';
