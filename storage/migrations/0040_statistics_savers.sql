-- What each running server has added to the counts of a day, so that servers add to one row, and a save that is
-- repeated adds nothing. Kept for as long as a server may still save a past day.
create table statistics_savers (
    day date not null,
    -- Made anew by each start of the counting.
    saver uuid not null,
    requests bigint not null,
    messages_received bigint not null,
    messages_stored bigint not null,
    mail_sent bigint not null,
    sms_sent bigint not null,
    geocoder_requests bigint not null,
    geolocation_requests bigint not null,
    primary key (day, saver)
);
