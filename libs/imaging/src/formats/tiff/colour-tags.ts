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

/** The sample that stands for no value, by GDAL's tag; NaN without the tag, or if it is not a number. */
export async function readNoData(reader: TiffReader, entries: Entries): Promise<number> {
  const entry = entries.get(tiffTags.GDAL_NODATA);
  return entry ? Number.parseFloat(await reader.text(entry, 64)) : Number.NaN;
}

/**
 * The value of samples in blocks that the file leaves out, as GDAL reads them: the sample that stands for no value,
 * rounded and clipped to the range of a sample, or 0 if there is none.
 */
export function fillOf(noData: number, { bits, kind }: TiffLayout): number {
  if (Number.isNaN(noData)) return 0;
  if (kind === 'float') return noData;
  const least = kind === 'signed' ? -(2 ** (bits - 1)) : 0;
  return Math.min(least + 2 ** bits - 1, Math.max(least, Math.floor(noData + 0.5)));
}
