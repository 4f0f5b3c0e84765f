"""Which names label a secret: `DB_PASSWORD`, `clientSecret`, `spring.redis.password`, `X-Api-Key`, `密码`."""

import re
from functools import lru_cache
from typing import NamedTuple

from harness.redaction.spans import Kind
from harness.redaction.words import words


class Label(NamedTuple):
    """What a name says of its value.

    `weak`: the name alone proves nothing, so the value must look like a secret too.
    """

    kind: Kind
    weak: bool = False


_PASSWORD = Label(Kind.PASSWORD)
_SECRET = Label(Kind.SECRET)
_TOKEN = Label(Kind.TOKEN)
_KEY = Label(Kind.KEY)
_WEAK_KEY = Label(Kind.KEY, weak=True)
_WEAK_TOKEN = Label(Kind.TOKEN, weak=True)
_WEAK_PASSWORD = Label(Kind.PASSWORD, weak=True)
_COOKIE = Label(Kind.COOKIE)
_WEAK_COOKIE = Label(Kind.COOKIE, weak=True)
_CODE = Label(Kind.CODE)

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_PASSWORD_ENDINGS = ("password", "passwd", "passphrase", "passcode", "passwort", "pwd", "pswd", "passwrd", "sshpass")
_PASSWORD_WORDS = words(
    "psw pw pword userpass dbpass keypass storepass requirepass masterauth masterpass rootpw rootpass userpw bindpw "
    "mysqlpass adminpass smtppass ftppass contrasena motdepasse kennwort mima"
)
_TOKEN_BEFORE = words(  # page cursors, tokenizers and parsers have tokens that are no secrets
    "next page continuation sync pagination cursor resume start end stop eos bos pad unk mask sep cls unexpected "
    "expected max min num total first last current per input output prompt completion csv"
)
_KEY_BEFORE = words(
    "api secret private account signing encryption encrypt decryption decrypt aes des rsa hmac auth subscription mch "
    "webhook crypto cipher jwt shared apiv functions goog"
)
_WEAK_KEY_BEFORE = words(
    "access app application master service storage client consumer license ssh deploy server admin merchant session "
    "security sign sas sdk dev root partner developer oauth"
)
_KEY_ENDINGS = tuple(word + "key" for word in ("api", "secret", "private", "aes", "encrypt", "auth", "account", "sign"))
_WEAK_KEY_ENDINGS = tuple(word + "key" for word in ("access", "app", "master", "client", "mch", "license"))
_SUFFIXES = words(
    "confirmation confirm confirmed again new old value plain plaintext raw current repeat repeated hash digest md5 "
    "encrypted enc base base64 b64 default override"
)
_CODES = words("cvv cvv2 cvc cvc2 otp pin smscode verifycode verificationcode captcha authcode")
_COOKIES = words("jsessionid phpsessid aspsessionid aspnetsessionid connectsid laravelsession beakersessionid")

CHINESE = {
    "密码": _PASSWORD,
    "口令": _PASSWORD,
    "密语": _PASSWORD,
    "通行码": _PASSWORD,
    "密钥": _KEY,
    "秘钥": _KEY,
    "密匙": _KEY,
    "私钥": _KEY,
    "令牌": _TOKEN,
    "授权码": _TOKEN,
    "凭证": _WEAK_TOKEN,
    "凭据": _WEAK_TOKEN,
    "验证码": _CODE,
    "校验码": _CODE,
    "动态码": _CODE,
}
"""Chinese names; the last word of a compound such as 登录密码 or 访问令牌."""


@lru_cache(maxsize=4096)
def label_of(name: str) -> Label | None:
    """The label that a name carries by its last parts, or None. `name` is at most 100 characters."""
    for word, label in CHINESE.items():
        if name.endswith(word):
            return label
    parts = [word.lower() for word in _WORD.findall(name)]
    while len(parts) > 1 and (parts[-1] in _SUFFIXES or parts[-1].isdigit()):
        parts.pop()
    if not parts:
        return None
    return _label_of_words(parts, "".join(parts))


def _label_of_words(parts: list[str], joined: str) -> Label | None:
    last, before = parts[-1], parts[-2] if len(parts) > 1 else ""
    if joined.endswith((*_PASSWORD_ENDINGS, "cliauth")) or last in _PASSWORD_WORDS:
        return _PASSWORD
    if last == "pass":
        return _WEAK_PASSWORD if len(parts) == 1 else _PASSWORD
    if last == "secret" or joined.endswith("secret") or (last in {"key", "string"} and "secret" in parts):
        return _SECRET
    if last.endswith("token") and joined not in {"tokentoken"}:
        return None if before in _TOKEN_BEFORE or joined.endswith(("nexttoken", "pagetoken")) else _TOKEN
    if last in _COOKIES or joined in _COOKIES:
        return _COOKIE
    if joined.endswith(("sessionid", "sessid", "sessionkey")):
        return _WEAK_COOKIE
    if joined in _CODES or joined.endswith(("smscode", "verifycode", "verificationcode")):
        return _CODE
    return _key_label(parts, joined)


def _key_label(parts: list[str], joined: str) -> Label | None:
    last, before = parts[-1], parts[-2] if len(parts) > 1 else ""
    if last == "key" and before in _KEY_BEFORE:
        return _KEY
    if joined.endswith(_KEY_ENDINGS):
        return _KEY
    if (last == "key" and before in _WEAK_KEY_BEFORE) or joined.endswith(_WEAK_KEY_ENDINGS):
        return _WEAK_KEY
    if joined.endswith(("accesskeyid", "secretid", "accessid", "accesssignature", "amzsignature", "amzcredential")):
        return _WEAK_KEY
    if last in {"credential", "credentials", "jwt", "bearer", "assertion", "auth", "sig", "samlresponse", "authtok"}:
        return _WEAK_TOKEN
    return None
