"""Encoders for tests of the readers, by the specifications of Parquet and Snappy."""

import random


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out + bytes([number]))


def zigzag(number):
    return varint(number * 2 if number >= 0 else -2 * number - 1)


def delta_pack(numbers, block=128, per_block=4, junk=0):
    """DELTA_BINARY_PACKED; miniblocks without a number have the width ``junk``."""
    size = block // per_block
    out = bytearray(varint(block) + varint(per_block) + varint(len(numbers)) + zigzag(numbers[0] if numbers else 0))
    deltas = [after - before for before, after in zip(numbers, numbers[1:])]
    for first in range(0, len(deltas), block):
        of_block = deltas[first : first + block]
        least = min(of_block)
        minis = [of_block[at : at + size] for at in range(0, block, size)]
        widths = [max(delta - least for delta in mini).bit_length() if mini else junk for mini in minis]
        out += zigzag(least) + bytes(widths)
        for mini, width in zip(minis, widths):
            if mini:
                packed = sum((delta - least) << (width * i) for i, delta in enumerate(mini))
                out += packed.to_bytes(width * size // 8, "little")
    return bytes(out)


def levels(bits, seed):
    """A random mixture of runs and packed bits that encodes those levels."""
    chosen = random.Random(seed)
    out = bytearray()
    at = 0
    while at < len(bits):
        run = 1
        while at + run < len(bits) and bits[at + run] == bits[at]:
            run += 1
        if chosen.random() < 0.5:
            out += varint(run << 1) + bytes([bits[at]])
            at += run
        else:
            groups = chosen.randint(1, max(1, (len(bits) - at) // 8))
            packed = bits[at : at + 8 * groups]
            groups = (len(packed) + 7) // 8
            out += varint(groups << 1 | 1) + sum(bit << i for i, bit in enumerate(packed)).to_bytes(groups, "little")
            at += len(packed)
    return bytes(out)


def snappy_pack(data, seed):
    """A random mixture of literals and copies of every kind."""
    chosen = random.Random(seed)
    out = bytearray(varint(len(data)))
    at = 0
    while at < len(data):
        offset, length = _match(data, at, chosen)
        if length >= 4:
            out += _copy(offset, length, chosen)
        else:
            length = min(chosen.choice([1, 5, 60, 61, 300]), len(data) - at)
            size = length - 1
            head = bytes([size << 2]) if size < 60 else bytes([60 << 2 | 1 << 2, size & 255, size >> 8])
            out += head + data[at : at + length]
        at += length
    return bytes(out)


def _match(data, at, chosen):
    for offset in chosen.sample(range(1, at + 1), min(at, 20)):
        length = 0
        while length < 64 and at + length < len(data) and data[at + length] == data[at + length - offset]:
            length += 1
        if length >= 4:
            return offset, length
    return 0, 0


def _copy(offset, length, chosen):
    kinds = [3] + [2] * (offset < 65536) + [1] * (offset < 2048 and length <= 11)
    kind = chosen.choice(kinds)
    if kind == 1:
        return bytes([offset >> 8 << 5 | (length - 4) << 2 | 1, offset & 255])
    return bytes([(length - 1) << 2 | kind]) + offset.to_bytes(2 if kind == 2 else 4, "little")
