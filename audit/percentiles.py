"""PostgreSQL's percentiles as an aggregate of the ORM."""

from django.db.models import Aggregate, FloatField


class Percentile(Aggregate):
    """The value below which `fraction` (0 to 1) of the values lie; NULL when there is none."""

    function = "PERCENTILE_CONT"
    output_field = FloatField()

    def __init__(self, expression: str, fraction: float) -> None:
        super().__init__(expression)
        self.template = f"%(function)s({float(fraction)}) WITHIN GROUP (ORDER BY %(expressions)s)"
