-- Whether there has ever been a user: the rule that the first one becomes administrator applies once, and not
-- again when all users are gone.
alter table server add column initialised boolean not null default false;
update server set initialised = exists (select from users);
