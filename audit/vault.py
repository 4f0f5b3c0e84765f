"""Encryption of reasoning at rest. Source: 05-audit, "Reasoning"."""

from collections.abc import Callable
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

_Read = Callable[[MultiFernet], bytes]


class VaultError(Exception):
    """A stored content cannot be read with the keys in force. Holds neither key nor content."""


class Vault:
    """Fernet with the newest key for writing and all keys for reading."""

    def __init__(self, keys: str) -> None:
        """`keys`: Fernet keys, newest first, separated by commas. Raises `VaultError` for what is no key."""
        try:
            self._fernets = [Fernet(key.strip()) for key in keys.split(",") if key.strip()]
        except ValueError:
            raise VaultError("SUPERBIZ_REASONING_KEYS holds something that is not a Fernet key") from None

    @property
    def has_key(self) -> bool:
        return bool(self._fernets)

    def seal(self, text: str) -> str:
        """Encrypt `text`. Only with a key."""
        return self._fernets[0].encrypt(text.encode(errors="replace")).decode("ascii")

    def open(self, token: str) -> str:
        """Decrypt. Raises `VaultError` when no key in force fits."""
        return self._try(lambda all_keys: all_keys.decrypt(token)).decode()

    def reseal(self, token: str) -> str:
        """The same content under the newest key, its time kept. Raises `VaultError`."""
        return self._try(lambda all_keys: all_keys.rotate(token)).decode("ascii")

    def _try(self, read: _Read) -> bytes:
        if not self._fernets:
            raise VaultError("no key is configured")
        try:
            return read(MultiFernet(self._fernets))
        except InvalidToken:
            raise VaultError("no configured key fits") from None


@lru_cache(maxsize=2)
def _vault(keys: str) -> Vault:
    return Vault(keys)


def get_vault() -> Vault:
    """The vault with the configured keys."""
    return _vault(settings.SUPERBIZ.reasoning.keys)
