import io
import logging

from harness.redaction.log import RedactingFormatter


def test_secrets_are_masked_in_message_arguments_and_exception() -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(RedactingFormatter("{levelname} {message}", style="{"))
    logger = logging.Logger("shop")
    logger.addHandler(handler)
    try:
        raise ConnectionError("mysql://app:Tq7!mZp2@db/shop is away")
    except ConnectionError:
        logger.exception("login of %s with password=%s failed", "li", "Abc123x")
    output = stream.getvalue()
    assert output.startswith("ERROR login of li with password=[REDACTED:password] failed\n")
    assert "mysql://app:[REDACTED:password]@db/shop is away" in output
    assert "Tq7!mZp2" not in output
