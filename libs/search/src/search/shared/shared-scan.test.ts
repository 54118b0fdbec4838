import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { pause } from '@halogrid/testing';
import fc from 'fast-check';
import { distanceNames } from '../../distances/distance-names.ts';
import { closeCatalog, openCatalog } from '../../store/open-catalog.ts';
import { blocksOfIndex, queryVector } from '../../store/read-block.ts';
import { makeIndex, tiedFrames } from '../../testing/made-index.ts';
import { SearchIndex, type SearchRequest } from '../search-index.ts';
import { ThreadScan } from '../thread-scan.ts';
import { TwinScan } from '../twin-scan.ts';
import { indexVersion } from './index-version.ts';
import { hitsOf, rankingsMessage, wantedMessage, wantedOf } from './part-message.ts';
import { type Looked, type PartNode, SharedScan, type SharedScanOptions } from './shared-scan.ts';

/** What a node does when it is asked. */
type Nature = 'good' | 'refuses' | 'late' | 'silent' | 'unordered' | 'elsewhere' | 'greedy';
const natures: readonly Nature[] = ['good', 'refuses', 'late', 'silent', 'unordered', 'elsewhere', 'greedy'];

/** Frames of several sizes and many ties, in several segments, so that there are many small blocks. */
const frames = [...tiedFrames(240, 3, 3)].map((frame, i) => ({
  ...frame,
  capturedAtMs: i % 11 === 0 ? null : 1000 * i,
  camera: [null, 'north', 'south'][i % 3]!,
}));
const jobs = Array.from({ length: 8 }, (_, i) => frames.slice(30 * i, 30 * (i + 1)));

/** The folder of an index, and nodes that open it themselves and speak in messages. */
async function setNodes(t: TestContext) {
  const folder = await makeIndex(t, jobs);
  const catalog = await openCatalog(folder);
  t.after(() => closeCatalog(catalog));
  const threads = new ThreadScan(catalog, { threads: 0 });
  const blocks = blocksOfIndex(catalog);
  const node = (nature: Nature, i: number): PartNode => ({
    id: `node-${i}`,
    device: 'cpu',
    find: async ({ first, end }, wanted) => {
      const order = { search: 1, index: '', version: '', firstBlock: first, endBlock: end, ...wantedMessage(wanted) };
      const part =
        nature === 'elsewhere' ? blocks.filter((_, at) => at < first || at >= end) : blocks.slice(first, end);
      const asked = wantedOf(order, catalog.pipeline);
      const found = await threads.findIn(part, nature === 'greedy' ? { ...asked, top: asked.top + 1 } : asked);
      if (nature === 'refuses') throw new Error('The index there is another one, or another version of it');
      if (nature === 'late') await pause(3);
      if (nature === 'silent') await new Promise(() => {});
      const message = { rankings: rankingsMessage(found) };
      if (nature === 'unordered') for (const { hits } of message.rankings) hits.reverse();
      return hitsOf(message);
    },
  });
  return { folder, catalog, node };
}

const shared = (folder: string, options: SharedScanOptions): Promise<SearchIndex> =>
  SearchIndex.openWith(folder, async (catalog) => new SharedScan(catalog, { leastBytes: 1, ...options }));

test('hits do not depend on the nodes, their number, the cut, or their failures', async (t) => {
  const { folder, catalog, node } = await setNodes(t);
  const twin = await SearchIndex.openWith(folder, async (opened) => new TwinScan(opened));
  t.after(() => twin.close());
  const request = fc.record({
    query: fc.nat({ max: frames.length - 1 }),
    distance: fc.constantFrom(...distanceNames),
    top: fc.integer({ min: 1, max: 40 }),
    perSource: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
    within: fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined }),
    unit: fc.constantFrom('frame' as const, 'cell' as const),
    filter: fc.record(
      {
        sinceMs: fc.nat({ max: 240_000 }),
        untilMs: fc.nat({ max: 240_000 }),
        camera: fc.constantFrom('north', 'west'),
      },
      { requiredKeys: [] },
    ),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...natures), { maxLength: 5 }),
      fc.array(request, { minLength: 1, maxLength: 3 }),
      fc.integer({ min: 1, max: 40_000 }),
      async (kinds, requests, leastBytes) => {
        const nodes = kinds.map(node);
        const index = await shared(folder, { nodes: () => nodes, patienceMs: () => 1, leastBytes });
        try {
          // Searches change what is known of nodes, and with that the cut.
          for (const { query, perSource, within, ...rest } of requests) {
            const vector = queryVector(catalog.pipeline, frames[query]!.cells[0]!, rest.unit);
            if (vector.mass === 0) continue;
            const asked: SearchRequest = {
              ...rest,
              queries: [vector],
              ...(perSource !== undefined && { perSource }),
              ...(within !== undefined && { within }),
            };
            assert.deepEqual(await index.search(asked), await twin.search(asked));
          }
        } finally {
          await index.close();
        }
      },
    ),
    { numRuns: 60 },
  );
});

test('searchers are reported, and a node that does not answer well gets no part for a while', async (t) => {
  const { folder, catalog, node } = await setNodes(t);
  const queries = [queryVector(catalog.pipeline, frames[7]!.cells[0]!, 'frame')];
  const request = { queries, distance: 'chi2', top: 3, unit: 'frame' } as const;
  let looked: Looked[] = [];
  const failed: string[] = [];
  let nodes = [node('good', 1), node('refuses', 2)];
  const index = await shared(folder, {
    nodes: () => nodes,
    looked: (part) => looked.push(part),
    note: (id, why) => failed.push(`${id}: ${why}`),
    patienceMs: () => 600_000,
    asideMs: 600_000,
  });
  t.after(() => index.close());
  const framesBy = (): Record<string, number> => {
    const sums: Record<string, number> = {};
    for (const { by, frames: some } of looked) sums[by] = (sums[by] ?? 0) + some;
    looked = [];
    return sums;
  };
  await index.search(request);
  assert.deepEqual(Object.keys(framesBy()).sort(), ['coordinator', 'cpu']);
  assert.deepEqual(failed, ['node-2: The index there is another one, or another version of it']);
  await index.search(request);
  assert.deepEqual(framesBy(), { cpu: frames.length });
  nodes = [];
  await index.search(request);
  assert.deepEqual(framesBy(), { coordinator: frames.length });
});

test('an index that is extended is of another version', async (t) => {
  const [one, other] = [await makeIndex(t, jobs.slice(0, 2)), await makeIndex(t, jobs.slice(0, 3))];
  const versions: string[] = [];
  for (const folder of [one, one, other]) {
    const catalog = await openCatalog(folder);
    versions.push(indexVersion(catalog));
    closeCatalog(catalog);
  }
  assert.equal(versions[0], versions[1]);
  assert.notEqual(versions[0], versions[2]);
});
