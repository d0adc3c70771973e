import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.storage.encryption import NO_KEYS, Key, Keyring, new_key, parse_key
from motorpool.storage.errors import StorageError

FIRST, SECOND = Key(b"1" * 32), Key(b"2" * 32)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
    max_leaves=5,
)


@given(JSON)
def test_what_was_encrypted_comes_back_and_tells_nothing(value):
    keyring = Keyring([FIRST])
    hidden = keyring.encrypt(value, "users.totp_key")
    assert keyring.decrypt(hidden, "users.totp_key") == value
    assert isinstance(hidden, str)
    assert hidden.startswith(f"enc:1:{FIRST.id}:")
    assert hidden != keyring.encrypt(value, "users.totp_key")


def test_a_value_is_bound_to_its_place_and_cannot_be_changed():
    keyring = Keyring([FIRST])
    hidden = keyring.encrypt("secret", "users.totp_key")
    with pytest.raises(StorageError, match=r"a value of devices\.attributes cannot be decrypted"):
        keyring.decrypt(hidden, "devices.attributes")
    changed = hidden[:-6] + ("A" if hidden[-6] != "A" else "B") + hidden[-5:]
    for text in (changed, f"enc:1:{FIRST.id}:", f"enc:1:{FIRST.id}:AAAA"):
        with pytest.raises(StorageError):
            keyring.decrypt(text, "users.totp_key")


def test_the_first_key_encrypts_and_all_decrypt():
    old = Keyring([FIRST]).encrypt("secret", "x")
    both = Keyring([SECOND, FIRST])
    assert both.decrypt(old, "x") == "secret"
    new = both.encrypt("secret", "x")
    assert Keyring([FIRST, SECOND]).decrypt(new, "x") == "secret"
    assert (old.startswith(both.pattern), new.startswith(both.pattern)) == (False, True)
    assert (Keyring([FIRST]).is_lost(new, "x"), both.is_lost(new, "x"), both.is_lost("plain", "x")) == (
        True,
        False,
        False,
    )


@pytest.mark.parametrize("value", ["plain", "", None, 5, True, "enc:1:", "enc:1:00000000:AAAA", "enc:1:x"])
def test_what_no_key_has_encrypted_stays_as_it_is(value):
    assert Keyring([FIRST]).decrypt(value, "x") == value
    assert NO_KEYS.encrypt(value, "x") == value
    assert NO_KEYS.decrypt(value, "x") == value


@given(st.binary())
def test_bytes_are_encrypted_as_well(value):
    keyring = Keyring([FIRST])
    assert keyring.decrypt_bytes(keyring.encrypt_bytes(value, "x"), "x") == value
    assert NO_KEYS.decrypt_bytes(NO_KEYS.encrypt_bytes(value, "x"), "x") == value
    assert keyring.decrypt_bytes(value, "x") == value


def test_a_key_has_32_bytes_in_base64():
    made = new_key()
    assert parse_key(f" {made}\n").id == parse_key(made).id != parse_key(new_key()).id
    for text in ("", "x", made[:-2], made + "AAAA", "ä" * 44, made.replace("=", "!")):
        assert parse_key(text) is None
    assert made not in repr(parse_key(made)) + repr(Keyring([parse_key(made)]))
