/*
 * H.264 and H.265 as hardware takes them (Annex B of ITU-T H.264 and H.265): units behind start codes. MP4 and Matroska
 * have a length before each unit, and parameter sets in a configuration record (ISO/IEC 14496-15).
 */

const startCode = Buffer.from([0, 0, 0, 1]);

/** How the units of a stream lie: the bytes of the length before each, or 0 if they are behind start codes already. */
export interface UnitLayout {
  lengthBytes: number;
  /** The parameter sets of the record, behind start codes. */
  parameterSets: Buffer;
}

/** Throws RangeError for a record that ends early. */
export function unitLayoutOf(codec: 'h264' | 'hevc', extradata: Buffer | null): UnitLayout {
  // A record begins with its version, 1; parameter sets with a start code.
  if (extradata?.[0] !== 1) return { lengthBytes: 0, parameterSets: extradata ?? Buffer.alloc(0) };
  return codec === 'h264' ? h264Layout(extradata) : hevcLayout(extradata);
}

function h264Layout(record: Buffer): UnitLayout {
  const sets: Buffer[] = [];
  let at = 5;
  for (const countMask of [31, 255]) {
    const count = record.readUInt8(at++) & countMask;
    at = takeUnits(record, at, count, sets);
  }
  return { lengthBytes: (record.readUInt8(4) & 3) + 1, parameterSets: Buffer.concat(sets) };
}

function hevcLayout(record: Buffer): UnitLayout {
  const sets: Buffer[] = [];
  let at = 23;
  for (let arrays = record.readUInt8(22); arrays > 0; arrays--)
    at = takeUnits(record, at + 3, record.readUInt16BE(at + 1), sets);
  return { lengthBytes: (record.readUInt8(21) & 3) + 1, parameterSets: Buffer.concat(sets) };
}

/** Appends `count` units to `to`, and returns the position behind them. */
function takeUnits(record: Buffer, from: number, count: number, to: Buffer[]): number {
  let at = from;
  for (let i = 0; i < count; i++) {
    const length = record.readUInt16BE(at);
    if (at + 2 + length > record.length) throw new RangeError('The configuration record ends early');
    to.push(startCode, record.subarray(at + 2, at + 2 + length));
    at += 2 + length;
  }
  return at;
}

export interface Units {
  /** The units, behind start codes. */
  bytes: Buffer;
  /** Units that are part of a picture; 0 if not counted. */
  slices: number;
}

/** A packet's units; undefined if their lengths do not add up to the packet, or none is part of a picture. */
export function annexB(codec: 'h264' | 'hevc', packet: Buffer, lengthBytes: number): Units | undefined {
  if (lengthBytes === 0) return { bytes: packet, slices: 0 };
  const parts: Buffer[] = [];
  let slices = 0;
  let at = 0;
  while (at + lengthBytes < packet.length) {
    const length = packet.readUIntBE(at, lengthBytes);
    at += lengthBytes;
    if (length === 0 || at + length > packet.length) return undefined;
    if (isSlice(codec, packet[at]!)) slices++;
    parts.push(startCode, packet.subarray(at, at + length));
    at += length;
  }
  return at === packet.length && slices > 0 ? { bytes: Buffer.concat(parts), slices } : undefined;
}

/** Whether a unit is part of a picture, by its first byte. */
const isSlice = (codec: 'h264' | 'hevc', head: number): boolean =>
  codec === 'hevc' ? head >> 1 < 32 : (head & 31) >= 1 && (head & 31) <= 5;
