"""What one filter, one publication and one schema may cost, checked before work is done."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits in force; exceeding one is an error that names it."""

    schema_attributes_max: int = 10_000
    publication_attributes_max: int = 1_000
    array_elements_max: int = 1_000
    json_depth_max: int = 32
    filter_text_bytes_max: int = 64 * 1024
    literal_bytes_max: int = 4 * 1024
    filter_depth_max: int = 100
    predicates_max: int = 256
    operations_max: int = 2_000
    conjunctions_max: int = 64
    in_values_max: int = 10_000
    pattern_wildcards_max: int = 32
    regex_program_max: int = 500
    payload_bytes_max: int = 256 * 1024


DEFAULT_LIMITS = Limits()
