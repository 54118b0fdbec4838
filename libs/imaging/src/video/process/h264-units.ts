/** The type of units of an IDR picture: no later picture refers to one before it. */
const idr = 5;

/** Bytes of the length before each unit of an H.264 stream; 0 if start codes separate the units. */
export function nalLengthBytes(extradata: Uint8Array | null): number {
  // A configuration record begins with its version, 1; parameter sets with a start code.
  return extradata && extradata.length >= 7 && extradata[0] === 1 ? (extradata[4]! & 3) + 1 : 0;
}

/** The picture in a packet of H.264. */
export interface H264Picture {
  /** No later picture refers to one before it. */
  isIdr: boolean;
  /** Other pictures may be decoded from it. */
  isReference: boolean;
  /**
   * The number of reference pictures, from this one on, after which decoding that begins here is exact: 0 if the
   * picture stands alone, more if each following picture refreshes a part. It is in a recovery point message, ITU-T
   * H.264 D.1.8; undefined without one.
   */
  recovery: number | undefined;
  /** The position where its first slice ends, by the lengths that the packet states. */
  end: number;
}

/**
 * Reads the heads of a packet's units up to its first slice; undefined if none is found, maybe because `packet` lacks
 * its last bytes.
 */
export function pictureOf(packet: Buffer, lengthBytes: number): H264Picture | undefined {
  let recovery: number | undefined;
  for (const { at, end } of unitsOf(packet, lengthBytes)) {
    const type = packet[at]! & 31;
    if (type === message) recovery = recoveryIn(packet.subarray(at + 1, end)) ?? recovery;
    if (type >= firstSlice && type <= idr)
      return { isIdr: type === idr, isReference: packet[at]! >> 5 !== 0, recovery, end };
  }
  return undefined;
}

const firstSlice = 1;
const message = 6;
const recoveryPoint = 6;

/** The positions where units begin and end, up to an empty unit; the last may end behind the packet. */
function* unitsOf(packet: Buffer, lengthBytes: number): Generator<{ at: number; end: number }> {
  if (lengthBytes === 0) {
    for (let code = packet.indexOf(startCode); code >= 0; ) {
      const at = code + startCode.length;
      code = packet.indexOf(startCode, at);
      if (at < packet.length) yield { at, end: code < 0 ? packet.length : code };
    }
    return;
  }
  for (let at = lengthBytes; at < packet.length; ) {
    const end = at + packet.readUIntBE(at - lengthBytes, lengthBytes);
    if (end === at) return;
    yield { at, end };
    at = end + lengthBytes;
  }
}

/** The number in the recovery point of a unit of messages, if it has one. */
function recoveryIn(unit: Buffer): number | undefined {
  let at = 0;
  const extended = (): number => {
    let value = 0;
    while (unit[at] === 255) value += unit[at++]!;
    return value + (unit[at++] ?? 0);
  };
  while (at + 2 < unit.length) {
    const type = extended();
    const bytes = extended();
    if (type === recoveryPoint) return expGolomb(unit.subarray(at, at + bytes));
    at += bytes;
  }
  return undefined;
}

/** The unsigned number in the code of ITU-T H.264 9.1 with which these bytes begin. */
function expGolomb(bytes: Uint8Array): number | undefined {
  const bits = Array.from(bytes.subarray(0, 8), (byte) => byte.toString(2).padStart(8, '0')).join('');
  const zeros = bits.indexOf('1');
  return zeros < 0 || bits.length < 2 * zeros + 1
    ? undefined
    : Number.parseInt(bits.slice(zeros, 2 * zeros + 1), 2) - 1;
}

const startCode = Buffer.from([0, 0, 1]);
