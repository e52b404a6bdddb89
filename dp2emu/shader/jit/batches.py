"""The lane loop: runs a program body over any number of lanes, one vector at a time.

    void batches(ptr body, ptr bindings, ptr in, ptr inputs, i64 n, ptr out, ptr outputs, i64 m,
                 i64 masked, i64 lanes)

``inputs`` and ``outputs`` describe arrays by three words each: address, stride between lanes in
bytes (0 for a uniform value), and item size, 4 or 1.  The mask, if any, follows the n inputs; the
array of live lanes follows the m outputs.  ``in`` and ``out`` are scratch space for n + 1 and m +
1 rows.  The last vector is padded with copies of its own lanes, which have no effect; vectors
without an active lane are skipped.

The code is the same for all programs and is compiled once per target.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache, partial
from string import Template

from dp2emu.shader.jit.code import CodeSource
from dp2emu.shader.jit.tiering import TieredFunction
from dp2emu.shader.jit.writer import ZEROS, Target

NAME = "batches"

_TEXT = Template("""
$ZEROS
define internal void @move(ptr noalias %to, ptr noalias %from, i64 %item) nounwind {
  %words = icmp eq i64 %item, 4
  br i1 %words, label %wide, label %narrow
wide:
  %word = load <$W x i32>, ptr %from, align 1
  store <$W x i32> %word, ptr %to, align 1
  ret void
narrow:
  %byte = load <$W x i8>, ptr %from, align 1
  store <$W x i8> %byte, ptr %to, align 1
  ret void
}

define internal void @repeat(ptr noalias %to, i64 %size, ptr noalias %from, i64 %period) nounwind {
entry:
  br label %next
next:
  %n = phi i64 [ 0, %entry ], [ %after, %next ]
  %m = urem i64 %n, %period
  %source = getelementptr i8, ptr %from, i64 %m
  %byte = load i8, ptr %source
  %target = getelementptr i8, ptr %to, i64 %n
  store i8 %byte, ptr %target
  %after = add i64 %n, 1
  %more = icmp ult i64 %after, %size
  br i1 %more, label %next, label %end
end:
  ret void
}

define internal void @copy(ptr %rows, ptr %arrays, i64 %count, i64 %at, i64 %lanes, i1 %out)
    nounwind {
entry:
  %whole = icmp eq i64 %lanes, $W
  br label %test
test:
  %n = phi i64 [ 0, %entry ], [ %after, %done ]
  %more = icmp ult i64 %n, %count
  br i1 %more, label %one, label %end
one:
  %start = mul i64 %n, $ROW
  %row = getelementptr i8, ptr %rows, i64 %start
  %words = mul i64 %n, 3
  %array = getelementptr i64, ptr %arrays, i64 %words
  %base = load ptr, ptr %array
  %second = getelementptr i64, ptr %array, i64 1
  %step = load i64, ptr %second
  %third = getelementptr i64, ptr %array, i64 2
  %item = load i64, ptr %third
  %offset = mul i64 %at, %step
  %place = getelementptr i8, ptr %base, i64 %offset
  %to = select i1 %out, ptr %place, ptr %row
  %from = select i1 %out, ptr %row, ptr %place
  br i1 %whole, label %all, label %some
all:
  call void @move(ptr %to, ptr %from, i64 %item)
  br label %done
some:
  %there = mul i64 %lanes, %item
  %room = mul i64 $W, %item
  %size = select i1 %out, i64 %there, i64 %room
  call void @repeat(ptr %to, i64 %size, ptr %from, i64 %there)
  br label %done
done:
  %after = add i64 %n, 1
  br label %test
end:
  ret void
}

define void @$NAME(ptr %body, ptr %bindings, ptr %in, ptr %inputs, i64 %n, ptr %out, ptr %outputs,
    i64 %m, i64 %masked, i64 %lanes) nounwind {
entry:
  %given = add i64 %n, %masked
  %wanted = add i64 %m, 1
  %mask_start = mul i64 %n, $ROW
  %mask_row = getelementptr i8, ptr %in, i64 %mask_start
  %alive_start = mul i64 %m, $ROW
  %alive_row = getelementptr i8, ptr %out, i64 %alive_start
  %all = icmp eq i64 %masked, 0
  br label %batch
batch:
  %at = phi i64 [ 0, %entry ], [ %next, %give ]
  %left = sub i64 %lanes, %at
  %last = icmp ult i64 %left, $W
  %here = select i1 %last, i64 %left, i64 $W
  call void @copy(ptr %in, ptr %inputs, i64 %given, i64 %at, i64 %here, i1 false)
  br i1 %all, label %run, label %look
look:
  %bytes = load <$W x i8>, ptr %mask_row, align 1
  %set = icmp ne <$W x i8> %bytes, zeroinitializer
  %word = bitcast <$W x i1> %set to i$W
  %bits = zext i$W %word to i32
  %none = icmp eq i32 %bits, 0
  br i1 %none, label %skip, label %run
run:
  %active = phi i32 [ -1, %batch ], [ %bits, %look ]
  %ran = call i32 %body(ptr %bindings, ptr %in, ptr %out, i32 %active)
  br label %give
skip:
  call void @zeros(ptr %out, i64 %alive_start)
  br label %give
give:
  %alive = phi i32 [ %ran, %run ], [ 0, %skip ]
  %alive_word = trunc i32 %alive to i$W
  %alive_set = bitcast i$W %alive_word to <$W x i1>
  %alive_bytes = zext <$W x i1> %alive_set to <$W x i8>
  store <$W x i8> %alive_bytes, ptr %alive_row, align 1
  call void @copy(ptr %out, ptr %outputs, i64 %wanted, i64 %at, i64 %here, i1 true)
  %next = add i64 %at, $W
  %more = icmp ult i64 %next, %lanes
  br i1 %more, label %batch, label %end
end:
  ret void
}
""")


def batch_module(target: Target) -> str:
    """Return the LLVM text of the module with the function ``batches``, the lane loop."""
    return _TEXT.substitute(W=target.width, ROW=target.row, NAME=NAME, ZEROS=ZEROS)


@lru_cache
def batch_loop(target: Target) -> TieredFunction:
    """Return the compiled lane loop (function ``batches``) for a target, cached."""
    return TieredFunction(CodeSource(target, partial(batch_module, target), NAME), FUNCTION_TYPE)


_POINTER, _NUMBER = ctypes.c_void_p, ctypes.c_int64
FUNCTION_TYPE = ctypes.CFUNCTYPE(None, *[_POINTER] * 4, _NUMBER, *[_POINTER] * 2, *[_NUMBER] * 3)
