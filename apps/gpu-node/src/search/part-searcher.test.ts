import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { SearchPart } from '@halogrid/proto';
import {
  blocksOfIndex,
  closeCatalog,
  distanceNames,
  hitsOf,
  type IndexScan,
  indexVersion,
  openCatalog,
  queryVector,
  TwinScan,
  wantedMessage,
} from '@halogrid/search';
import { makeIndex, tiedFrames } from '@halogrid/search/testing';
import { restrictSources, unrestricted } from '@halogrid/sources';
import { testedKind } from '../devices/testing/verify-against-reference.ts';
import { openGpuScan } from './open-scan.ts';
import { PartSearcher } from './part-searcher.ts';

const frames = [...tiedFrames(400, 3, 3)];

test('threads search a part until the device has loaded it, and the answers are the same', async (t) => {
  const folder = await makeIndex(
    t,
    [0, 1, 2, 3].map((i) => frames.slice(100 * i, 100 * (i + 1))),
  );
  const catalog = await openCatalog(folder);
  t.after(() => closeCatalog(catalog));
  const twin = new TwinScan(catalog);
  const opened = Promise.withResolvers<void>();
  let [loads, byDevice] = [0, 0];
  const searcher = new PartSearcher({
    note: assert.fail,
    loadPart: async (of, options): Promise<IndexScan> => {
      loads++;
      const scan = await openGpuScan(testedKind, of, { ...options, spareBytes: 0 });
      // The searcher gets the scan before the code that awaits `opened` continues.
      setImmediate(() => opened.resolve());
      return {
        find: (wanted) => {
          byDevice++;
          return scan.find(wanted);
        },
        close: () => scan.close(),
      };
    },
  });
  t.after(() => searcher.close());
  const [index, version] = [pathToFileURL(folder).href, indexVersion(catalog)];
  const place = { search: 7, index, version, firstBlock: 0, endBlock: blocksOfIndex(catalog).length };
  const asked = async (distance: (typeof distanceNames)[number]): Promise<void> => {
    const queries = [queryVector(catalog.pipeline, frames[9]!.cells[0]!, 'frame')];
    const wanted = { queries, distance, top: 20, unit: 'frame' as const, filter: {} };
    const found = await searcher.search(SearchPart.fromPartial({ ...place, ...wantedMessage(wanted) }));
    assert.equal(found.error, '');
    assert.deepEqual(hitsOf(found), await twin.find(wanted), distance);
  };
  for (const distance of distanceNames) await asked(distance);
  await opened.promise;
  byDevice = 0;
  for (const distance of distanceNames) await asked(distance);
  assert.deepEqual([loads, byDevice], [1, distanceNames.length]);
});

test('if a part cannot be searched, a sentence says why', async (t) => {
  const folder = await makeIndex(t, [frames.slice(0, 50)]);
  const catalog = await openCatalog(folder);
  t.after(() => closeCatalog(catalog));
  t.after(() => restrictSources(unrestricted));
  const searcher = new PartSearcher({ note: assert.fail });
  t.after(() => searcher.close());
  const [index, version] = [pathToFileURL(folder).href, indexVersion(catalog)];
  const queries = [queryVector(catalog.pipeline, frames[9]!.cells[0]!, 'frame')];
  const wanted = wantedMessage({ queries, distance: 'l1', top: 3, unit: 'frame', filter: {} });
  const order = SearchPart.fromPartial({ search: 1, index, version, firstBlock: 0, endBlock: 1, ...wanted });
  const table: [Partial<SearchPart>, RegExp][] = [
    [{ version: '0'.repeat(64) }, /^The index there is another one, or another version of it$/],
    [{ index: `${index}-gone` }, /^There is no index in '.+-gone'/],
    [{ index: 'https://example.com/index' }, /must be of scheme file/],
    [{ endBlock: 99 }, /^Expected blocks of the \d+ in the index but received 0 to 99$/],
    [{ firstBlock: 1 }, /^Expected blocks of the \d+ in the index but received 1 to 1$/],
    [{ queries: [{ counts: [1, 2] }] }, /^Expected queries of 64 counts but received others$/],
    [{ distance: 'l2' }, /^This version of halogrid has no distance 'l2'$/],
  ];
  for (const [change, sentence] of table) {
    const { search, rankings, error } = await searcher.search({ ...order, ...change });
    assert.deepEqual([search, rankings.length], [1, 0]);
    assert.match(error, sentence);
  }
  restrictSources({ roots: ['/nowhere'], hosts: [] });
  assert.match((await searcher.search(order)).error, /outside of the data roots/);
});
