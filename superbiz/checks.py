"""System checks of `manage.py check --deploy` for our own settings."""

from collections.abc import Sequence
from typing import Any

import MySQLdb
from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Tags, Warning, register

from harness.tools.query_mysql.grants import excess_grants


@register(Tags.security, deploy=True)
def accounts_of_data_sources(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Warn of each data source whose account may do more than its allowlist says."""
    messages: list[CheckMessage] = []
    for name, source in settings.SUPERBIZ.mysql_tools.data_sources.items():
        try:
            problems = excess_grants(source)
        except MySQLdb.Error as error:
            number = error.args[0] if error.args else "unknown"
            messages.append(
                Warning(
                    f"The grants of the data source {name} could not be read (MySQL error {number}).",
                    hint="Check the address and the account, then run the check again.",
                    id="superbiz.W002",
                )
            )
            continue
        messages.extend(
            Warning(
                f"The account of the data source {name} {problem}.",
                hint="Give it column grants equal to the allowlist, as in deploy/mysql-grants.sql.",
                id="superbiz.W001",
            )
            for problem in problems
        )
    return messages
