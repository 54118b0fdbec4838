import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { writeZarr, type ZarrOfTests } from '@halogrid/imaging/testing-zarr';
import { Cluster } from '../cluster.ts';
import { hasProc } from '../process-list.ts';
import { scratchFolder } from '../scratch-folder.ts';
import { repetitions } from '../thorough.ts';
import { assertCalm, differences, runOver } from './mutant-run.ts';
import { makeMutant } from './mutate.ts';
import type { Seed } from './seed-images.ts';

// Zarrs with a damaged file each: of metadata, of a chunk or of a shard. As for damaged images, the program must report
// the outcome of each plane, the same for any cut of the work. HALOGRID_MUTANT_ZARRS gives the number of Zarrs,
// HALOGRID_MUTANTS_SEED the seed. It takes as long as three small jobs.

const series = Number(process.env.HALOGRID_MUTANTS_SEED ?? 1);
const count = repetitions('HALOGRID_MUTANT_ZARRS', 40, 1000);
const scratch = scratchFolder();
const source = join(scratch, 'source');
const good = join(scratch, 'good');

const arrays: Record<string, ZarrOfTests> = {
  plain: { shape: [2, 70, 50], chunk: [1, 32, 32], axes: ['z', 'y', 'x'] },
  gzip: {
    shape: [60, 50],
    chunk: [32, 32],
    codecs: [{ name: 'gzip' }],
    encode: (bytes) => gzipSync(bytes),
    pixel: 'u16',
  },
  shards: { shape: [70, 50], chunk: [16, 16], perShard: [2, 2], lacks: ([row]) => row === 1 },
};

let cluster: Cluster;
before(async () => {
  for (const [name, array] of Object.entries(arrays)) await writeZarr(join(good, `${name}.zarr`), array);
  cluster = await Cluster.start({ nodes: 2 });
});
after(async () => {
  if (!cluster) return;
  const programs = [cluster.coordinator, ...cluster.nodes.map(({ program }) => program)];
  await cluster.stop();
  for (const program of programs) assertCalm((await program.ended).stderr);
});

test('planes of damaged Zarrs are merged or quarantined, the same in tiles and batches of any size', {
  skip: hasProc ? false : 'memory is told by /proc',
}, async (t) => {
  const files = readdirSync(good, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const seeds = files.map(({ parentPath, name }): Seed => {
    const path = join(parentPath, name);
    return { name: relative(good, path), bytes: readFileSync(path) };
  });
  for (const name of Object.keys(arrays))
    cpSync(join(good, `${name}.zarr`), join(source, `good-${name}.zarr`), { recursive: true });
  for (let number = 0; number < count; number++) {
    const { name, bytes } = makeMutant(seeds, series, number);
    const [store = '', ...path] = name.split('/');
    cpSync(join(good, store.replace(/^\d+-/, '')), join(source, store), { recursive: true });
    writeFileSync(join(source, store, ...path), bytes);
  }
  let runs = 0;
  const run = (...args: string[]) =>
    runOver(source, join(scratch, `out-${runs++}`), args, 120_000 + 1_000 * count, cluster);
  const whole = await run();
  t.diagnostic(`${whole.merged.size} merged, ${whole.quarantined.size} quarantined`);
  assert.deepEqual(
    [...whole.quarantined].filter(([input]) => input.includes('/good-')),
    [],
  );
  assert.equal([...whole.merged.keys()].filter((input) => input.includes('/good-')).length, 4);
  for (const args of [
    ['--tile', '16'],
    ['--batch', '1'],
  ]) {
    const outcome = await run(...args);
    const different = differences(outcome, whole, !args.includes('--tile'));
    if (different.length > 0) {
      const kept = mkdtempSync(join(tmpdir(), 'halogrid-mutants-'));
      cpSync(source, join(kept, basename(source)), { recursive: true });
      assert.fail(`${different.join('\n')}\nThe files are kept in ${kept}. Again: HALOGRID_MUTANTS_SEED=${series}`);
    }
    assert.equal(outcome.digest, whole.digest);
  }
});
