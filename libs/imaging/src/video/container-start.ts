/** Each packet of a transport stream begins with it. */
const syncByte = 0x47;

/** Bytes from a packet to the next: as broadcast, with a time code before it (Blu-ray, cameras), with check bytes behind. */
const packetBytes = [188, 192, 204];

/** Packets that follow one another, by which a stream is told from other bytes. */
const enough = 5;

/** Bytes of a file, at most, in which a container is looked for that does not begin with the file. */
export const searchedBytes = 2 ** 16;

/** The first bytes of a Matroska, and of an element of it that holds nothing. */
const ebml = Buffer.from([0x1a, 0x45, 0xdf, 0xa3]);
const voidElement = 0xec;

/**
 * Where a container begins among the first bytes of a file that does not begin with one: packets of a transport stream, or
 * a Matroska behind an empty element; -1 where there is neither.
 */
export const containerStart = (bytes: Uint8Array): number =>
  bytes[0] === voidElement
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(ebml)
    : firstPacket(bytes);

/** Where packets of a transport stream begin among these bytes; -1 where there are none. */
function firstPacket(bytes: Uint8Array): number {
  let at = bytes.indexOf(syncByte);
  while (at >= 0 && !packetBytes.some((length) => arePackets(bytes, at, length))) at = bytes.indexOf(syncByte, at + 1);
  return at;
}

function arePackets(bytes: Uint8Array, at: number, length: number): boolean {
  for (let i = 0; i < enough; i++) if (!isPacket(bytes, at + i * length)) return false;
  return true;
}

/** Neither of two bits that say what a packet holds would be set where all bytes are the same. */
const isPacket = (bytes: Uint8Array, at: number): boolean => bytes[at] === syncByte && (bytes[at + 3]! & 0x30) !== 0;
