import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dziPage, dziScript } from './dzi-page.ts';

test('a page of maps names each with its size, and a name cannot end its script', () => {
  const page = dziPage([{ name: '</script><b>', width: 30_000, height: 20_000 }]);
  const json = /const maps = (.*);$/m.exec(page)![1]!;
  assert.deepEqual(JSON.parse(json), [{ name: '</script><b>', width: 30_000, height: 20_000 }]);
  assert.equal(page.match(/<\/script>/g)!.length, 2);
});

test('a page lists a limited number of maps, and says how many are left out', () => {
  const many = Array.from({ length: 10_002 }, (_, i) => ({ name: `m${i}`, width: 1, height: 1 }));
  assert.match(dziPage(many), /<span>2 more are not listed<\/span>/);
});

test('the script is the library OpenSeadragon', async () => {
  assert.match(Buffer.from(await dziScript()).toString('utf8', 0, 200), /openseadragon/);
});
