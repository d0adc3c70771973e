-- What a day that is kept hands to the next one is many times as large as its result, and needed by few: it is beside the
-- result now. What was kept before has it inside, and is worked out anew.
truncate report_days;
alter table report_days add column carry bytea;
