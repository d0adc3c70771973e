-- Links to the notifications of a user count for that user. When users were deleted, their own links were taken from whoever
-- had created the notification when all else was done: from nobody, where that user was deleted as well. Now what they
-- created is nobody's before any link ends. Nobody links it meanwhile, for whom it would not be known.
create function leave_notifications() returns trigger language plpgsql as $$
begin
    perform from notifications where creator_id = old.id order by id for update;
    update notifications set creator_id = null where creator_id = old.id;
    return old;
end
$$;
create trigger leave_notifications before delete on users for each row execute function leave_notifications();

-- Add by how much what was counted is wrong.
do $$
begin
    execute quota_use_sql('user', $source$
        select p.creator_id, 'notifications:links', 1 from user_notification l
            join notifications p on p.id = l.notification_id
        union all select user_id, measure, -amount from user_quota_use where measure = 'notifications:links'
    $source$);
end
$$;
