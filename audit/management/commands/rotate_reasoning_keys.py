"""`manage.py rotate_reasoning_keys`: brings stored reasoning under the newest key."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from audit.models import AgentReasoningAudit
from audit.vault import VaultError, get_vault

BATCH_ROWS = 200


class Command(BaseCommand):
    help = (
        "Encrypts stored reasoning again with the first key of SUPERBIZ_REASONING_KEYS; afterwards the older keys "
        "can be taken away. Prints one line of JSON. Exit code 1 if no key is configured or a content could not "
        "be read with any key; such contents stay as they are."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        vault = get_vault()
        if not vault.has_key:
            raise CommandError("SUPERBIZ_REASONING_KEYS is empty.")
        rotated = unreadable = 0
        last = 0
        stored = AgentReasoningAudit.objects.filter(reasoning_content__isnull=False).order_by("pk")
        while True:
            with transaction.atomic():
                batch = list(stored.filter(pk__gt=last).select_for_update()[:BATCH_ROWS])
                for row in batch:
                    try:
                        row.reasoning_content = vault.reseal(row.reasoning_content or "")
                        rotated += 1
                    except VaultError:
                        unreadable += 1
                AgentReasoningAudit.objects.bulk_update(batch, ["reasoning_content"])
            if not batch:
                break
            last = batch[-1].pk
        self.stdout.write(json.dumps({"rotated": rotated, "unreadable": unreadable}))
        if unreadable:
            raise CommandError(f"{unreadable} contents cannot be read with any configured key.")
