"""What defines a stream: its schema and options; written and compared whole."""

from dataclasses import dataclass

from wherecast.model.schema import Schema
from wherecast.model.subscription_spec import canonical_json, read_options

KEEP_US_MAX = 36_500 * 86_400 * 1_000_000  # a hundred years


@dataclass(frozen=True, slots=True)
class StreamSpec:
    """The definition of a stream.

    Attributes:
        schema: of the publications.
        keep_us: the log holds the publications for at least so many microseconds after their
            acceptance; 0: as long as queues need them.
    """

    schema: Schema
    keep_us: int = 0

    def options_json(self) -> str:
        """The options that are not the default, as canonical JSON; empty where all are."""
        return canonical_json({"keep_us": self.keep_us}) if self.keep_us else ""

    @staticmethod
    def read(schema: str, options: str) -> "StreamSpec":
        """The spec of what `Schema.to_json` and `options_json` wrote.

        Raises:
            SchemaError: the schema cannot be read.
            ConfigError: the options cannot be read; the text names the option.
        """
        given = read_options("a stream", options, _CHECKS) if options else {}
        return StreamSpec(Schema.from_json(schema), **given)


def _is_keep(value: object) -> bool:
    return type(value) is int and 0 <= value <= KEEP_US_MAX


_CHECKS = {"keep_us": (_is_keep, "a number of microseconds of at most a hundred years")}
