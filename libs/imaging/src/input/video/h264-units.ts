/** Units of a type that begins a picture after which nothing from before it is named. */
const idr = 5;

/** Bytes of the length before each unit of an H.264 stream; 0 where start codes separate them. */
export function nalLengthBytes(extradata: Uint8Array | null): number {
  // A configuration record begins with its version, 1; parameter sets with a start code.
  return extradata && extradata.length >= 7 && extradata[0] === 1 ? (extradata[4]! & 3) + 1 : 0;
}

/** Whether a packet of H.264 has a slice of an IDR picture. */
export function hasIdr(packet: Buffer | null, lengthBytes: number): boolean {
  if (!packet) return false;
  const typeAt = (at: number): number => packet[at]! & 31;
  if (lengthBytes === 0) {
    for (let at = packet.indexOf(startCode); at >= 0; at = packet.indexOf(startCode, at + 3)) {
      if (at + 3 < packet.length && typeAt(at + 3) === idr) return true;
    }
    return false;
  }
  for (let at = 0; at + lengthBytes < packet.length; ) {
    const length = packet.readUIntBE(at, lengthBytes);
    if (typeAt(at + lengthBytes) === idr) return true;
    at += lengthBytes + length;
  }
  return false;
}

const startCode = Buffer.from([0, 0, 1]);
