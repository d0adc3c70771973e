"""Triggers that note who owns what, each version of it, and who decides."""

# A row is locked from its change to the commit, so numbers of its versions are in the order of commits. Who
# takes something has locked the row of its own server, which lives then.
NOTE_OWNERS = """
    create sequence history_order;
    create table history_versions (
        number bigint, key text, epoch bigint, owner bigint, noted timestamptz default clock_timestamp()
    );
    create table history_decisions (number bigint, key text, epoch bigint, what text);
    create function history_note_owner() returns trigger language plpgsql as $$
    declare
        row jsonb := to_jsonb(new);
        key text := tg_argv[0] || ' ' || (row ->> tg_argv[1]);
        number bigint := nextval('history_order');
    begin
        insert into history_versions values (number, key, new.epoch, coalesce(new.node, 0));
        return null;
    end
    $$;
    create function history_note_taking() returns trigger language plpgsql as $$
    declare
        key text := tg_argv[0] || ' ' || (to_jsonb(new) ->> tg_argv[1]);
    begin
        insert into history_decisions
        values (nextval('history_order'), 'server ' || new.node, 1, 'takes ' || key);
        return null;
    end
    $$;
    create trigger history_homes after insert or update on homes
        for each row execute function history_note_owner('home', 'device_id');
    create trigger history_duties after insert or update on duties
        for each row execute function history_note_owner('duty', 'name');
    -- At the commit, until when the row of the server is locked.
    create constraint trigger history_homes_taken after insert or update on homes
        deferrable initially deferred for each row when (new.node is not null)
        execute function history_note_taking('home', 'device_id');
    create constraint trigger history_duties_taken after insert or update on duties
        deferrable initially deferred for each row when (new.node is not null)
        execute function history_note_taking('duty', 'name');
    create function history_note_server() returns trigger language plpgsql as $$
    begin
        insert into history_versions
        values (nextval('history_order'), 'server ' || new.id,
            case new.state when 'dead' then 2 else 1 end, case new.state when 'dead' then 0 else new.id end);
        return null;
    end
    $$;
    create trigger history_starts after insert on nodes
        for each row execute function history_note_server();
    create trigger history_ends after update on nodes
        for each row when (new.state = 'dead' and old.state <> 'dead') execute function history_note_server();
"""
"""Makes `history_versions` and `history_decisions`, of homes, duties and servers, in one order."""
