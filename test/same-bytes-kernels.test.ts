import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseOperation } from '@halogrid/kernels';
import { Cluster } from './cluster.ts';
import { hashFiles, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { isThorough } from './thorough.ts';

// Whatever the kernels: the same digest, maps, features and previews, however the images are cut and whatever computes.

const folder = scratchFolder();
const sources = (isThorough ? ['bark.webp', 'cloth.jpg'] : ['cloth.jpg']).map((name) => {
  return fileURLToPath(new URL(`../samples/images/${name}`, import.meta.url));
});
const clusters: Record<string, Cluster> = {};

before(async () => {
  const [cpu, software] = await Promise.all(['cpu', 'software'].map((device) => Cluster.start({ nodes: 1, device })));
  Object.assign(clusters, { cpu, software });
  if (!isThorough) return;
  clusters.mixed = await Cluster.start({ nodes: 1 });
  await clusters.mixed.startNode('other', 'software');
});
after(() => Promise.all(Object.values(clusters).map((cluster) => cluster.stop())));

const grid = { rows: 3, columns: 2 };
const jobs: { ops: string[]; border?: string; grid?: typeof grid }[] = [
  { ops: ['ldp:order=4'], grid },
  { ops: ['conv:kernel=gaussian-7,as=u8', 'lbp:points=12,radius=1.5,labels=uniform'], border: 'mirror', grid },
  { ops: ['conv:kernel=sharpen-3,as=u8,channels=rgb', 'conv:kernel=sobel,as=u8,channels=rgb'], border: 'wrap' },
  { ops: ['lbp:points=16,radius=2,labels=ror'] },
];

for (const { ops, border, grid } of jobs) {
  test([...ops, border ?? 'default borders', grid ? 'with a grid' : ''].join(' '), async () => {
    const operations = ops.map(parseOperation);
    const outcomes = await Promise.all(
      [['cpu', 0], ['cpu', 97], ['software', 0], ...(isThorough ? [['mixed', 300]] : [])].map(async ([on, tilePx]) => {
        const out = join(folder, `${ops.join('-').replaceAll(/\W/g, '-')}-${on}-${tilePx}`);
        const request = { sources, out, operations, grid, map: 'tiff', tilePx: tilePx as number } as const;
        await clusters[on!]!.jobs.run({ ...request, ...(border && { border }) });
        const { 'job.json': _, ...files } = hashFiles(out);
        return { digest: readJson(out, 'job.json').digest, files };
      }),
    );
    for (const outcome of outcomes) assert.deepEqual(outcome, outcomes[0]);
    assert.ok('features.parquet' in outcomes[0]!.files);
  });
}
