import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { height, noFfmpeg, width } from '@halogrid/imaging/testing-videos';
import { isThorough, sampled } from '@halogrid/testing';
import { Cluster } from '../cluster.ts';
import { lbpByDefinition } from '../lbp-definition.ts';
import { hasProc } from '../process-list.ts';
import { scratchFolder } from '../scratch-folder.ts';
import { repetitions } from '../thorough.ts';
import { assertCalm, differences, type Outcome, runOver } from './mutant-run.ts';
import { makeMutant } from './mutate.ts';
import { decodeByOthers, decodeVideoByOthers, readTiffsByGdal } from './reference-decoders.ts';
import { makeSeedImages, type Seed } from './seed-images.ts';
import { isMisread, makeSeedTiffs } from './seed-tiffs.ts';
import { makeSeedVideos } from './seed-videos.ts';

// Damaged files of every format, made from good ones by a seeded generator. The program must end, report the outcome of
// each file, and report the same for any cut of the work. HALOGRID_MUTANTS and HALOGRID_MUTANT_VIDEOS give the numbers
// of files, HALOGRID_MUTANTS_SEED the seed; HALOGRID_MUTANT takes only one file.

const series = Number(process.env.HALOGRID_MUTANTS_SEED ?? 1);
const one = process.env.HALOGRID_MUTANT;
const skip = hasProc ? false : 'memory is told by /proc';
const scratch = scratchFolder();

interface Kind {
  /** Used in the name of the test. */
  name: string;
  count: number;
  seeds: () => Promise<Seed[]> | Seed[];
  /** The kinds of changes; all unless given. */
  changes?: 'tags';
  skip: string | false;
  /** Options of runs that must give the same as a run without options; runs without --device use two nodes. */
  cuts: string[][];
  /** Asserts that the merged results match what other programs read. */
  compare(t: TestContext, outcome: Outcome, wrong: (inputs: readonly string[], what: string) => void): Promise<void>;
}

const imageCount = repetitions('HALOGRID_MUTANTS', 6, 100);
const isLarge = process.env.HALOGRID_MUTANTS !== undefined;
/** How many images are compared with other programs, others in each run; all if many are asked for. */
const comparedImages = isLarge ? Infinity : 12;

const kinds: Kind[] = [
  {
    name: 'images',
    count: imageCount,
    seeds: makeSeedImages,
    skip,
    cuts: [
      ['--batch', '5'],
      ['--tile', '64', '--batch', '1'],
      ...(isThorough
        ? [
            ['--batch', '1'],
            ['--batch', '500'],
            ['--tile', '64'],
          ]
        : []),
      ...(isLarge ? [['--device', 'software']] : []),
    ],
    compare: compareImages,
  },
  {
    name: 'directories of TIFF',
    count: repetitions('HALOGRID_MUTANT_TIFFS', 60, 1000),
    seeds: makeSeedTiffs,
    changes: 'tags',
    skip,
    cuts: [
      ['--batch', '7', '--tile', '16'],
      ...(isThorough
        ? [
            ['--batch', '7'],
            ['--tile', '16'],
          ]
        : []),
    ],
    compare: compareTiffs,
  },
  {
    name: 'videos',
    count: repetitions('HALOGRID_MUTANT_VIDEOS', 2, 10),
    seeds: makeSeedVideos,
    skip: skip || noFfmpeg,
    cuts: [
      ['--batch', '5'],
      ...(isThorough
        ? [
            ['--batch', '1'],
            ['--batch', '500'],
          ]
        : []),
    ],
    compare: compareVideos,
  },
];

let cluster: Cluster;
before(async () => {
  if (kinds.some(({ skip }) => !skip)) cluster = await Cluster.start({ nodes: 2 });
});
after(async () => {
  if (!cluster) return;
  const programs = [cluster.coordinator, ...cluster.nodes.map(({ program }) => program)];
  await cluster.stop();
  for (const program of programs) assertCalm((await program.ended).stderr);
});

for (const { name, count, seeds: makeSeeds, changes, skip, cuts, compare } of kinds) {
  describe(`mutants of ${name}`, { skip }, () => {
    const source = join(scratch, name.replaceAll(' ', '-'));
    // The time after which the run counts as hanging: even a very busy machine takes less than a second per file.
    const maxMs = 120_000 + 1_000 * count;
    let whole: Outcome;
    let runs = 0;

    /** Fails the test. Keeps the files of the inputs (all if none is named), and says how to make them again. */
    const wrong = (inputs: readonly string[], what: string): never => {
      const kept = mkdtempSync(join(tmpdir(), 'halogrid-mutants-'));
      const files = [...new Set(inputs.map((input) => fileURLToPath(input.replace(/#.*/, ''))))];
      for (const file of files.length > 0 ? files : [source])
        cpSync(file, join(kept, basename(file)), { recursive: true });
      const number = /^\d+/.exec(basename(files[0] ?? ''))?.[0];
      const settings = `HALOGRID_MUTANTS_SEED=${series}${number ? ` HALOGRID_MUTANT=${Number(number)}` : ''}`;
      const command = `node --test --test-name-pattern='${name}' test/adversarial/mutants.test.ts`;
      assert.fail(`${what}\nThe files are kept in ${kept}. Again: ${settings} ${command}`);
    };

    const run = async (args: readonly string[], on?: Cluster): Promise<Outcome> => {
      const out = `${source}-${runs++}`;
      return runOver(source, out, args, maxMs, on).catch((error) => wrong([], (error as Error).message));
    };

    before(async () => {
      mkdirSync(source);
      const seeds = await makeSeeds();
      const numbers = one === undefined ? Array.from({ length: count }, (_, i) => i) : [Number(one)];
      for (const number of numbers) {
        const mutant = makeMutant(seeds, series, number, changes);
        writeFileSync(join(source, mutant.name), mutant.bytes);
        if (one !== undefined) console.log(`${mutant.name}: ${mutant.changes.join(', ')}`);
      }
      // The good files are beside the mutants, and must not be affected by them.
      for (const seed of seeds) writeFileSync(join(source, `good-${seed.name}`), seed.bytes);
      // Only one kind runs with separate processes, because these take a second of a core.
      whole = await (name === 'images' ? run(['--device', 'cpu']) : run([], cluster));
      const blamed = [...whole.quarantined].filter(([input]) => input.includes('/good-'));
      assert.deepEqual(blamed, []);
      assert.equal(
        new Set([...whole.merged.keys()].filter((input) => input.includes('/good-')).map(fileOf)).size,
        seeds.length,
      );
    });

    test('each is merged or quarantined', (t) => {
      t.diagnostic(`${whole.merged.size} merged, ${whole.quarantined.size} quarantined`);
    });

    for (const args of cuts) {
      test(`the same with ${args.join(' ')}`, async () => {
        const outcome = await run(args, args.includes('--device') ? undefined : cluster);
        // With tiles, damage is found at another place, so sentences may differ.
        const different = differences(outcome, whole, !args.includes('--tile'));
        if (different.length > 0) wrong(different, `${different.length} differ:\n${different.slice(0, 20).join('\n')}`);
        assert.equal(outcome.digest, whole.digest);
      });
    }

    test('files that other programs decode silently have the same merged results', (t) => compare(t, whole, wrong));
  });
}

const fileOf = (input: string): string => input.replace(/#.*/, '');

async function compareImages(
  t: TestContext,
  { merged }: Outcome,
  wrong: (inputs: string[], what: string) => void,
): Promise<void> {
  const different: string[] = [];
  const untold = new Map<string, number>();
  let compared = 0;
  // Each is decoded by a process of its own.
  const queue = sampled([...merged], comparedImages);
  const work = async (): Promise<void> => {
    for (let next = queue.pop(); next; next = queue.pop()) {
      const [input, bins] = next;
      const path = fileURLToPath(fileOf(input));
      const reference = await decodeByOthers(path, readFileSync(path));
      if ('none' in reference) {
        untold.set(reference.none, (untold.get(reference.none) ?? 0) + 1);
        continue;
      }
      compared++;
      const expected = lbpByDefinition(reference.picture, 'interior', 'nw-cw-msb').bins;
      if (String(expected) !== String(bins)) different.push(input);
    }
  };
  await Promise.all([work(), work(), work()]);
  const others = [...untold].map(([why, count]) => `${why}: ${count}`).join('; ');
  t.diagnostic(`${compared} of ${merged.size} compared; ${others}`);
  if (different.length > 0) wrong(different, `Others decode them differently:\n${different.join('\n')}`);
}

/** Compares with GDAL, if it is installed, for files that it reads without a warning. */
async function compareTiffs(
  t: TestContext,
  { merged }: Outcome,
  wrong: (inputs: string[], what: string) => void,
): Promise<void> {
  const inputs = [...merged].filter(([input]) => !isMisread(input));
  const references = await readTiffsByGdal(inputs.map(([input]) => fileURLToPath(fileOf(input))));
  const compared = inputs.flatMap(([input, bins], i) => {
    const reference = references?.[i];
    return reference && 'picture' in reference ? [{ input, bins, picture: reference.picture }] : [];
  });
  const different = compared.filter(
    ({ bins, picture }) => String(lbpByDefinition(picture, 'interior', 'nw-cw-msb').bins) !== String(bins),
  );
  t.diagnostic(references ? `${compared.length} of ${merged.size} compared` : 'GDAL is not installed');
  if (different.length === 0) return;
  const names = different.map(({ input }) => input);
  wrong(names, `GDAL reads them differently:\n${names.join('\n')}`);
}

async function compareVideos(
  t: TestContext,
  outcome: Outcome,
  wrong: (inputs: string[], what: string) => void,
): Promise<void> {
  const { merged, quarantined } = outcome;
  const files = new Set([...merged.keys()].map(fileOf));
  const different: string[] = [];
  let frames = 0;
  for (const file of files) {
    const gray = await decodeVideoByOthers(fileURLToPath(file));
    const bytes = width * height;
    const all = [...merged.keys(), ...quarantined.keys()].filter((input) => fileOf(input) === file).length;
    // After a change of the header, frames may have another size, or other programs may find more or fewer frames.
    if (!gray || gray.length !== all * bytes) continue;
    for (let frame = 0; frame < all; frame++) {
      const bins = merged.get(`${file}#${frame}`);
      if (!bins) continue;
      frames++;
      const picture = { width, height, pixels: new Uint8Array(gray.subarray(frame * bytes, (frame + 1) * bytes)) };
      if (String(lbpByDefinition(picture, 'interior', 'nw-cw-msb').bins) !== String(bins))
        different.push(`${file}#${frame}`);
    }
  }
  t.diagnostic(`${frames} of ${merged.size} frames compared`);
  assert.ok(one !== undefined || frames > 0);
  if (different.length > 0) wrong(different, `ffmpeg decodes them differently:\n${different.join('\n')}`);
}
