import { InputError } from '../input-error.ts';
import { recordOf } from './read-node.ts';

/** What the attributes of a group say that it holds. */
export type GroupContent =
  /** Levels of an image, the largest first, and the names of its axes if they are told. */
  | { kind: 'image'; levels: readonly string[]; axes: readonly string[] | undefined }
  /** Groups of images, by their paths. Wells are the groups of a plate. */
  | { kind: 'groups'; of: 'plate' | 'well'; paths: readonly string[] }
  /** Images in numbered groups; `paths` if the group OME lists them. */
  | { kind: 'series' };

/** The most groups that a group may name. */
const maxGroups = 2 ** 16;

/** Reads the attributes of a group by OME-Zarr 0.1 to 0.5. Throws InputError. */
export function groupContent(attributes: Record<string, unknown>): GroupContent {
  // From 0.5 on, OME's attributes are in one of their own.
  const ome = attributes.ome === undefined ? attributes : recordOf(attributes.ome);
  if (ome.multiscales !== undefined) return imageOf(ome.multiscales);
  if (ome.plate !== undefined)
    return { kind: 'groups', of: 'plate', paths: pathsOf(recordOf(ome.plate).wells, 'wells') };
  if (ome.well !== undefined)
    return { kind: 'groups', of: 'well', paths: pathsOf(recordOf(ome.well).images, 'images') };
  if (ome['bioformats2raw.layout'] !== undefined) return { kind: 'series' };
  throw new InputError(
    'decode',
    'The Zarr group holds no image of OME-Zarr (multiscales): name the folder of an image or an array in it',
  );
}

/** The paths of images that the group OME of a file with several lists; undefined if it lists none. */
export function seriesOf(attributes: Record<string, unknown>): readonly string[] | undefined {
  const { series } = attributes.ome === undefined ? attributes : recordOf(attributes.ome);
  return Array.isArray(series)
    ? pathsOf(
        series.map((path) => ({ path })),
        'series',
      )
    : undefined;
}

function imageOf(multiscales: unknown): GroupContent {
  const first = recordOf(Array.isArray(multiscales) ? multiscales[0] : undefined);
  const levels = pathsOf(first.datasets, 'datasets');
  if (levels.length === 0) throw new InputError('decode', 'The multiscales of the OME-Zarr name no datasets');
  const { axes } = first;
  if (axes === undefined) return { kind: 'image', levels, axes: undefined };
  const names = Array.isArray(axes) ? axes.map((axis) => (typeof axis === 'string' ? axis : recordOf(axis).name)) : [];
  if (names.length === 0 || !names.every((name) => typeof name === 'string')) {
    throw new InputError('decode', 'The multiscales of the OME-Zarr have axes without names');
  }
  return { kind: 'image', levels, axes: names };
}

function pathsOf(listed: unknown, field: string): string[] {
  if (!Array.isArray(listed)) throw new InputError('decode', `The attributes of the OME-Zarr have no list of ${field}`);
  if (listed.length > maxGroups)
    throw new InputError('decode', `The OME-Zarr lists ${listed.length} ${field}: at most ${maxGroups} are read`);
  return listed.map((entry) => {
    const { path } = recordOf(entry);
    if (typeof path !== 'string' || !isPathBelow(path)) {
      throw new InputError(
        'decode',
        `The OME-Zarr lists the path '${String(path).slice(0, 60)}' among its ${field}: it must lead to a folder below`,
      );
    }
    return path.replace(/^\/|\/$/g, '');
  });
}

/** Whether a path leads to something below, and nowhere else. */
const isPathBelow = (path: string): boolean =>
  path.length <= 1024 &&
  path
    .replace(/^\/|\/$/g, '')
    .split('/')
    .every((part) => part !== '' && part !== '.' && part !== '..' && !/[\0\\]/.test(part));
