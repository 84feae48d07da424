"""Loads and stores by address, and compares of 64 lanes at once, for the compiled kernels.

Contract. An address is the int64 that `array.ctypes.data` gives; an index counts elements, not
bytes. Nothing is checked: the caller passes arrays that are long enough, and keeps them alive as
arguments of the outer kernel while addresses of them are in use. Loads of 64 lanes may start at
any address, and are fastest at multiples of 64 bytes. The lanes of a block are laid out as 64 low
cells, then 64 high cells, so `range64(address, index, cell)` reads 128 consecutive uint16.

Why addresses: numba counts references on every array that it passes to an inlined function, which
costs more than the work here. Why intrinsics: LLVM does not find the 64-lane compare by itself.
The code is portable LLVM IR: vector types wider than the machine's are split by the compiler.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 64

_BIT = ir.IntType(1)
_U8 = ir.IntType(8)
_U16 = ir.IntType(16)
_I32 = ir.IntType(32)
_I64 = ir.IntType(64)


def _place(builder: Any, address: Any, index: Any, element: Any) -> Any:
    """A pointer to an element."""
    return builder.gep(builder.inttoptr(address, element.as_pointer()), [index])


def _loader(result: Any, element: Any) -> Callable[..., Any]:
    @intrinsic
    def load(typing_context: Any, address: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            loaded = builder.load(_place(builder, args[0], args[1], element))
            loaded.align = 1
            return loaded

        return result(types.int64, types.int64), generate

    return load  # type: ignore[no-any-return]


def _storer(value: Any, element: Any) -> Callable[..., Any]:
    @intrinsic
    def store(typing_context: Any, address: Any, index: Any, given: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            builder.store(args[2], _place(builder, args[0], args[1], element))
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, value), generate

    return store  # type: ignore[no-any-return]


load_u8 = _loader(types.uint8, _U8)
load_u16 = _loader(types.uint16, _U16)
load_i32 = _loader(types.int32, _I32)
load_i64 = _loader(types.int64, _I64)
load_u64 = _loader(types.uint64, _I64)
load_f64 = _loader(types.float64, ir.DoubleType())
store_u8 = _storer(types.uint8, _U8)
store_u16 = _storer(types.uint16, _U16)
store_i32 = _storer(types.int32, _I32)
store_i64 = _storer(types.int64, _I64)
store_f64 = _storer(types.float64, ir.DoubleType())


def _bit_caster(result: Any, given: Any, element: Any) -> Callable[..., Any]:
    @intrinsic
    def cast(typing_context: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.bitcast(args[0], element)

        return result(given), generate

    return cast  # type: ignore[no-any-return]


bits_of_f64 = _bit_caster(types.int64, types.float64, _I64)
f64_of_bits = _bit_caster(types.float64, types.int64, ir.DoubleType())


def _lanes(builder: Any, address: Any, index: Any) -> Any:
    """The 64 uint16 that start at an index."""
    pointer = _place(builder, address, index, _U16)
    loaded = builder.load(builder.bitcast(pointer, ir.VectorType(_U16, LANES).as_pointer()))
    loaded.align = 2
    return loaded


def _spread(builder: Any, value: Any) -> Any:
    """A value in all 64 lanes."""
    empty = ir.Constant(ir.VectorType(value.type, LANES), ir.Undefined)
    first = builder.insert_element(empty, value, ir.Constant(_I32, 0))
    return builder.shuffle_vector(
        first, empty, ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES)
    )


def _low_and_high(builder: Any, args: Any) -> tuple[Any, Any, Any]:
    low = _lanes(builder, args[0], args[1])
    high = _lanes(builder, args[0], builder.add(args[1], ir.Constant(_I64, LANES)))
    return low, high, _spread(builder, args[2])


def _opaque(builder: Any, bits: Any) -> Any:
    """The same bits, of which the compiler does not know that they were 64 lanes.

    Else it joins the masks of two compares as vectors of bits, and where a branch lies between
    them it takes those apart lane by lane: 70 instead of 15 ns for a block of four dimensions.
    """
    kind = ir.FunctionType(_I64, [_I64])
    return builder.call(ir.InlineAsm(kind, "", "=r,0", side_effect=False), [bits])


@intrinsic
def range64(typing_context: Any, address: Any, index: Any, cell: Any) -> Any:
    """The lanes whose range holds a cell, as the bits of a uint64."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        low, high, wanted = _low_and_high(builder, args)
        inside = builder.and_(
            builder.icmp_unsigned("<=", low, wanted), builder.icmp_unsigned("<=", wanted, high)
        )
        return _opaque(builder, builder.bitcast(inside, _I64))

    return types.uint64(types.int64, types.int64, types.uint16), generate


@intrinsic
def edge64(typing_context: Any, address: Any, index: Any, cell: Any) -> Any:
    """The lanes of which a cell is the low or the high end, as the bits of a uint64."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        low, high, wanted = _low_and_high(builder, args)
        edge = builder.or_(
            builder.icmp_unsigned("==", low, wanted), builder.icmp_unsigned("==", wanted, high)
        )
        return _opaque(builder, builder.bitcast(edge, _I64))

    return types.uint64(types.int64, types.int64, types.uint16), generate


@intrinsic
def first_bit(typing_context: Any, bits: Any) -> Any:
    """The place of the lowest bit of a uint64 that is not 0."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(_I64, [_I64, _BIT])
        count = cgutils.get_or_insert_function(builder.module, kind, "llvm.cttz.i64")
        return builder.call(count, [args[0], ir.Constant(_BIT, 1)])

    return types.int64(types.uint64), generate


@intrinsic
def count_bits(typing_context: Any, bits: Any) -> Any:
    """The number of bits of a uint64."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(_I64, [_I64])
        count = cgutils.get_or_insert_function(builder.module, kind, "llvm.ctpop.i64")
        return builder.call(count, [args[0]])

    return types.int64(types.uint64), generate


@intrinsic
def prefetch(typing_context: Any, address: Any) -> Any:
    """Asks for the cache line at a byte address."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[0], _U8.as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, _I32, _I32, _I32])
        call = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(call, [pointer, *(ir.Constant(_I32, flag) for flag in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(types.int64), generate
