import { tiffTags } from './tag-names.ts';
import type { TiffDirectory, TiffReader } from './tiff-reader.ts';

/** The most bytes of a description in which the size of a pixel is looked for. */
const maxDescriptionBytes = 2 ** 16;

/** Micrometres in each unit of OME-XML that scanners use. */
const omeUnits: Record<string, number> = { nm: 1e-3, '\u00b5m': 1, '\u03bcm': 1, um: 1, mm: 1e3, cm: 1e4, m: 1e6 };

/** Micrometres in each ResolutionUnit. */
const resolutionUnits: Record<number, number> = { 2: 25_400, 3: 10_000 };

/**
 * The width of a page's pixel in micrometres, as its description states it (OME-XML, or Aperio's MPP), or else its
 * XResolution. Undefined if neither does. Damage of these tags does not count: they do not affect pixels.
 */
export async function pixelMicrons(reader: TiffReader, page: TiffDirectory): Promise<number | undefined> {
  try {
    const description = page.entries.get(tiffTags.ImageDescription);
    const text = description ? await reader.text(description, maxDescriptionBytes) : '';
    const microns =
      describedMicrons(Buffer.from(text, 'latin1').toString('utf8')) ?? (await statedMicrons(reader, page));
    return microns !== undefined && Number.isFinite(microns) && microns > 0 ? microns : undefined;
  } catch {
    return undefined;
  }
}

/** The width of a pixel that a description states. */
export function describedMicrons(text: string): number | undefined {
  if (/<OME[\s>]/.test(text)) {
    const [, size] = /\sPhysicalSizeX="([^"]{1,40})"/.exec(text) ?? [];
    const [, unit = 'um'] = /\sPhysicalSizeXUnit="([^"]{1,20})"/.exec(text) ?? [];
    const factor = omeUnits[unit.replace(/&#(?:181|xb5);/i, '\u00b5')];
    return size && factor ? Number(size) * factor : undefined;
  }
  const [, aperio] = /^Aperio.*\|\s*MPP\s*=\s*([\d.]{1,20})/s.exec(text) ?? [];
  return aperio ? Number(aperio) : undefined;
}

async function statedMicrons(reader: TiffReader, { entries }: TiffDirectory): Promise<number | undefined> {
  const resolution = entries.get(tiffTags.XResolution);
  if (!resolution) return undefined;
  const unit = entries.get(tiffTags.ResolutionUnit);
  const [[perUnit = 0], [number = 2]] = [
    await reader.numbers(resolution, 1),
    unit ? await reader.integers(unit, 1) : [],
  ];
  const ofUnit = resolutionUnits[number];
  return ofUnit && perUnit > 0 ? ofUnit / perUnit : undefined;
}
