#!/usr/bin/env python3
"""Management commands: `manage.py help` lists them."""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "superbiz.settings")
    execute_from_command_line(sys.argv)
