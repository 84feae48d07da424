"""Elements: the values inside an array attribute.

`array_contains(tags, 'x')` and `arrays_overlap(tags, array('x', 'y'))` are predicates on the
element of `tags`: some element is one of the constants. So an array is indexed by its elements.
"""

from dataclasses import dataclass

from wherecast.model import Attribute


@dataclass(frozen=True, slots=True)
class Element(Attribute):
    """An element of an array attribute.

    It has the name of the array, and the type of an element. Only `Member` asks for it: positive
    where some element is one of the values, negated where none is and no element is null.
    """

    array: Attribute | None = None

    @staticmethod
    def of(array: Attribute) -> "Element":
        """The element of an array attribute."""
        assert array.element is not None
        return Element(array.name, array.element, array=array)


def is_element_test(leaf: object) -> bool:
    """Whether a predicate asks for the elements of an array."""
    return isinstance(getattr(leaf, "attribute", None), Element)
