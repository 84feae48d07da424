"""The pipeline on Spark as a process, with small segments: takes the arguments of the real one."""

import sys
from functools import partial

from tests.crash.small_segments import SMALL
from wherecast.pipeline.live import spark
from wherecast.pipeline.live.process import main

if __name__ == "__main__":
    setattr(spark, "LivePipeline", partial(spark.LivePipeline, segments=SMALL))  # noqa: B010
    sys.exit(main())
