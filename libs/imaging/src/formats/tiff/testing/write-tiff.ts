import { tiffTags } from '../tag-names.ts';

type TagName = keyof typeof tiffTags;

/** A value of a tag: SHORTs (LONGs if they do not fit), or a text as it is. */
export type TagValue = readonly number[] | string;

export interface WrittenTiff {
  width: number;
  height: number;
  /** The bytes of strips or, with TileWidth, of tiles; empty blocks are left out of the file. */
  blocks: readonly Uint8Array[];
  /** Tags to add or replace; null removes one. By name, or by number for tags that are never read. */
  tags?: { [tag in TagName | number]?: TagValue | null };
  /** Writes the last tag first. */
  isUnsorted?: boolean;
  /** Further directories, which follow this one. */
  pages?: readonly WrittenTiff[];
}

/** Writes a little-endian TIFF: gray of 8 bits, not compressed, unless its tags say something else. */
export function writeTiff(first: WrittenTiff): Buffer {
  const parts: Buffer[] = [Buffer.from('II*\0\0\0\0\0', 'latin1')];
  let at = 8;
  const put = (bytes: Uint8Array): number => {
    const start = at;
    parts.push(Buffer.from(bytes), Buffer.alloc(bytes.length % 2));
    at += bytes.length + (bytes.length % 2);
    return start;
  };
  let link = { buffer: parts[0]!, at: 4 };
  for (const page of [first, ...(first.pages ?? [])]) {
    const offsets = page.blocks.map((block) => (block.length > 0 ? put(block) : 0));
    const fields = entriesOf(page, offsets).map(([tag, value]) => {
      const type = typeof value === 'string' ? 2 : value.some((number) => number > 65535) ? 4 : 3;
      const bytes = typeof value === 'string' ? Buffer.from(value, 'latin1') : integers(value, type === 4 ? 4 : 2);
      const inline = Buffer.alloc(4);
      if (bytes.length <= 4) bytes.copy(inline);
      else inline.writeUInt32LE(put(bytes));
      const field = Buffer.alloc(12);
      field.writeUInt16LE(tag);
      field.writeUInt16LE(type, 2);
      field.writeUInt32LE(value.length, 4);
      inline.copy(field, 8);
      return field;
    });
    link.buffer.writeUInt32LE(at, link.at);
    const count = Buffer.alloc(2);
    count.writeUInt16LE(fields.length);
    const next = Buffer.alloc(4);
    parts.push(count, ...fields, next);
    at += 6 + 12 * fields.length;
    link = { buffer: next, at: 0 };
  }
  return Buffer.concat(parts);
}

function entriesOf({ width, height, blocks, tags = {}, isUnsorted }: WrittenTiff, offsets: number[]) {
  const isTiled = tags.TileWidth !== undefined;
  const lengths = blocks.map(({ length }) => length);
  const usual: { [tag in TagName | number]?: TagValue } = {
    ImageWidth: [width],
    ImageLength: [height],
    BitsPerSample: [8],
    Compression: [1],
    PhotometricInterpretation: [1],
    SamplesPerPixel: [1],
    ...(isTiled
      ? { TileOffsets: offsets, TileByteCounts: lengths }
      : { StripOffsets: offsets, StripByteCounts: lengths, RowsPerStrip: [height] }),
  };
  const entries = Object.entries({ ...usual, ...tags }).flatMap(([name, value]) =>
    value ? [[tiffTags[name as TagName] ?? Number(name), value] as const] : [],
  );
  return entries.toSorted(([a], [b]) => (isUnsorted ? b - a : a - b));
}

function integers(values: readonly number[], size: 2 | 4): Buffer {
  const bytes = Buffer.alloc(values.length * size);
  for (const [i, value] of values.entries()) bytes.writeUIntLE(value, i * size, size);
  return bytes;
}
