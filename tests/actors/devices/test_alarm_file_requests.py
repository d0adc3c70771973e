"""Alarms whose files were requested from a device."""

from datetime import UTC, datetime

from motorpool.actors.devices.alarm_file_requests import MAX_ALARMS, AlarmFileRequests
from motorpool.codecs.reports import AlarmFilesAnnounced, FileUploadCompleted, PositionReport

NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)
ALARM = PositionReport(
    {"alarm": "general", "alarmDetail": "phoneUse:1", "ignition": True, "alarmLabel": "aa01,bb01"},
    NOON,
    latitude=1.5,
    valid=True,
)
PHOTO = FileUploadCompleted("00_64_x", "image", "jpg", 9, channel=64, receipt=b"r")


def offered(label="aa02", key="aa"):
    return AlarmFilesAnnounced((), label, key, is_ours=False, files=1)


def test_the_files_of_each_alarm_are_requested_once():
    alarms = AlarmFileRequests()
    assert alarms.select_new(["aa01", "bb01", "aa01"]) == ["aa01", "bb01"]
    alarms.add("aa01", ALARM)
    assert alarms.select_new(["aa01", "bb01"]) == ["bb01"]


def test_an_alarm_is_found_by_what_its_label_begins_with():
    alarms = AlarmFileRequests()
    alarms.add("aa01", ALARM)
    assert alarms.find("aa") == ("aa01", ALARM)
    assert alarms.find("ab") is None


def test_only_the_latest_are_kept():
    alarms = AlarmFileRequests()
    for number in range(MAX_ALARMS + 1):
        alarms.add(f"{number:04}", ALARM)
    assert alarms.find("0000") is None
    assert alarms.find("0001") is not None


def test_a_files_position_is_that_of_its_alarm_and_raises_it_no_second_time():
    alarms = AlarmFileRequests()
    alarms.add("aa01", ALARM)
    report = alarms.report_of("ours.jpg", PHOTO, offered())
    assert report.attributes == {
        "ignition": True,
        "alarmLabel": "aa01",
        "image": "ours.jpg",
        "channel": 64,
    }
    assert (report.device_time, report.latitude, report.valid, report.receipt) == (NOON, 1.5, True, b"r")
    assert ALARM.attributes["alarm"] == "general"


def test_a_file_of_an_alarm_that_nobody_remembers_lies_where_the_device_was_last():
    report = AlarmFileRequests().report_of("ours.jpg", PHOTO, offered())
    assert report.attributes == {"alarmLabel": "aa02", "image": "ours.jpg", "channel": 64}
    assert not report.located
