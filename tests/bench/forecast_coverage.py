"""Forecasts of jobs on recorded spot markets, beside what became of them; prints each table with its aim.

python -m tests.bench.forecast_coverage          # odd seeds, in two minutes
python -m tests.bench.forecast_coverage even     # the seeds that the numbers of doubt were chosen on
"""

import sys

from tests.bench.spot_traces import deadline_forecasts, forecasts
from tests.bench.spot_traces.table import show


def main() -> None:
    """Run every study."""
    odd = 0 if "even" in sys.argv[1:] else 1
    for tables in (
        forecasts.coverage(odd),
        deadline_forecasts.coverage(odd),
        forecasts.advice(),
        forecasts.treadmill(),
    ):
        for table in tables:
            show(table)


if __name__ == "__main__":
    main()
