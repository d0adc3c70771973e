-- Sessions that were opened to see what another user sees, in which nothing can be changed.
alter table sessions add column view_only boolean not null default false;

-- When a user last proved who they are; null if that was before this column.
alter table users add column last_login timestamptz;
