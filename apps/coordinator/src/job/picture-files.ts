import { type MapFormat, mapExtensions } from '@halogrid/results';

/**
 * Sources with a lower index get a preview: the first ones in the order of results. Leases carry it, so that nodes know
 * which sources need preview chunks.
 */
export const previewSources = 20;

export const isMapFormat = (format: string): format is MapFormat => Object.hasOwn(mapExtensions, format);

/** What a source has in `maps` and `preview`, as paths in the output folder. */
export function pictureFiles(name: string, index: number, mapFormat: string): string[] {
  const files = index < previewSources ? [`preview/${name}.png`] : [];
  if (isMapFormat(mapFormat)) files.push(`maps/${name}${mapExtensions[mapFormat]}`);
  if (mapFormat === 'dzi') files.push(`maps/${name}_files`);
  return files;
}
