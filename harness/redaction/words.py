"""Words that stand where a secret could stand, and are none."""

from typing import Final


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP_WORDS: Final = words(
    """
    a an the is are was were be been being must should shall may might can cannot can't could would will won't not
    no none null nil undefined true false yes on off ok and or but if then else for from to of in at by with without
    as it its this that these those field value values required optional missing empty blank invalid valid incorrect
    correct wrong bad unknown unexpected expected mismatch mismatched expired expires expiring expiry revoked
    rejected refused denied accepted failed failure fails success succeeded successful error reset resetting changed
    change changing updated update rotated rotation created generated issued refreshed refresh verified verification
    verify validated validation checked check checking found lost forgotten forgot sent set unset given provided
    supplied passed entered enter type typed prompt too short long weak strong simple common used reused reuse same
    different than least most only max min length characters chars character digits attempts attempt times tries
    policy history hash hashed encrypted decrypted protected disabled enabled locked unlocked authentication
    authorization authenticated login logout user username account name string str text varchar char bytes int
    integer number boolean bool object bearer basic digest jwt oauth oauth2 token tokens password passwords n/a na
    nan void hidden masked redacted removed filtered sanitized omitted placeholder eof ident identifier when where
    while because due does do did has have had already still please again here there now yet never always stored
    saved loaded read written cached rate limit exceeded quota bucket count per usage present absent available
    unavailable see using via upon after before until rule
    """
)
"""Status words, function words and type names: `password: expired`, `token is missing`, `password: str`."""
