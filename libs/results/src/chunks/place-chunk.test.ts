import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { readPlace, writePlace } from './place-chunk.ts';

const folder = await mkdtemp(join(tmpdir(), 'halogrid-place-'));
after(() => rm(folder, { recursive: true, force: true }));
const of = (source: number) => ({ scratch: pathToFileURL(folder).href, source, size: { width: 9, height: 7 } });
const place = {
  tags: [
    { tag: 33550, values: [10, 0.1, 5e-324] },
    { tag: 34735, values: [1, 1, 0, 1, 3072, 0, 1, 32632] },
    { tag: 34737, values: 'grün|' },
  ],
};

test('a place is read as it was written; a source without one has none', async () => {
  await writePlace(of(0), place);
  assert.deepEqual(await readPlace(of(0)), place);
  assert.equal(await readPlace(of(1)), undefined);
});

for (const [what, text] of [
  ['nothing', ''],
  ['half of it', JSON.stringify(place).slice(0, 40)],
  ['another value', '7'],
  ['no tags', '{"tags":[]}'],
  ['an unknown tag', '{"tags":[{"tag":256,"values":[1]}]}'],
  ['tags in another order', '{"tags":[{"tag":33922,"values":[1]},{"tag":33550,"values":[1]}]}'],
  ['text for numbers', '{"tags":[{"tag":33550,"values":"1"}]}'],
  ['a number that is none', '{"tags":[{"tag":33550,"values":[null]}]}'],
  ['a key that is not short', '{"tags":[{"tag":34735,"values":[65536]}]}'],
] as const) {
  test(`${what} in place of a place is an error`, async () => {
    await writePlace(of(2), place);
    await writeFile(join(folder, 'place/2/0-0-9-7.u8'), text);
    await assert.rejects(readPlace(of(2)), /^Error: The place chunk '.*0-0-9-7\.u8' is damaged$/);
  });
}
