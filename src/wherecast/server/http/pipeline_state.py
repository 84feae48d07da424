"""What is known of the pipeline where it is another process: what its supervisor says.

Concurrency: told by one thread, read by any.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Phase = Literal["starting", "running", "restarting", "inline"]


@dataclass(slots=True)
class PipelineState:
    """The last that was heard.

    Attributes:
        phase: where it is; `inline` where this process matches.
        restarts: how often it was started again.
        problem: why it ended last.
        figures: what it has done since it was started, as `pipeline.live.figures` gives it.
    """

    phase: Phase = "starting"
    restarts: int = 0
    problem: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_running(self) -> bool:
        """Whether publications are being matched."""
        return self.phase in ("running", "inline")
