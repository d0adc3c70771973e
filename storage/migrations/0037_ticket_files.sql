-- Files that tickets refer to as evidence: retention and quotas leave them until the ticket is deleted
-- (docs/tickets.md#evidence).
create table ticket_files (
    company_id bigint not null,
    ticket_id bigint not null,
    -- The name of the file, which no other file of any device has.
    name text not null,
    size bigint not null,
    sha256 text not null,
    primary key (ticket_id, name)
);
create index ticket_files_company_id on ticket_files (company_id);
create index ticket_files_name on ticket_files (name);
