// For tests: H.264 in the containers of recorders, which no program here writes.

/** Pictures of a stream of H.264 in which a delimiter (AUD) is before each, as `-x264-params aud=1` writes it. */
export function picturesOf(stream: Buffer): Buffer[] {
  const delimiter = Buffer.from([0, 0, 0, 1, 9]);
  const starts: number[] = [];
  for (let at = stream.indexOf(delimiter); at >= 0; at = stream.indexOf(delimiter, at + 1)) starts.push(at);
  return starts.map((at, i) => stream.subarray(at, starts[i + 1]));
}

/** Whether a picture has parameter sets, as x264 puts them before each key frame. */
const isKey = (picture: Buffer): boolean => picture.includes(Buffer.from([0, 0, 0, 1, 0x67]));

/** The most bytes of a part of a picture. */
const partBytes = 1000;

/**
 * An MPEG program stream as Hikvision's recorders write it: a pack for each picture, 40 ms after the one before, in
 * parts; a map of the streams before key frames; a private stream between them.
 */
export function programStream(pictures: readonly Buffer[]): Buffer {
  return Buffer.concat(
    pictures.flatMap((picture, i) => {
      const ticks = 90_000 + 3600 * i;
      const parts = Array.from({ length: Math.ceil(picture.length / partBytes) }, (_, part) => {
        const payload = picture.subarray(part * partBytes, (part + 1) * partBytes);
        return elementaryPacket(0xe0, payload, part === 0 ? ticks : undefined);
      });
      const private_ = elementaryPacket(0xbd, Buffer.from('private'), undefined);
      return [packHeader(ticks), ...(isKey(picture) ? [streamMap] : []), ...parts, private_];
    }),
  );
}

/** The header that Hikvision's recorders put before a program stream. */
export const hikvisionHeader = Buffer.concat([Buffer.from('IMKH\x01\x01\0\0', 'latin1'), Buffer.alloc(32, 3)]);

/** ISO/IEC 13818-1 2.5.3.3. */
function packHeader(ticks: number): Buffer {
  const clock =
    (1n << 46n) |
    (BigInt(ticks >>> 30) << 43n) |
    (1n << 42n) |
    (BigInt((ticks >>> 15) & 0x7fff) << 27n) |
    (1n << 26n) |
    (BigInt(ticks & 0x7fff) << 11n) |
    (1n << 10n) |
    1n;
  const bytes = Buffer.alloc(14);
  bytes.writeUInt32BE(0x1ba, 0);
  bytes.writeUIntBE(Number(clock >> 24n), 4, 3);
  bytes.writeUIntBE(Number(clock & 0xffffffn), 7, 3);
  // The rate, with two marker bits, and no stuffing.
  bytes.writeUIntBE((25_000 << 2) | 3, 10, 3);
  bytes[13] = 0xf8;
  return bytes;
}

/** That stream 0xe0 is H.264 (0x1b): ISO/IEC 13818-1 2.5.4. */
const streamMap = Buffer.from([0, 0, 1, 0xbc, 0, 14, 0xe0, 0xff, 0, 0, 0, 4, 0x1b, 0xe0, 0, 0, 0, 0, 0, 0]);

/** ISO/IEC 13818-1 2.4.3.6. */
function elementaryPacket(stream: number, payload: Buffer, ticks: number | undefined): Buffer {
  const time =
    ticks === undefined
      ? []
      : [
          0x21 | ((ticks >>> 29) & 0xe),
          (ticks >>> 22) & 0xff,
          ((ticks >>> 14) & 0xfe) | 1,
          (ticks >>> 7) & 0xff,
          ((ticks << 1) & 0xfe) | 1,
        ];
  const length = 3 + time.length + payload.length;
  const head = [0, 0, 1, stream, length >> 8, length & 0xff, 0x80, time.length > 0 ? 0x80 : 0, time.length, ...time];
  return Buffer.concat([Buffer.from(head), payload]);
}

/**
 * A file of a Dahua recorder, as the demuxer of FFmpeg describes it (libavformat/dhav.c): a header and a trailer around
 * each picture, which come 40 ms apart.
 */
export function dahuaFile(pictures: readonly Buffer[], width: number, height: number): Buffer {
  return Buffer.concat(
    pictures.flatMap((picture, i) => {
      const size = Buffer.from([0x82, 0, 0, 0, 0, 0, 0, 0]);
      size.writeUInt16LE(width, 4);
      size.writeUInt16LE(height, 6);
      // H.264 (2) at 25 pictures a second.
      const extension = isKey(picture) ? Buffer.concat([size, Buffer.from([0x81, 0, 2, 25])]) : Buffer.alloc(0);
      const header = Buffer.alloc(24);
      header.write('DHAV', 'latin1');
      header[4] = isKey(picture) ? 0xfd : 0xfc;
      header.writeUInt32LE(i, 8);
      const length = header.length + extension.length + picture.length + 8;
      header.writeUInt32LE(length, 12);
      header.writeUInt32LE(dahuaDate(Math.floor(i / 25)), 16);
      header.writeUInt16LE((40 * i) % 2 ** 16, 20);
      header[22] = extension.length;
      const trailer = Buffer.from('dhav\0\0\0\0', 'latin1');
      trailer.writeUInt32LE(length, 4);
      return [header, extension, picture, trailer];
    }),
  );
}

/** A second of 31 January 2026, 08:00. */
const dahuaDate = (second: number): number => (26 << 26) | (1 << 22) | (31 << 17) | (8 << 12) | second;
