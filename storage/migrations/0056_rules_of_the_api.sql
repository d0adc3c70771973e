-- What lists are sorted by: letters with and without accents, large and small, lie beside each other. The
-- embedded PostgreSQL has no ICU, and no extension is needed for this. Only the beginning counts, so that the
-- key of a long text fits into an index. Texts in ASCII, which most are, take a fraction of the time.
create function sort_key(value text) returns text
language sql immutable parallel safe
return case
    when octet_length(value) = length(value) then lower(left(value, 200))
    else left(
        lower(translate(
            regexp_replace(normalize(left(coalesce(value, ''), 200), nfkd), '[\u0300-\u036f]', '', 'g'),
            'ØøŁłĐđıÆæŒœß',
            'OoLlDdiAaOos'
        )),
        200
    )
end;

-- The lists that may be long.
create index devices_sorted on devices (sort_key(name) collate "C", id);
create index users_sorted on users (sort_key(name) collate "C", id);
create index geofences_sorted on geofences (sort_key(name) collate "C", id);
create index drivers_sorted on drivers (sort_key(name) collate "C", id);
create index orders_sorted on orders (sort_key(description) collate "C", id);
create index contacts_sorted on contacts (company_id, sort_key(name) collate "C", id);

-- Places that are none stand for "not set", as 0, 0 does.
update users set latitude = 0, longitude = 0
where not (latitude between -90 and 90 and longitude between -180 and 180);
update server set latitude = 0, longitude = 0
where not (latitude between -90 and 90 and longitude between -180 and 180);

-- A computed attribute without a type gave texts.
update computed_attributes set type = 'String' where type is null;
alter table computed_attributes alter column type set not null;

-- An empty text is an absent one.
update users
set login = nullif(login, ''),
    phone = nullif(phone, ''),
    map = nullif(map, ''),
    coordinate_format = nullif(coordinate_format, ''),
    poi_layer = nullif(poi_layer, '')
where '' in (login, phone, map, coordinate_format, poi_layer);
update server
set map = nullif(map, ''),
    bing_key = nullif(bing_key, ''),
    map_url = nullif(map_url, ''),
    overlay_url = nullif(overlay_url, ''),
    poi_layer = nullif(poi_layer, ''),
    announcement = nullif(announcement, ''),
    coordinate_format = nullif(coordinate_format, '')
where '' in (map, bing_key, map_url, overlay_url, poi_layer, announcement, coordinate_format);
update devices
set phone = nullif(phone, ''),
    model = nullif(model, ''),
    contact = nullif(contact, ''),
    category = nullif(category, '')
where '' in (phone, model, contact, category);
update geofences set description = null where description = '';
update orders
set from_address = nullif(from_address, ''),
    to_address = nullif(to_address, '')
where '' in (from_address, to_address);
update notifications set description = null where description = '';
update scheduled_commands set description = null where description = '';
update scheduled_reports set description = null where description = '';
