-- What another server needs to go on with a capture, once the one that made it has let go of its file.
alter table captures add column continuation bytea;
