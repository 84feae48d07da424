"""The pipeline on Spark as a process, with small segments: takes the arguments of the real one."""

import sys

from tests.crash import small_segments  # noqa: F401
from wherecast.pipeline.live.process import main

if __name__ == "__main__":
    sys.exit(main())
