"""Place jobs on recorded spot markets: our placement beside what others published; prints one table a study.

    python tests/bench/spot_traces.py

The traces stand in tests/bench/data, with their licences. Nothing is random: a seed is a start in the trace.
The numbers of `[placement]` in infra/policy.toml were chosen on even seeds; tables are over odd ones.
"""

from spot_traces import calibration, deadlines, outages, placing, restarts, tuning
from spot_traces.table import show


def main() -> None:
    """Run every study."""
    for study in (
        calibration.study,
        outages.study,
        placing.study,
        restarts.study,
        deadlines.study,
        tuning.study,
    ):
        for table in study():
            show(table)


if __name__ == "__main__":
    main()
