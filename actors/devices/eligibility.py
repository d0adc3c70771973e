"""Which devices are served."""

from datetime import datetime

from motorpool.storage.records import Device


def may_report(device: Device, now: datetime) -> bool:
    """Whether the device is neither disabled nor expired."""
    return not device.disabled and (device.expiration_time is None or device.expiration_time > now)
