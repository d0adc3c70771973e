-- The kind that a ticket keeps of its status is that of the status: what changes either cannot miss the other.

update tickets t set status_kind = s.kind from ticket_statuses s where s.id = t.status_id and s.kind <> t.status_kind;
alter table ticket_statuses add constraint ticket_statuses_kind_key unique (company_id, id, kind);
alter table tickets
    drop constraint tickets_company_id_status_id_fkey,
    add constraint tickets_status_kind_fkey foreign key (company_id, status_id, status_kind)
        references ticket_statuses (company_id, id, kind);
