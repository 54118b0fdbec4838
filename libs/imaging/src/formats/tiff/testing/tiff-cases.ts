import { type TiffStorage, tiffLayout } from '../tiff-layout.ts';

/** The properties of how a readable TIFF is stored, each with its values. */
const dimensions = {
  planarConfiguration: [1, 2],
  photometric: [0, 1, 2, 3, 6],
  bits: [1, 2, 4, 8, 16],
  sampleFormat: [1, 4],
  /** Samples besides the colours, and what ExtraSamples says about them. */
  extra: ['none', 'unstated', 'unspecified', 'premultiplied', 'alpha', 'six'],
  subsampling: ['1x1', '2x1', '1x2', '2x2', '4x1', '4x2', '4x4'],
  predictor: [1, 2],
  compression: [1, 2, 3, 4, 5, 7, 8, 32773, 32946, 50001],
  blocks: ['strips', 'tiles'],
  byteOrder: ['little', 'big'],
  fillOrder: [1, 2],
  /** Bits of an offset in the file: TIFF or BigTIFF. */
  offsets: [32, 64],
} as const;

export type TiffCase = { [name in keyof typeof dimensions]: (typeof dimensions)[name][number] };

const names = Object.keys(dimensions) as (keyof TiffCase)[];

const extraSamples = { none: 0, unstated: 1, unspecified: 1, premultiplied: 1, alpha: 1, six: 6 } as const;

/** The tags of such a file that decide how it is read. */
function storageOf({ bits, sampleFormat, extra, subsampling, ...same }: TiffCase): TiffStorage {
  const colours = same.photometric === 2 || same.photometric === 6 ? 3 : 1;
  return {
    ...same,
    bitsPerSample: [bits],
    sampleFormat: [sampleFormat],
    samplesPerPixel: colours + extraSamples[extra],
    subsampling: subsampling.split('x').map(Number),
    isDng: false,
  };
}

/**
 * Whether such a file is readable and worth a test: tags without an effect have their usual values, and a single plane
 * has the usual PlanarConfiguration.
 */
function isRead(file: TiffCase): boolean {
  const { compression, predictor, photometric, subsampling } = file;
  const isPredicted = [5, 8, 32946].includes(compression);
  if ((predictor !== 1 && !isPredicted) || (photometric !== 6 && subsampling !== '1x1')) return false;
  // A JPEG does not allow as much.
  if (compression === 7 && subsampling === '4x4') return false;
  const storage = storageOf(file);
  if (storage.samplesPerPixel === 1 && storage.planarConfiguration === 2) return false;
  return typeof tiffLayout(storage) !== 'string';
}

/** The properties of where bytes are. Whether a file is readable does not depend on them. */
const placing: ReadonlySet<string> = new Set(['blocks', 'byteOrder', 'offsets'] satisfies (keyof TiffCase)[]);

/** Every readable combination of values. */
export function readCases(): TiffCase[] {
  const readable = combinations(names.filter((name) => !placing.has(name))).filter(isRead);
  return combinations(
    names.filter((name) => placing.has(name)),
    readable,
  );
}

/** The files, each with every combination of values of these properties. */
function combinations(of: (keyof TiffCase)[], files: Partial<TiffCase>[] = [{}]): TiffCase[] {
  let cases = files;
  for (const name of of) cases = cases.flatMap((file) => dimensions[name].map((value) => ({ ...file, [name]: value })));
  return cases as TiffCase[];
}

const values = names.flatMap((name) => dimensions[name].map((value) => `${name}=${value}`));
const numbers = names.map(
  (name) => new Map<unknown, number>(dimensions[name].map((value) => [value, values.indexOf(`${name}=${value}`)])),
);

/** All pairs of values of a file, each pair as a number. */
export function pairsOf(file: TiffCase): number[] {
  const own = names.map((name, i) => numbers[i]!.get(file[name])!);
  return own.flatMap((a, i) => own.slice(i + 1).map((b) => a * values.length + b));
}

export const pairName = (pair: number): string =>
  `${values[Math.floor(pair / values.length)]} ${values[pair % values.length]}`;

/** A part of the files that has every pair of values which occurs in any file. */
export function coveringCases(files: readonly TiffCase[]): TiffCase[] {
  const pairs = files.map(pairsOf);
  const left = new Set(pairs.flat());
  const chosen: TiffCase[] = [];
  // Picks the file with the most missing pairs from a sample that moves on each time; from all files once few pairs are
  // missing.
  const stride = 1_000_003 % files.length;
  for (let at = 0; left.size > 0; ) {
    let [best, most] = [-1, 0];
    const tries = left.size > 50 ? 20_000 : files.length;
    for (let i = 0; i < tries; i++, at = (at + stride) % files.length) {
      const count = pairs[at]!.filter((pair) => left.has(pair)).length;
      if (count > most) [best, most] = [at, count];
    }
    if (best < 0) continue;
    chosen.push(files[best]!);
    for (const pair of pairs[best]!) left.delete(pair);
  }
  return chosen;
}
