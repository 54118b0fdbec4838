/**
 * The URI of a plane of a Zarr array: the URI of the array's metadata file, and in its fragment an index for each axis
 * before the rows: `…/x.zarr/0/zarr.json#t=0&c=1&z=3`, or `#plane` if the array has no other axes. No file: URI and no
 * request has a fragment, so none is mistaken for one.
 */
export interface PlaneUri {
  /** The URI of the metadata file. */
  file: string;
  axes: readonly string[];
  indices: readonly number[];
}

const pattern = /^(.*\/(?:zarr\.json|\.zarray)(?:\?[^#]*)?)#(plane|[a-z]\w*=\d+(?:&[a-z]\w*=\d+)*)$/is;

/** The most digits of an index: more than any axis needs, and each number is exact. */
const mostDigits = 15;

/** Undefined for every other URI. */
export function parsePlaneUri(uri: string): PlaneUri | undefined {
  // Nearly all URIs of an archive end here.
  if (!uri.includes('#')) return undefined;
  const [, file, selector] = pattern.exec(uri) ?? [];
  if (file === undefined || selector === undefined) return undefined;
  const pairs = selector === 'plane' ? [] : selector.split('&').map((pair) => pair.split('=') as [string, string]);
  if (pairs.some(([, index]) => index.length > mostDigits)) return undefined;
  return { file, axes: pairs.map(([axis]) => axis), indices: pairs.map(([, index]) => Number(index)) };
}

export function planeUri({ file, axes, indices }: PlaneUri): string {
  return `${file}#${axes.map((axis, i) => `${axis}=${indices[i]}`).join('&') || 'plane'}`;
}

export const isPlaneUri = (uri: string): boolean => parsePlaneUri(uri) !== undefined;
