/** A kind of file that is told by its first bytes alone: a container of recorders, or a stream in no container. */
interface RecorderFile {
  /** FFmpeg's name. */
  name: string;
  /** In a sentence. */
  what: string;
  /** The first bytes, as Latin-1 text. */
  starts: readonly string[];
}

const recorderFiles: readonly RecorderFile[] = [
  { name: 'mpeg', what: 'an MPEG program stream', starts: ['\0\0\x01\xba'] },
  { name: 'mpeg', what: 'a recording of a Hikvision recorder', starts: ['IMKH'] },
  { name: 'dhav', what: 'a recording of a Dahua recorder', starts: ['DHAV', 'DAHUA'] },
  { name: 'h264', what: 'a stream of H.264', starts: units('\x67', '\x27', '\x09') },
  { name: 'hevc', what: 'a stream of H.265', starts: units('\x40\x01', '\x46\x01') },
];

/** The kind of a file that begins so; undefined for other files. */
export function recorderFile(head: Uint8Array): RecorderFile | undefined {
  const start = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, 16)).toString('latin1');
  return recorderFiles.find(({ starts }) => starts.some((text) => start.startsWith(text)));
}

/** First bytes of a stream that begins with one of these units, as streams do that can be decoded. */
function units(...firsts: string[]): string[] {
  return firsts.flatMap((unit) => [`\0\0\0\x01${unit}`, `\0\0\x01${unit}`]);
}

/** The first byte of each packet of a transport stream. */
const syncByte = 0x47;

/**
 * Bytes from a packet to the next: broadcast, with a time code before it (Blu-ray, cameras), with check bytes after it.
 */
const packetBytes = [188, 192, 204];

/** This many packets in a row prove a transport stream. */
const enough = 5;

/** A container that does not begin with the file is searched in this many bytes at most. */
export const searchedBytes = 2 ** 16;

/** The first bytes of a Matroska file, and of an empty element. */
const ebml = Buffer.from([0x1a, 0x45, 0xdf, 0xa3]);
const voidElement = 0xec;

/**
 * Where a container begins among the first bytes of a file that does not begin with one: packets of a transport stream,
 * or a Matroska file after an empty element; -1 if there is neither.
 */
export const containerStart = (bytes: Uint8Array): number =>
  bytes[0] === voidElement
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(ebml)
    : firstPacket(bytes);

/** Where packets of a transport stream begin among these bytes; -1 if there are none. */
function firstPacket(bytes: Uint8Array): number {
  let at = bytes.indexOf(syncByte);
  while (at >= 0 && !packetBytes.some((length) => arePackets(bytes, at, length))) at = bytes.indexOf(syncByte, at + 1);
  return at;
}

function arePackets(bytes: Uint8Array, at: number, length: number): boolean {
  for (let i = 0; i < enough; i++) if (!isPacket(bytes, at + i * length)) return false;
  return true;
}

/** At least one of two bits says what a packet holds. In a run of sync bytes, which are no packets, neither is set. */
const isPacket = (bytes: Uint8Array, at: number): boolean => bytes[at] === syncByte && (bytes[at + 3]! & 0x30) !== 0;
