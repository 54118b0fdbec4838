import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KernelName } from '@halogrid/kernels';
import { readJson } from './results.ts';

/** The folder of images and of results that other programs computed. */
const oracle = fileURLToPath(new URL('../libs/kernels/oracle', import.meta.url));

export const oracleImages = join(oracle, 'images');

/** The expected result of one image. */
export type Expected =
  /** Exact: the hash of the dense result, and the bins of every channel. */
  | { kind: 'exact'; mapSha256: string; histograms: number[][] }
  /**
   * Rows 0 … n - 1 and columns 0 … n - 1 of the dense result, null for NaN; each value within a factor of `relative`.
   */
  | { kind: 'variance'; crop: (number | null)[][]; relative: number }
  /** The same within `absolute`; mean and root mean square of the whole result within a relative error of 1e-6. */
  | { kind: 'real'; crop: number[][]; absolute: number; mean: number; l2: number };

/** One pipeline with one border, and its expected results for all images in the order of the folder. */
export interface OracleCase {
  name: string;
  op: string;
  border: string;
  expected: Expected[];
}

/** The images by the names of their maps, in the order in which a folder is read. */
export function oracleNames(): string[] {
  return files().map((file) => file.replace(/\.json$/, ''));
}

/** Every case with expected results. */
export function oracleCases(): OracleCase[] {
  const images = files().map((file) => readJson(oracle, 'expected', file));
  const perCase = (
    list: string,
    name: (entry: Entry) => [op: string, border: string],
    of: (entry: Entry) => Expected,
  ) =>
    images[0][list].map((entry: Entry, i: number) => {
      const [op, border] = name(entry);
      return { name: `${op} ${border}`, op, border, expected: images.map((image) => of(image[list][i])) };
    });
  const byKernel: Record<KernelName, OracleCase[]> = {
    lbp: [
      ...perCase(
        'square_lbp',
        (e) => [`lbp:convention=${e.bit_order}`, e.border],
        (e) => ({ kind: 'exact', mapSha256: e.map_sha256, histograms: [e.histogram] }),
      ),
      ...perCase(
        'lbp',
        (e) => [`lbp:convention=scikit-image,points=${e.P},radius=${e.R},labels=${labels[e.method]}`, 'zero'],
        (e) => (e.method === 'var' ? variance(e) : ringLbp(e)),
      ),
    ],
    ldp: perCase(
      'ldp',
      (e) => [`ldp:order=${e.order}`, e.border],
      (e) => ({ kind: 'exact', mapSha256: e.map_sha256, histograms: e.histograms }),
    ),
    conv: perCase(
      'conv',
      (e) => [`conv:kernel=${e.kernel}`, e.border],
      (e) => ({ kind: 'real', crop: e.crop, absolute: 2e-3, mean: e.mean, l2: e.l2 }),
    ),
    glcm: perCase(
      'glcm',
      (e) => [`glcm:levels=${e.levels},offsets=${e.offsets.join('+')},symmetric=${e.symmetric}`, 'interior'],
      (e) => ({ kind: 'exact', mapSha256: e.map_sha256, histograms: e.matrices }),
    ),
  };
  return Object.values(byKernel).flat();
}

// biome-ignore lint/suspicious/noExplicitAny: each list has its own fields; oracle/generate.py says which.
type Entry = any;

const labels: Record<string, string> = {
  default: 'all',
  ror: 'ror',
  uniform: 'uniform',
  nri_uniform: 'nri-uniform',
  var: 'var',
};

function variance({ crop32 }: Entry): Expected {
  return { kind: 'variance', crop: crop32, relative: 1e-4 };
}

/** The files list only bins that are not empty. */
function ringLbp({ P, method, map_sha256, histogram }: Entry): Expected {
  const bins = { default: 2 ** P, ror: 2 ** P, uniform: P + 2, nri_uniform: P * (P - 1) + 3 }[method as string]!;
  return {
    kind: 'exact',
    mapSha256: map_sha256,
    histograms: [Array.from({ length: bins }, (_, bin) => histogram[bin] ?? 0)],
  };
}

const files = (): string[] => readdirSync(join(oracle, 'expected')).sort();
