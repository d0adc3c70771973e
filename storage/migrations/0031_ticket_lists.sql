-- Indexes for lists and statistics of tickets, for the keyword search, and for the references of tickets.

-- Lists filter and count in this index alone: rows of tickets are long.
create index tickets_list on tickets (company_id, created_at, id) include (
    number, status_kind, status_id, priority_id, team_id, assignee_id, reporter_id, branch_id, contact_id, device_id,
    category_id, parent_id, event_id, updated_at, escalated_at, first_response_at, first_response_due,
    resolution_due, first_response_breached, resolution_breached
);

-- What refers to nothing is left out. The company of a reference is that of the ticket, so it is not needed here.
create index tickets_branch_id on tickets (branch_id) where branch_id is not null;
create index tickets_contact_id on tickets (contact_id) where contact_id is not null;
create index tickets_category_id on tickets (category_id) where category_id is not null;
create index tickets_priority_id on tickets (priority_id) where priority_id is not null;
create index tickets_status_id on tickets (status_id);
create index tickets_team_id on tickets (team_id) where team_id is not null;
create index tickets_device_id on tickets (device_id) where device_id is not null;
create index tickets_assignee_id on tickets (assignee_id) where assignee_id is not null;
create index tickets_reporter_id on tickets (reporter_id) where reporter_id is not null;
create index tickets_parent_id on tickets (parent_id) where parent_id is not null;
create index tickets_event_id on tickets (event_id) where event_id <> 0;
create index tickets_tags on tickets using gin ((attributes -> 'tags'));

-- Keywords are found by their trigrams. Where the extension is missing or may not be created they are found
-- without an index (docs/tickets.md#keywords).
do $$
declare
    place text;
begin
    begin
        create extension if not exists pg_trgm;
    exception when insufficient_privilege or undefined_file or feature_not_supported then
        raise notice 'no index for keywords of tickets: %', sqlerrm;
    end;
    select quote_ident(nspname) into place
    from pg_extension join pg_namespace on pg_namespace.oid = extnamespace where extname = 'pg_trgm';
    if place is not null then
        execute format(
            'create index tickets_keywords on tickets using gin'
            ' (subject %1$s.gin_trgm_ops, description %1$s.gin_trgm_ops, unique_id %1$s.gin_trgm_ops)',
            place
        );
        execute format('create index contacts_keywords on contacts using gin (name %1$s.gin_trgm_ops)', place);
    end if;
end
$$;
