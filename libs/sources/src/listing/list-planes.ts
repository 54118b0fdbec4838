import { InputError } from '../input-error.ts';
import { planeUri } from '../plane-uri.ts';
import { type ArrayForm, arrayForm } from '../zarr/array-form.ts';
import { below } from '../zarr/beside.ts';
import { type GroupContent, groupContent, seriesOf } from '../zarr/image-groups.ts';
import { readNode, type ZarrNode } from '../zarr/read-node.ts';
import type { Source } from './source.ts';

/** The most planes of an image: each is a source. */
const maxPlanes = 2 ** 20;
/** Planes that are handed out at once. */
const planesAtOnce = 1024;
/** The most images in numbered groups. */
const maxSeries = 2 ** 16;

/**
 * The planes of a Zarr, each a source of its own, some at a time: of all its images in the order in which it lists
 * them, of an image in the order of its axes, the first axis slowest. What cannot be read is a source with an error.
 * Rejects with InputError if its host is away.
 */
export async function* listPlanes(store: Source, level: number): AsyncGenerator<Source[], void, undefined> {
  yield* listNode({ store, level }, '', 'any');
}

interface Listing {
  store: Source;
  level: number;
}

/** What a node may hold: plates hold wells, and wells hold images, so that no listing goes in circles. */
type May = 'any' | 'well' | 'image';

async function* listNode(listing: Listing, path: string, may: May): AsyncGenerator<Source[], void, undefined> {
  const { store } = listing;
  const folder = path === '' ? store.uri : below(store.uri, path);
  let node: ZarrNode;
  let content: GroupContent;
  try {
    node = await readNode(folder);
    if (node.kind === 'array') return yield* planesOf(listing, path, node, undefined);
    content = groupContent(node.attributes);
    const isIn =
      content.kind === 'image' ||
      may === 'any' ||
      (may === 'well' && content.kind === 'groups' && content.of === 'well');
    if (!isIn) throw new InputError('decode', `The group '${path}' of the OME-Zarr holds no ${may}`);
  } catch (error) {
    return yield [faulty(listing, path, error)];
  }
  if (content.kind === 'groups') {
    const next = content.of === 'plate' ? 'well' : 'image';
    for (const name of content.paths) yield* listNode(listing, joined(path, name), next);
  } else if (content.kind === 'series') yield* listSeries(listing, path);
  else yield* listImage(listing, path, content);
}

async function* listSeries(listing: Listing, path: string): AsyncGenerator<Source[], void, undefined> {
  const folder = path === '' ? listing.store.uri : below(listing.store.uri, path);
  let paths: readonly string[] | undefined;
  try {
    paths = await readNode(below(folder, 'OME')).then(({ attributes }) => seriesOf(attributes), ignoreMissing);
    for (let next = 0; !paths && next <= maxSeries; next++) {
      if (!(await readNode(below(folder, String(next))).then(() => true, ignoreMissing)))
        paths = Array.from({ length: next }, (_, i) => String(i));
    }
    if (!paths || paths.length === 0)
      throw new InputError('decode', 'The OME-Zarr says that it holds a series of images, and has none');
  } catch (error) {
    return yield [faulty(listing, path, error)];
  }
  for (const name of paths) yield* listNode(listing, joined(path, name), 'image');
}

/** A node that is not there, or damaged: the images are looked for without it. */
function ignoreMissing(error: unknown): undefined {
  if (error instanceof InputError && error.stage === 'decode') return undefined;
  throw error;
}

async function* listImage(
  listing: Listing,
  path: string,
  { levels, axes }: Extract<GroupContent, { kind: 'image' }>,
): AsyncGenerator<Source[], void, undefined> {
  let node: ZarrNode;
  try {
    const array = levels[listing.level];
    if (array === undefined)
      throw new InputError(
        'decode',
        `The OME-Zarr has the levels 0 to ${levels.length - 1}, and no level ${listing.level}`,
      );
    node = await readNode(below(listing.store.uri, joined(path, array)));
    if (node.kind !== 'array') throw new InputError('decode', `The level '${array}' of the OME-Zarr is not an array`);
  } catch (error) {
    return yield [faulty(listing, path, error)];
  }
  yield* planesOf(listing, path, node, axes);
}

async function* planesOf(
  listing: Listing,
  path: string,
  { file, metadata, attributes }: ZarrNode,
  named: readonly string[] | undefined,
): AsyncGenerator<Source[], void, undefined> {
  let outer: readonly string[];
  let shape: readonly number[];
  try {
    const form = arrayForm(metadata);
    if (typeof form === 'string') throw new InputError('decode', form);
    ({ outer, shape } = outerAxes(form, named, attributes._ARRAY_DIMENSIONS));
  } catch (error) {
    return yield [faulty(listing, path, error)];
  }
  const { store } = listing;
  const planes = shape.reduce((all, size) => all * size, 1);
  for (let first = 0; first < planes; first += planesAtOnce) {
    const some = Array.from({ length: Math.min(planesAtOnce, planes - first) }, (_, i) => unravel(first + i, shape));
    yield some.map((indices): Source => {
      const told = outer.map((axis, i) => ({ axis, index: indices[i]! })).filter((_, i) => shape[i]! > 1);
      const name = told.map(({ axis, index }) => `${axis}${index}`).join('-');
      const parts = [store.name, path, name].filter((part) => part !== '');
      return { ...store, uri: planeUri({ file, axes: outer, indices }), name: parts.join('/'), isStore: undefined };
    });
  }
}

/** The axes before the rows, and their sizes. Throws InputError if the last two are not rows and columns. */
function outerAxes(
  { shape, axes: own }: ArrayForm,
  named: readonly string[] | undefined,
  dimensions: unknown,
): { outer: readonly string[]; shape: readonly number[] } {
  const older =
    Array.isArray(dimensions) && dimensions.every((name) => typeof name === 'string') ? dimensions : undefined;
  const usual = { 2: ['y', 'x'], 5: ['t', 'c', 'z', 'y', 'x'] }[shape.length];
  const axes = named ?? own ?? older ?? usual;
  const size = shape.join('x');
  if (!axes)
    throw new InputError(
      'decode',
      `The Zarr array of ${size} does not name its ${shape.length} axes, as OME-Zarr does: arrays of 2 are read without names`,
    );
  const said = `The Zarr array of ${size} has the axes ${axes.join(', ').slice(0, 100)}`;
  if (axes.length !== shape.length) throw new InputError('decode', said);
  const [row, column] = axes.slice(-2);
  if (shape.length > 2 && !(row === 'y' && column === 'x'))
    throw new InputError('decode', `${said}: the last two must be y and x`);
  const outer = axes.slice(0, -2);
  const odd = outer.find((name, i) => !/^[a-z]\w{0,31}$/i.test(name) || outer.indexOf(name) !== i);
  if (odd !== undefined)
    throw new InputError('decode', `${said}: each must have a name of its own, of letters and digits`);
  const planes = shape.slice(0, -2).reduce((all, length) => all * length, 1);
  if (planes > maxPlanes)
    throw new InputError('decode', `${said}, which are ${planes} planes: at most ${maxPlanes} are read`);
  return { outer, shape: shape.slice(0, -2) };
}

/** The indices of the nth plane. */
function unravel(nth: number, shape: readonly number[]): number[] {
  const indices: number[] = [];
  for (const size of shape.toReversed()) {
    indices.unshift(nth % size);
    nth = Math.floor(nth / size);
  }
  return indices;
}

function faulty({ store }: Listing, path: string, error: unknown): Source {
  if (!(error instanceof InputError) || error.fault === 'away' || error.fault === 'process') throw error;
  return { ...store, name: joined(store.name, path), error: error.message, isStore: undefined };
}

const joined = (path: string, name: string): string => [path, name].filter((part) => part !== '').join('/');
