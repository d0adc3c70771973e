"""Alarms of one device for whose files it was asked: each is asked for once, and its files are known."""

from collections import OrderedDict
from collections.abc import Sequence

import msgspec

from motorpool.codecs.reports import ALARM_LABEL, AlarmFilesAnnounced, FileUploadCompleted, PositionReport

__all__ = ["AskedAlarms"]

KEPT_ALARMS = 64
"""The oldest is forgotten first."""
_NOWHERE = PositionReport({}, located=False)


class AskedAlarms:
    """The latest ones, each with the position that told of it."""

    __slots__ = ("_asked",)

    def __init__(self) -> None:
        self._asked: OrderedDict[str, PositionReport] = OrderedDict()

    def unasked(self, labels: Sequence[str]) -> list[str]:
        """Those of them that are new."""
        return [label for label in dict.fromkeys(labels) if label not in self._asked]

    def asked(self, label: str, report: PositionReport) -> None:
        """The device was told to upload its files."""
        self._asked[label] = report
        if len(self._asked) > KEPT_ALARMS:
            self._asked.popitem(last=False)

    def find(self, key: str) -> tuple[str, PositionReport] | None:
        """The latest alarm whose label begins so, and the position that told of it."""
        for label in reversed(self._asked):
            if label.startswith(key):
                return label, self._asked[label]
        return None

    def report_of(self, name: str, file: FileUploadCompleted, offered: AlarmFilesAnnounced) -> PositionReport:
        """A file's position: that of its alarm, without raising it again, and with the file's `name`."""
        label, alarm = self.find(offered.key) or (offered.label, _NOWHERE)
        attributes = {key: value for key, value in alarm.attributes.items() if key != "alarm"}
        attributes |= {file.kind: name, ALARM_LABEL: label}
        if file.channel:
            attributes["channel"] = file.channel
        return msgspec.structs.replace(alarm, attributes=attributes, receipt=file.receipt)
