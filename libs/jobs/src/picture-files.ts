import { type MapFormat, mapExtensions } from '@halogrid/results/map-format';

export const isMapFormat = (format: string): format is MapFormat => Object.hasOwn(mapExtensions, format);

/** The previews of a source's map and of the source itself, as paths in the output folder. */
export const previewFiles = (name: string): [map: string, source: string] => [
  `preview/${name}.png`,
  `preview/${name}.source.jpg`,
];

/** The files and folders of a source's map, as paths in the output folder. */
export function mapFiles(name: string, mapFormat: string): string[] {
  const files = isMapFormat(mapFormat) ? [`maps/${name}${mapExtensions[mapFormat]}`] : [];
  if (mapFormat === 'dzi') files.push(`maps/${name}_files`);
  return files;
}
