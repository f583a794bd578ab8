"""What `make run` shows: a network learned from the bundled patients, its trees, and a report to open in a browser."""

from pathlib import Path

import arbornet as an

REPORT = Path("report.html")


def main() -> None:
    """Learns, prints and writes the report."""
    df = an.example("patients")
    schema = an.infer_schema(df).with_types(
        stage=an.Ordinal(["I", "II", "III", "IV"]),
        smoker=an.Ordinal(["never", "former", "current"]),
    )
    print(schema, end="\n\n")
    net = an.learn(df, an.PCART(), schema=schema, max_parents=3)
    for name in net.names:
        print(f"\n{net[name].text()}")
    net.report(REPORT, data=df, title="Patients (simulated)")
    print(f"\nreport: {REPORT.resolve()}")


if __name__ == "__main__":
    main()
