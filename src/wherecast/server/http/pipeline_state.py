"""The state of the pipeline, as the supervisor reported it last.

Concurrency: one thread writes, any thread reads.
"""

from dataclasses import dataclass
from typing import Literal

Phase = Literal["starting", "running", "restarting", "inline"]


@dataclass(slots=True)
class PipelineState:
    """The state of the pipeline.

    Attributes:
        phase: what the pipeline does; `inline` where this process matches itself.
        restarts: number of times that the pipeline was started again.
        problem: why the pipeline ended last; empty while it runs.
    """

    phase: Phase = "starting"
    restarts: int = 0
    problem: str = ""

    @property
    def is_running(self) -> bool:
        """Whether publications are being matched."""
        return self.phase in ("running", "inline")
