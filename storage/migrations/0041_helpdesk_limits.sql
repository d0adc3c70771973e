-- Limits of what a user may create in the helpdesk.

-- Who created the company, for the limit of companies per user.
alter table companies add column creator_id bigint references users on delete set null;
update companies c set creator_id = l.user_id
    from user_company l where l.company_id = c.id and l.manager;
create index companies_creator_id on companies (creator_id) where creator_id is not null;

-- Tickets that requests have created since an instant, for the limit of tickets per hour.
alter table companies
    add column tickets_counted_from timestamptz,
    add column tickets_counted integer not null default 0;
