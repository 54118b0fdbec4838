import { InputError } from '@halogrid/sources';
import { nameOfTag, tiffTags } from './tag-names.ts';
import type { TiffLayout } from './tiff-layout.ts';
import type { TiffEntry, TiffReader } from './tiff-reader.ts';
import type { ColourTables } from './to-colours.ts';
import { usualYcbcr, ycbcrToRgb } from './ycbcr.ts';

type Entries = ReadonlyMap<number, TiffEntry>;

/** Reads the tags about the colours of a page, if its layout needs them. Rejects with InputError. */
export async function readColourTables(
  reader: TiffReader,
  entries: Entries,
  { colours, bits }: TiffLayout,
): Promise<ColourTables> {
  return {
    palette: colours === 'palette' ? await readPalette(reader, entries, 2 ** bits) : undefined,
    ycbcr: colours === 'ycbcr' ? await readYcbcr(reader, entries) : undefined,
  };
}

/**
 * Colours have 16 bits, and the upper 8 are used. Some programs write 8 bits: if no value is larger, the lower 8 are
 * used.
 */
async function readPalette(reader: TiffReader, entries: Entries, size: number): Promise<Uint8Array> {
  const entry = entries.get(tiffTags.ColorMap);
  const values = entry ? await reader.integers(entry, 3 * size) : [];
  if (values.length < 3 * size) {
    throw new InputError(
      'decode',
      `The TIFF is damaged: its palette has ${values.length} values (tag ${nameOfTag(tiffTags.ColorMap)}) where ${3 * size} are needed`,
    );
  }
  const shift = values.some((value) => value > 255) ? 8 : 0;
  return Uint8Array.from(values, (_, i) => values[(i % 3) * size + Math.floor(i / 3)]! >> shift);
}

async function readYcbcr(reader: TiffReader, entries: Entries) {
  const read = async (tag: number, usual: readonly number[]): Promise<readonly number[]> => {
    const entry = entries.get(tag);
    const values = entry ? await reader.numbers(entry, usual.length) : usual;
    const isUsable = values.length === usual.length && values.every(Number.isFinite);
    if (isUsable && (tag !== tiffTags.YCbCrCoefficients || values[1] !== 0)) return values;
    throw new InputError('decode', `The TIFF is damaged: its tag ${nameOfTag(tag)} has values that mean no colours`);
  };
  return ycbcrToRgb({
    weights: await read(tiffTags.YCbCrCoefficients, usualYcbcr.weights),
    range: await read(tiffTags.ReferenceBlackWhite, usualYcbcr.range),
  });
}

/**
 * The value of samples in blocks that the file leaves out, as GDAL reads them: the value of GDAL's tag for missing
 * data, rounded and clipped to the range of a sample, or 0 without the tag.
 */
export async function readFill(reader: TiffReader, entries: Entries, { bits, kind }: TiffLayout): Promise<number> {
  const entry = entries.get(tiffTags.GDAL_NODATA);
  const value = entry ? Number.parseFloat(await reader.text(entry, 64)) : 0;
  if (kind === 'float') return entry ? value : 0;
  const [least, most] = kind === 'signed' ? [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] : [0, 2 ** bits - 1];
  return Number.isNaN(value) ? 0 : Math.min(most, Math.max(least, Math.floor(value + 0.5)));
}
