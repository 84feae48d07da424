"""Names and strings as a filter writes them, with quotes where they need some."""

import re

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORDS = frozenset(
    """
    ALL ALTER AND ANTI ANY ARRAY AS BETWEEN BOTH BY CASE CAST COLLATE CONNECT_BY_ROOT CREATE
    CROSS CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER DATE DESCRIBE DISTINCT DIV
    DROP ELSE END ESCAPE EXCEPT EXISTS EXTRACT FALSE FETCH FILTER FOR FROM FULL GLOB GRANT GROUP
    HAVING ILIKE IN INNER INSERT INTERSECT INTERVAL INTO IS JOIN LATERAL LEADING LEFT LIKE LIMIT
    MAP MINUS NAN NATURAL NOT NOTNULL NULL OFFSET ON OR ORDER OUTER OVER OVERLAPS PARTITIONED_BY
    QUALIFY REGEXP RETURNING REVOKE RIGHT RLIKE ROLLBACK SELECT SEMI SERDEPROPERTIES
    SESSION_USER SET SOME STRUCT TABLE TABLESAMPLE THEN TIME TIMESTAMP TO TRAILING TRUE UNCACHE
    UNION UNIQUE USING VALUES WHEN WHERE WITH WITHIN XOR
    """.split()  # noqa: SIM905
)


def name(dotted: str) -> str:
    """An attribute's name as a filter writes it, with backticks where a part needs them."""
    return ".".join(_part(part) for part in dotted.split("."))


def _part(part: str) -> str:
    if _PLAIN_NAME.fullmatch(part) and part.upper() not in _WORDS:
        return part
    return "`" + part.replace("`", "``") + "`"


def quoted(text: str) -> str:
    """A string constant, escaped as Spark reads it."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return "'" + escaped.replace("\0", "\\u0000") + "'"
