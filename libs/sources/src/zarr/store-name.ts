import { parsePlaneUri } from '../plane-uri.ts';

/** Whether a folder of that name is a Zarr, and so one input, in whose chunks nobody looks for others. */
export const isStoreName = (name: string): boolean => /\.zarr$/i.test(name);

/** Names of the files that tell what a folder of a Zarr is, in the order in which they are looked for. */
export const metadataNames = ['zarr.json', '.zarray', '.zattrs', '.zgroup'] as const;

/** The folder of a metadata file, if the path names one; else the path without slashes at its end. */
export function folderOfMetadata(path: string): string {
  const bare = path.replace(/\/+$/, '');
  const name = bare.slice(bare.lastIndexOf('/') + 1);
  return (metadataNames as readonly string[]).includes(name)
    ? bare.slice(0, Math.max(0, -1 + bare.length - name.length))
    : bare;
}

/** The name of a plane that was named itself: the path of its array from the Zarr on, and its indices. */
export function nameOfPlane(uri: string, path: string): string {
  const { axes, indices } = parsePlaneUri(uri)!;
  const parts = folderOfMetadata(path).split('/');
  const store = parts.findIndex(isStoreName);
  const place = parts.slice(store < 0 ? -1 : store);
  return [...place, axes.map((axis, i) => `${axis}${indices[i]}`).join('-')].filter((part) => part !== '').join('/');
}
