import { SeededRandom } from '../../apps/coordinator/src/testing/simulation/seeded-random.ts';
import { byteMutations, spliceHalves } from './mutate-bytes.ts';
import { mendChecksums, mutateHeaders, mutateTags } from './mutate-headers.ts';
import type { Seed } from './seed-images.ts';

export interface Mutant {
  /** Its number, and the name of the seed that it is made from. */
  name: string;
  bytes: Buffer;
  /** What was changed, for people. */
  changes: string[];
}

/**
 * The mutant with that index. It depends only on the seeds, the number of the series, and the index. `kinds` can limit
 * the changes to TIFF tags.
 */
export function makeMutant(
  seeds: readonly Seed[],
  series: number,
  index: number,
  kinds: 'all' | 'tags' = 'all',
): Mutant {
  const random = new SeededRandom(Math.imul(series, 0x9e3779b1) + Math.imul(index, 0x85ebca6b));
  const { name, bytes: good } = random.pick(seeds);
  const changes: string[] = [];
  let bytes = good;
  // Most have only one change, because the first one that is noticed hides the others.
  for (let i = random.pick([1, 1, 1, 2, 3]); i > 0 && bytes.length > 0; i--) {
    const [change, changed] = (kinds === 'all' ? changeOnce : changeTags)(bytes, name, seeds, random);
    changes.push(change);
    bytes = changed;
  }
  // Without this, the code behind the check of PNG checksums would never be reached.
  if (random.chance(0.5)) bytes = mendChecksums(bytes);
  return { name: `${String(index).padStart(6, '0')}-${name}`, bytes, changes };
}

type Change = (bytes: Buffer, name: string, seeds: readonly Seed[], random: SeededRandom) => [string, Buffer];

/** Tags with other values that occur in files, or with any number. */
const changeTags: Change = (bytes, _name, _seeds, random) =>
  random.chance(0.7) ? ['tags', mutateTags(bytes, random)] : ['header', mutateHeaders(bytes, random)];

function changeOnce(bytes: Buffer, name: string, seeds: readonly Seed[], random: SeededRandom): [string, Buffer] {
  const kinds = [...Object.keys(byteMutations), 'header', 'header', 'spliced'];
  const kind = random.pick(kinds);
  if (kind === 'header') return [kind, mutateHeaders(bytes, random)];
  if (kind !== 'spliced') return [kind, byteMutations[kind]!(bytes, random)];
  // Mostly another file of the same format, because the result is decoded further; otherwise any file.
  const extension = name.slice(name.lastIndexOf('.'));
  const related = seeds.filter((seed) => seed.name.endsWith(extension) && seed.name !== name);
  const other = random.pick(random.chance(0.7) && related.length > 0 ? related : seeds);
  return [`spliced with ${other.name}`, spliceHalves(bytes, other.bytes, random)];
}
