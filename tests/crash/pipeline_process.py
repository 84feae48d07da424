"""The pipeline on Spark as a process, with small segments: takes the arguments of the real one."""

import sys
from functools import partial

from tests.crash.small_segments import SMALL
from wherecast.pipeline.live import spark_pipeline
from wherecast.pipeline.live.pipeline_process import main

if __name__ == "__main__":
    setattr(spark_pipeline, "LivePipeline", partial(spark_pipeline.LivePipeline, segments=SMALL))  # noqa: B010
    sys.exit(main())
