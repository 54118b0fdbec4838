import { InputError } from '@halogrid/sources';
import { maxPlaceValues, type Place, type PlaceTag, placeTags } from '../../planes/place.ts';
import type { TiffEntry, TiffReader } from './tiff-reader.ts';

/** The place of a GeoTIFF; undefined without one. Damage to its tags does not count as damage to the image. */
export async function readPlace(
  reader: TiffReader,
  entries: ReadonlyMap<number, TiffEntry>,
): Promise<Place | undefined> {
  const tags: PlaceTag[] = [];
  try {
    for (const tag of placeTags.keys()) {
      const entry = entries.get(tag);
      if (!entry) continue;
      if (entry.count > maxPlaceValues) return undefined;
      const values = await valuesOf(reader, entry);
      if (!values) return undefined;
      tags.push({ tag, values });
    }
  } catch (error) {
    if (error instanceof InputError && error.fault === 'content') return undefined;
    throw error;
  }
  return tags.length > 0 ? { tags } : undefined;
}

async function valuesOf(reader: TiffReader, entry: TiffEntry): Promise<PlaceTag['values'] | undefined> {
  switch (placeTags.get(entry.tag)) {
    case 'text':
      return (await reader.text(entry, maxPlaceValues)).replace(/\0+$/, '');
    case 'shorts':
      return await reader.integers(entry, maxPlaceValues);
    default: {
      const values = await reader.doubles(entry, maxPlaceValues);
      return values.every(Number.isFinite) ? values : undefined;
    }
  }
}
