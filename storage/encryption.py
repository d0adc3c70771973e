"""Encryption of what the database holds and only the server needs to read (docs/server.md#secrets-at-rest).

AES-256-GCM with a random nonce for each value. A value is bound to the place where it is stored, its context,
such as `users.totp_key`: elsewhere it cannot be decrypted. Who holds the database alone, such as a dump of
it, can neither read nor make values.
"""

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Sequence

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from motorpool.storage.errors import StorageError

KEY_BYTES = 32
PREFIX = "enc:1:"
"""What an encrypted value begins with; the id of its key and the base64 of nonce and ciphertext follow."""
_NONCE_BYTES = 12
_ID_BYTES = 4


class Key:
    """A key; its id is derived from it, and tells nothing of it."""

    def __init__(self, value: bytes) -> None:
        """`value` has KEY_BYTES bytes."""
        self.id = hmac.digest(value, b"motorpool key id", hashlib.sha256)[:_ID_BYTES].hex()
        self.cipher = AESGCM(value)

    def __repr__(self) -> str:
        return f"<key {self.id}>"


class Keyring:
    """The keys of a server: the first one encrypts, all decrypt. Without keys values stay as they are."""

    def __init__(self, keys: Sequence[Key] = ()) -> None:
        self._keys = {key.id: key for key in keys}
        self._first = keys[0] if keys else None

    def __repr__(self) -> str:
        return f"<keyring: {', '.join(self.ids) or 'empty'}>"

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the keys, the one that encrypts first."""
        return tuple(self._keys)

    @property
    def pattern(self) -> str:
        """What values begin with that the first key has encrypted; empty without a key."""
        return f"{PREFIX}{self._first.id}:" if self._first is not None else ""

    def encrypt(self, value: object, context: str) -> object:
        """Return a value of JSON as a text that only the keys can read; without a key the value itself."""
        if self._first is None:
            return value
        nonce = secrets.token_bytes(_NONCE_BYTES)
        hidden = self._first.cipher.encrypt(nonce, msgspec.json.encode(value), context.encode())
        return self.pattern + base64.b64encode(nonce + hidden).decode()

    def decrypt(self, value: object, context: str) -> object:
        """Return what was encrypted. What none of the keys has encrypted is returned as it is.

        Raises:
            StorageError: the value was changed, or comes from another place.
        """
        key, hidden = self._parse(value)
        if key is None:
            return value
        try:
            plain = key.cipher.decrypt(hidden[:_NONCE_BYTES], hidden[_NONCE_BYTES:], context.encode())
        except (InvalidTag, ValueError):
            raise StorageError(f"a value of {context} cannot be decrypted: it was changed or moved") from None
        return msgspec.json.decode(plain)

    def is_lost(self, value: object, context: str) -> bool:
        """Return whether a value, or the bytes of one, was encrypted with none of these keys."""
        text = value.decode("ascii", "replace") if isinstance(value, bytes) else value
        if not isinstance(text, str) or not text.startswith(PREFIX):
            return False
        try:
            return self.decrypt(text, context) is text
        except StorageError:
            return True

    def _parse(self, value: object) -> tuple[Key | None, bytes]:
        """Return the key that has encrypted a value, with nonce and ciphertext; None for other values."""
        if not isinstance(value, str) or not value.startswith(PREFIX):
            return None, b""
        key_id, _, text = value.removeprefix(PREFIX).partition(":")
        key = self._keys.get(key_id)
        try:
            return key, base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            # Only if somebody has called a secret so, before there was a key.
            return None, b""

    def encrypt_bytes(self, value: bytes, context: str) -> bytes:
        """Return bytes as `encrypt` does."""
        if self._first is None:
            return value
        return str(self.encrypt(base64.b64encode(value).decode(), context)).encode()

    def decrypt_bytes(self, value: bytes, context: str) -> bytes:
        """Return bytes that were encrypted, as `decrypt` does."""
        if not value.startswith(PREFIX.encode()):
            return value
        text = value.decode("ascii", "replace")
        plain = self.decrypt(text, context)
        return value if plain is text else base64.b64decode(str(plain))


NO_KEYS = Keyring()


def parse_key(text: str) -> Key | None:
    """Return the key that a text holds, the base64 of KEY_BYTES bytes; None for any other text."""
    try:
        value = base64.b64decode(text.strip(), validate=True)
    except (binascii.Error, ValueError):
        return None
    return Key(value) if len(value) == KEY_BYTES else None


def new_key() -> str:
    """Return the text of a new key."""
    return base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()
