"""Items of cards, texts and locks (docs/protocols/jt808-vendors.md#cards-texts-and-locks)."""

from motorpool.codecs.devices.jt808.frames import with_luhn_digit
from motorpool.codecs.devices.jt808.vendors.fields import ascii_text, iccid_digits, is_printable, pieces
from motorpool.codecs.devices.jt808.vendors.record import ItemReader, ItemRecord, Readers, of_lengths

_SEALED = 0x31
_OPEN = 1 << 5
_CARD_EVENTS_WITH_LOCK = range(0x61, 0x67)


def _text(name: str) -> ItemReader:
    def read(value: bytes, record: ItemRecord) -> bool:
        text = value.strip(b"\0 \r\n")
        if not is_printable(text):
            return False
        record.attributes[name] = text.decode("ascii")
        return True

    return read


def _name(name: str) -> ItemReader:
    """Return the reader of a text in ASCII or GBK."""

    def read(value: bytes, record: ItemRecord) -> bool:
        try:
            text = value.strip(b"\0 \r\n").decode("gbk")
        except UnicodeDecodeError:
            return False
        if not text.isprintable() or not text:
            return False
        record.attributes[name] = text
        return True

    return read


def iccid(value: bytes, record: ItemRecord) -> bool:
    """Read the number of the SIM card in ASCII."""
    number = iccid_digits(ascii_text(value))
    if not number.isalnum():
        return False
    record.attributes["iccid"] = number
    return True


def imei_bcd(value: bytes, record: ItemRecord) -> bool:
    """Read an IMEI of eight bytes: 0, fourteen digits and the right Luhn digit."""
    digits = value.hex()
    if not is_imei(digits):
        return False
    record.attributes["imei"] = digits[1:]
    return True


def is_imei(digits: str) -> bool:
    """Whether sixteen digits are 0, fourteen digits and the right Luhn digit."""
    return digits.isdecimal() and digits[0] == "0" and with_luhn_digit(digits[1:15]) == digits[1:]


def _card_number(value: bytes, record: ItemRecord) -> None:
    record.attributes["driverUniqueId"] = str(int.from_bytes(value, "big"))


def lock_command(value: bytes, record: ItemRecord) -> None:
    """Read how a lock was operated: command, card or password, and with an even length the result."""
    attributes, size = record.attributes, len(value)
    attributes["lockCommand"] = value[0]
    if size in (5, 6):
        attributes["lockCard"] = int.from_bytes(value[1:5], "big")
    elif size >= 7:
        attributes["lockPassword"] = ascii_text(value[1:7])
    if size % 2 == 0:
        attributes["unlockResult"] = value[-1]


def _card_event(value: bytes, record: ItemRecord) -> bool:
    event = record.attributes["event"] = int.from_bytes(value[:2], "big")
    if len(value) == 11:
        record.add_known({"driverUniqueId": ascii_text(value[3:])})
    elif event in _CARD_EVENTS_WITH_LOCK:
        record.add_known({"driverUniqueId": ascii_text(value[-8:] if len(value) == 17 else value[8:16])})
    return True


def _seals(value: bytes, record: ItemRecord) -> None:
    for number, lock in enumerate(pieces(value, 11), 1):
        record.attributes |= {
            f"lock{number}Id": lock[:6].hex(),
            f"lock{number}Battery": int.from_bytes(lock[6:8], "big") / 1000,
            f"lock{number}Seal": lock[8] == _SEALED,
        }


def _locks_with_cards(value: bytes, record: ItemRecord) -> bool:
    if len(value) != 1 + value[0] * 13:
        return False
    for number, lock in enumerate(pieces(value[1:], 13), 1):
        record.attributes |= {
            f"lock{number}Id": lock[:5].hex(),
            f"lock{number}Card": lock[5:10].hex(),
            f"lock{number}Battery": lock[10],
            f"lock{number}Locked": not int.from_bytes(lock[11:13], "big") & _OPEN,
        }
    return True


def _rope(value: bytes, record: ItemRecord) -> None:
    state = value[2]
    record.attributes |= {
        "string": state & 1 != 0,
        "motion": state & 4 != 0,
        "cover": state & 8 != 0,
    }


NUMBERS: dict[int, tuple[str, float]] = {
    0x6A_01: ("rssi", 1),
    0x6B_01: ("sat", 1),
}
"""Items that are one number, as in `items.py: NUMERIC_ITEMS`."""

READERS: Readers = {
    0xCC_14: iccid,
    0xD6_14: iccid,
    0x71_14: iccid,
    0xF1_14: iccid,
    0x6C_0F: _text("imsi"),
    0xF6_08: imei_bcd,
    **of_lengths(0x94, range(5, 65), _text("vin")),
    0xD4_04: _card_number,
    0xE1_04: _card_number,
    0xE9_04: _card_number,
    **of_lengths(0x0B, (1, 2, 5, 6, 7, 8), lock_command),
    **of_lengths(0x60, range(2, 256), _card_event),
    **of_lengths(0x63, range(11, 256, 11), _seals),
    0x67_08: _text("password"),
    **of_lengths(0xD5, range(14, 256, 13), _locks_with_cards),
    **of_lengths(0xDA, range(3, 256), _rope),
    **of_lengths(0xF2, range(1, 256), _text("versionFw")),
    **of_lengths(0xFB, range(2, 256), _name("container")),
    **of_lengths(0xBC, range(1, 256), _name("driver")),
    **of_lengths(0xBD, range(1, 256), _text("driverUniqueId")),
    **of_lengths(0xED, range(1, 256), _name("card")),
}
