"""Windows of events by the letter of the definition: every candidate of every period, nothing left out.

Slow, and shares with the product only how text is read and how a local time is one of UTC.
"""

import calendar
from datetime import UTC, datetime, timedelta

from motorpool.codecs.calendars.time_zones import local_time

DAY = timedelta(days=1)


def _matches(rule, day):
    if rule.months and day.month not in rule.months:
        return False
    length = calendar.monthrange(day.year, day.month)[1]
    if rule.month_days and not {day.day, day.day - length - 1} & set(rule.month_days):
        return False
    in_month = rule.frequency == "MONTHLY" or rule.months
    position, size = (
        (day.day, length) if in_month else (day.timetuple().tm_yday, 365 + calendar.isleap(day.year))
    )
    ordinals = {0, (position - 1) // 7 + 1, -((size - position) // 7) - 1}
    if rule.week_days and not {(each, day.weekday()) for each in ordinals} & set(rule.week_days):
        return False
    of_year, days = day.timetuple().tm_yday, 365 + calendar.isleap(day.year)
    if rule.year_days and not {of_year, of_year - days - 1} & set(rule.year_days):
        return False
    if not rule.weeks:
        return True
    middle = day + DAY * (3 - (day.weekday() - rule.week_start) % 7)
    count = 365 + calendar.isleap(middle.year)
    number = middle.timetuple().tm_yday
    return bool({(number - 1) // 7 + 1, -((count - number) // 7) - 1} & set(rule.weeks))


def _period(rule, moment):
    match rule.frequency:
        case "HOURLY":
            return moment.toordinal() * 24 + moment.hour
        case "DAILY":
            return moment.toordinal()
        case "WEEKLY":
            return (moment.toordinal() - 1 - rule.week_start) // 7
        case "MONTHLY":
            return moment.year * 12 + moment.month
        case _:
            return moment.year


def instances(rule, start, first, last):
    """Those from `first` to `last` of a rule that begins at `start`."""
    margin = 367 if rule.frequency == "YEARLY" else 32
    day = max(start, first).date() - DAY * margin
    periods = {}
    while day <= last.date() + DAY * margin:
        hours = range(24) if rule.frequency == "HOURLY" and not rule.hours else rule.hours
        if _matches(rule, day):
            for hour in hours:
                for at in rule.times:
                    moment = datetime.combine(day, at.replace(hour=hour))
                    periods.setdefault(_period(rule, moment), []).append(moment)
        day += DAY
    for number, candidates in periods.items():
        if (number - _period(rule, start)) % rule.interval:
            continue
        chosen = sorted(set(candidates))
        if rule.positions:
            chosen = [
                each
                for index, each in enumerate(chosen)
                if {index + 1, index - len(chosen)} & set(rule.positions)
            ]
        yield from (each for each in chosen if max(start, first) <= each <= last)


def _utc(local, zone):
    return local.replace(tzinfo=zone).astimezone(UTC)


def _zone_of(event, zone):
    return (event.start.tzinfo if isinstance(event.start, datetime) else None) or event.zone or zone


def _window(local, length, zone):
    return _utc(local, zone), _utc(local + length, zone)


def windows_of(events, zone, start, end):
    """The instances of events that overlap [start, end), unmerged."""
    found = []
    for uid in {event.uid for event in events}:
        group = [event for event in events if event.uid == uid]
        mains = [event for event in group if event.recurrence_id is None]
        changes = [event for event in group if event.recurrence_id is not None]
        latest = max((event.sequence for event in mains), default=0)
        for main in [event for event in mains if event.sequence == latest] or [None]:
            found += _of_series(main, changes, zone, start, end)
    return [(begin, finish) for begin, finish in found if begin < finish and begin < end and start < finish]


def _of_series(main, changes, asked, start, end):
    zone = _zone_of(main, asked) if main else asked

    def key(moment):
        return _utc(local_time(moment, zone), zone) if isinstance(moment, datetime) else moment

    excluded = {key(each) for each in main.excluded_dates} if main else set()
    latest = {key(each.recurrence_id): each for each in sorted(changes, key=lambda each: each.sequence)}
    for moment, change in latest.items():
        if moment not in excluded and not change.cancelled:
            home = _zone_of(change, asked)
            yield _window(local_time(change.start, home), change.length, home)
    if main is None:
        return
    later = []
    for change in latest.values():
        if change.this_and_future:
            old = local_time(change.recurrence_id, zone)
            later.append((_utc(old, zone), local_time(change.start, zone) - old, change))
    later.sort(key=lambda each: each[0])
    for instance, own_length in _instances(main, later, zone, start, end):
        instant = _utc(instance, zone)
        if {instant, instance.date()} & (excluded | latest.keys()):
            continue
        shift, event, length = timedelta(0), main, own_length
        for since, moved, change in later:
            if since < instant:
                shift, event, length = moved, change, change.length
        if not event.cancelled:
            yield _window(instance + shift, length, zone)


def _instances(main, later, zone, start, end):
    begin = local_time(main.start, zone)
    dates = {local_time(moment, zone): length for moment, length in main.dates}
    if not (main.rules or dates or main.exclusion_rules):
        yield begin, main.length
        return
    lengths = [main.length, *dates.values(), *(change.length for _, _, change in later)]
    moved = max((abs(shift) for _, shift, _ in later), default=timedelta(0))
    first = local_time(start, zone) - max(lengths) - moved - 3 * DAY
    last = local_time(end, zone) + moved + 3 * DAY

    def of_rules(rules):
        for rule, until in rules:
            stop = last if until is None else min(last, local_time(until, zone))
            yield from instances(rule, begin, first, stop)

    found = set(dates) | set(of_rules(main.rules))
    ends = [until for _, until in main.rules]
    if not ends or None in ends or max(local_time(until, zone) for until in ends) >= begin:
        found.add(begin)
    found -= set(of_rules(main.exclusion_rules))
    yield from ((each, dates.get(each, main.length)) for each in found)
