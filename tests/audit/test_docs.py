"""`docs/audit.md` names every table, group and metric."""

from pathlib import Path

from django.apps import apps
from prometheus_client import REGISTRY

from audit.groups import GROUPS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "audit.md").read_text(encoding="utf-8")


def test_every_table_and_group_is_documented() -> None:
    tables = [model._meta.db_table for model in apps.get_app_config("audit").get_models()]
    assert [name for name in [*tables, *GROUPS] if f"| `{name}`" not in PAGE] == []


def test_every_metric_is_documented_with_its_labels() -> None:
    own = [metric for metric in REGISTRY.collect() if metric.name.startswith("superbiz_")]
    assert len(own) == 7
    for metric in own:
        name = f"{metric.name}_total" if metric.type == "counter" else metric.name
        line = next(line for line in PAGE.splitlines() if line.startswith(f"| `{name}`"))
        labels = {label for sample in metric.samples for label in sample.labels} - {"le"}
        assert all(f"`{label}`" in line for label in labels)
