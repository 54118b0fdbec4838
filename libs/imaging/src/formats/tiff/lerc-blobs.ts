/** Numbers as LERC stores them, by their code in a header. */
const types = [
  'signed 8',
  'unsigned 8',
  'signed 16',
  'unsigned 16',
  'signed 32',
  'unsigned 32',
  'float 32',
  'float 64',
];

/** What the blobs of a block say. */
export interface LercBlobs {
  /** Blobs one after another, each with some samples of all pixels. */
  bands: number;
  /** Samples of a pixel in each blob. */
  depth: number;
  /** The code of their numbers. */
  type: number;
}

/** The block that the TIFF describes. */
export interface LercBlock {
  width: number;
  height: number;
  samples: number;
  bits: number;
  kind: string;
}

/** The format that GDAL and libtiff write, and later ones. Earlier ones hold one sample a pixel. */
const [firstVersion, lastVersion] = [4, 6];

/**
 * Reads the headers of all blobs, so that what is decoded has the size of the block. Undefined if they hold another
 * block, or are damaged or cut off.
 */
export function lercBlobs(bytes: Uint8Array, block: LercBlock): LercBlobs | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const wanted = types.indexOf(`${block.kind} ${block.bits}`);
  let bands = 0;
  let depth = 0;
  for (let at = 0; at < bytes.length && bands < block.samples; bands++) {
    if (bytes.length - at < 66 || Buffer.from(bytes.subarray(at, at + 6)).toString('latin1') !== 'Lerc2 ') return;
    const version = view.getInt32(at + 6, true);
    if (version < firstVersion || version > lastVersion) return;
    const [height, width, samples, , , size, type] = Array.from({ length: 7 }, (_, i) =>
      view.getInt32(at + 14 + 4 * i, true),
    ) as [number, number, number, number, number, number, number];
    if (height !== block.height || width !== block.width || type !== wanted) return;
    if (samples < 1 || samples > block.samples || (bands > 0 && samples !== depth)) return;
    if (size < 66 || size > bytes.length - at) return;
    depth = samples;
    at += size;
  }
  const held = bands * depth;
  // Alpha of 8 bits may be the mask of the others.
  const isWhole = held === block.samples || (held > 0 && held === block.samples - 1 && wanted === 1);
  return isWhole ? { bands, depth, type: wanted } : undefined;
}
