import { existsSync, globSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { noFfmpeg } from '@halogrid/imaging/testing-videos';
import { makeMutant } from '../../../test/adversarial/mutate.ts';
import { makeSeedImages, type Seed } from '../../../test/adversarial/seed-images.ts';
import { makeSeedTiffs } from '../../../test/adversarial/seed-tiffs.ts';
import { makeSeedVideos } from '../../../test/adversarial/seed-videos.ts';
import { oracleImages } from '../../../test/oracle-cases.ts';

/** A job, or several into the same folder one after another. */
export interface Case {
  /** Name of the inputs. */
  name: string;
  /** Options of `halogrid run`. */
  args: string[];
  runs: Run[];
}

export interface Run {
  source: string;
  /** Files that fill the folder `source` before the run. */
  files?: string[];
}

export interface Asked {
  /** The folder of mutants. */
  folder: string;
  checkout: string;
  mutants: { count: number; seed: number };
  /** Paths of further inputs. */
  inputs: readonly string[];
}

const two = ['--pipeline codes=lbp --pipeline derivatives=ldp:order=3'];

const optionsOf = {
  images: [
    '--op lbp --map tiff',
    '--op lbp:convention=scikit-image,points=16,radius=2,labels=uniform --map zarr --tile 200',
    '--op conv:kernel=gaussian-5,as=u8 --op lbp:points=16,radius=2,labels=uniform --tile 512 --map dzi',
    '--op conv:kernel=gaussian-5 --map tiff --tile 300 --border reflect',
    '--op conv:kernel=gaussian-5,as=u8 --batch 3 --map png',
    '--op ldp:order=3 --grid 4x6',
    '--op ldp:order=2 --border replicate --map tiff --grid 3x3 --tile 100 --batch 1',
    ...two,
  ],
  frames: [
    '--op lbp --batch 5 --map png',
    '--op ldp:order=4 --grid 5x7 --captured-from mtime',
    '--op lbp:points=8,radius=1,labels=ror --captured-zone Europe/Berlin --batch 7',
    ...two,
  ],
  videos: [
    '--op lbp --batch 10',
    '--op ldp:order=2 --grid 3x4 --from 00:00:02 --to 00:00:06 --every 2',
    '--pipeline codes=lbp --pipeline smooth=conv:kernel=box-3,as=u8 --fps 3 --batch 7',
  ],
  mutantImages: [
    '--op lbp --batch 5',
    '--op ldp:order=3 --tile 64 --grid 3x3',
    '--op conv:kernel=gaussian-5,as=u8 --op lbp:points=16,radius=2,labels=uniform --map tiff --batch 500',
    '--pipeline codes=lbp --pipeline smooth=conv:kernel=box-3,as=u8 --batch 1 --border mirror',
  ],
  mutantTiffs: ['--op lbp --batch 7', '--op ldp:order=2 --tile 16 --grid 2x2', two.join(' ')],
  mutantVideos: ['--op lbp --batch 1', '--op ldp:order=3 --grid 2x2 --batch 5', '--every 3 --op lbp --map tiff'],
};

/** All cases. Writes the mutants that they need. */
export async function makeCases({ folder, checkout, mutants, inputs }: Asked): Promise<Case[]> {
  const sample = (name: string) => join(checkout, 'samples', name);
  const of = (name: string, options: keyof typeof optionsOf, ...runs: Run[]): Case[] =>
    optionsOf[options].map((text) => ({ name, args: text.split(' '), runs }));
  const source = join(folder, 'growing');
  const growing = ['street-0*.jpg', 'street-[01]*.jpg'].map((pattern) => ({
    source,
    files: globSync(join(sample('frames'), pattern)),
  }));
  return [
    ...of('sample images', 'images', { source: sample('images') }),
    ...of('sample frames', 'frames', { source: sample('frames') }),
    ...of('sample frames, some of them before all', 'frames', ...growing),
    ...of('sample videos', 'videos', { source: sample('videos') }),
    ...of('the oracle', 'images', { source: oracleImages }),
    ...inputs.flatMap((path) => of(basename(path), 'images', { source: path })),
    ...(await makeMutants(folder, mutants)).flatMap(({ path, options }) =>
      of(basename(path), options, { source: path }),
    ),
  ];
}

/** Files in a folder of mutants. */
const perFolder = 200;

interface MutantKind {
  name: string;
  options: keyof typeof optionsOf;
  /** Its share of all mutants. */
  share: number;
  seeds: Seed[];
  changes?: 'tags';
}

async function makeMutants(
  folder: string,
  { count, seed }: Asked['mutants'],
): Promise<{ path: string; options: keyof typeof optionsOf }[]> {
  const kinds: MutantKind[] = [
    { name: 'images', options: 'mutantImages', share: 0.5, seeds: await makeSeedImages() },
    { name: 'tiffs', options: 'mutantTiffs', share: 0.4, seeds: makeSeedTiffs(), changes: 'tags' },
    { name: 'videos', options: 'mutantVideos', share: 0.1, seeds: noFfmpeg ? [] : makeSeedVideos() },
  ];
  const made: { path: string; options: keyof typeof optionsOf }[] = [];
  for (const { name, options, share, seeds, changes } of kinds) {
    if (seeds.length === 0) continue;
    for (let first = 0; first < share * count; first += perFolder) {
      const path = join(folder, `mutant-${name}-${first}`);
      if (!existsSync(path)) mkdirSync(path, { recursive: true });
      for (let number = first; number < Math.min(first + perFolder, share * count); number++) {
        const mutant = makeMutant(seeds, seed, number, changes);
        writeFileSync(join(path, mutant.name), mutant.bytes);
      }
      made.push({ path, options });
    }
  }
  return made;
}
