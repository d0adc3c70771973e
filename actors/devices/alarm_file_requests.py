"""Alarms of one device whose files were requested: each is requested once, and its files are recognised."""

from collections.abc import Sequence

import msgspec

from motorpool.codecs.reports import ALARM_LABEL, AlarmFilesAnnounced, FileUploadCompleted, PositionReport

MAX_ALARMS = 64
"""Past it the oldest is forgotten."""
_OF_ALARM = frozenset(("alarm", "alarmDetail"))
_NO_LOCATION = PositionReport({}, located=False)
_NO_REPORTS: dict[str, PositionReport] = {}
"""Shared by the devices without alarms, which most are; never changed."""


class AlarmFileRequests:
    """The latest requests by label, each with the report that named the alarm."""

    __slots__ = ("_reports",)

    def __init__(self) -> None:
        self._reports = _NO_REPORTS

    def select_new(self, labels: Sequence[str]) -> list[str]:
        """Return those labels that were not requested yet, each once."""
        return [label for label in dict.fromkeys(labels) if label not in self._reports]

    def add(self, label: str, report: PositionReport) -> None:
        """Note that the files of the alarm, named by `report`, were requested."""
        if self._reports is _NO_REPORTS:
            self._reports = {}
        self._reports[label] = report
        if len(self._reports) > MAX_ALARMS:
            del self._reports[next(iter(self._reports))]

    def find(self, key: str) -> tuple[str, PositionReport] | None:
        """Return the latest label that begins with `key`, and the report that named it."""
        for label in reversed(self._reports):
            if label.startswith(key):
                return label, self._reports[label]
        return None

    def report_of(self, name: str, file: FileUploadCompleted, upload: AlarmFilesAnnounced) -> PositionReport:
        """Return the alarm's report with the file stored as `name`, without raising the alarm again."""
        label, alarm = self.find(upload.key) or (upload.label, _NO_LOCATION)
        attributes = {key: value for key, value in alarm.attributes.items() if key not in _OF_ALARM}
        attributes |= {file.kind: name, ALARM_LABEL: label}
        if file.channel:
            attributes["channel"] = file.channel
        return msgspec.structs.replace(alarm, attributes=attributes, receipt=file.receipt)
