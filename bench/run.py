"""`python bench/run.py [workload ...] [--quick] [--write-docs]`: how fast, and how good, beside other libraries.

Nothing here judges by exit code; a benchmark informs.
"""

from __future__ import annotations

import argparse
import time

import report
from jobs import CONTENDERS
from must_show import shown
from workers import Workers
from workloads import FULL, QUICK, WORKLOADS


def versions() -> dict[str, str]:
    return {c.package: c.version for c in CONTENDERS.values()}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("workload", nargs="*", help=f"of {', '.join(WORKLOADS)}; all if none is named")
    arguments.add_argument("--quick", action="store_true", help="small tables: does everything run?")
    arguments.add_argument("--write-docs", action="store_true", help="put the kept results into docs/benchmarks.md")
    arguments.add_argument("--no-run", action="store_true", help="measure nothing, show what is kept")
    options = arguments.parse_args()
    unknown = sorted(set(options.workload) - set(WORKLOADS))
    if unknown:
        arguments.error(f"unknown workload {', '.join(unknown)}; choose from {', '.join(WORKLOADS)}")

    path = report.path_of(options.quick)
    print(report.machine())
    print(", ".join(f"{name} {version}" for name, version in versions().items()))
    with Workers() as workers:
        for name in () if options.no_run else options.workload or WORKLOADS:
            start = time.perf_counter()
            print(f"\n{name}", flush=True)
            records = []
            for record in WORKLOADS[name](QUICK if options.quick else FULL, workers):
                print(record.line(), flush=True)
                records.append(record)
            report.keep(path, name, records)
            print(f"  ({time.perf_counter() - start:.0f} s)", flush=True)

    print("\nIt must show" + (" (quick: the tables are too small to say anything)" if options.quick else ""))
    for promise in shown(report.kept(path)):
        print(promise.line())
    if options.write_docs:
        report.write_page(report.markdown(report.kept(path), versions()))


if __name__ == "__main__":
    main()
