"""The state of the pipeline, as the supervisor reported it last.

Concurrency: one thread writes, any thread reads.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Phase = Literal["starting", "running", "restarting", "inline"]


@dataclass(slots=True)
class PipelineState:
    """The state of the pipeline.

    Attributes:
        phase: what the pipeline does; `inline` where this process matches itself.
        restarts: number of times that the pipeline was started again.
        problem: why the pipeline ended last; empty while it runs.
        figures: what the pipeline has done since it started, as `PipelineFigures.to_dict` gives it.
    """

    phase: Phase = "starting"
    restarts: int = 0
    problem: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_running(self) -> bool:
        """Whether publications are being matched."""
        return self.phase in ("running", "inline")
