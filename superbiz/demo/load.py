"""`python -m superbiz.demo.load FILE`: tables, accounts (written to FILE) and runbooks, on the demo's services."""

import os
import sys
from pathlib import Path

RUNBOOKS = Path(__file__).parent / "runbooks"


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "superbiz.settings")
    import django

    django.setup()

    from django.core.management import call_command

    from superbiz.demo.accounts import load_accounts

    call_command("migrate", interactive=False, verbosity=0)
    load_accounts(Path(sys.argv[1]))
    call_command("ingest", *(str(path) for path in sorted(RUNBOOKS.glob("*.md"))), verbosity=0)


if __name__ == "__main__":
    main()
