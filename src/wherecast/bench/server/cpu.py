"""The CPU times of a measured server and of the load generator."""

from wherecast.bench.progress import Row
from wherecast.bench.server.process import MeasuredServer


def cpu_columns(server: MeasuredServer, before: dict[str, float], own_s: float) -> Row:
    """The CPU time of the server since `before`, by kind of process, and of the generator."""
    used = {
        kind: round(seconds - before.get(kind, 0.0), 2)
        for kind, seconds in server.cpu_seconds().items()
    }
    by_kind = {f"CPU s {kind}": seconds for kind, seconds in used.items()}
    return {"server CPU s": sum(used.values()), "generator CPU s": own_s, **by_kind}
