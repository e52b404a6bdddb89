"""A stub of 32 bits: calls are answered with the layout they came in, and their size."""

import sys

from dp2emu.capture.payloads import Kind, encode
from dp2emu.capture.rawlog import MAGIC, pack
from dp2emu.capture.records import Answered
from dp2emu.dp2.call import Answer
from dp2emu.rig.wire import DONE, VERSION, WELCOME, Ask, Reply, receive

REPLIES = {Ask.HELLO: (Reply.WELCOME, WELCOME.pack(VERSION, 32, 4096))}

read, write = sys.stdin.buffer.read, sys.stdout.buffer.write
assert read(len(MAGIC)) == MAGIC
write(MAGIC)
while (message := receive(read)).tag:
    tag, payload = REPLIES.get(message.tag, (Reply.DONE, DONE.pack(0)))
    if message.tag == Kind.CALL:
        abi = int.from_bytes(message.payload[:4], "little")
        tag, _, payload = encode(Answered(Answer(abi, len(message.payload), 0)))
    write(pack(tag, 9, bytes(payload)))
    sys.stdout.buffer.flush()
