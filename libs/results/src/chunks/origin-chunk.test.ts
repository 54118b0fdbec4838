import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { readOrigin, writeOrigin } from './origin-chunk.ts';

const folder = await mkdtemp(join(tmpdir(), 'halogrid-origin-'));
after(() => rm(folder, { recursive: true, force: true }));
const of = (source: number) => ({ scratch: pathToFileURL(folder).href, source, size: { width: 9, height: 7 } });
const place = {
  tags: [
    { tag: 33550, values: [10, 0.1, 5e-324] },
    { tag: 34735, values: [1, 1, 0, 1, 3072, 0, 1, 32632] },
    { tag: 34737, values: 'grün|' },
  ],
};

test('an origin is read as it was written', async () => {
  const origins = [{ place }, { hasNoData: true }, { place, hasNoData: true }, {}];
  for (const [source, origin] of origins.entries()) {
    await writeOrigin(of(source), origin);
    assert.deepEqual(await readOrigin(of(source)), origin);
  }
});

for (const [what, text] of [
  ['nothing', ''],
  ['half of it', JSON.stringify({ place }).slice(0, 40)],
  ['another value', '7'],
  ['another place', '{"place":7}'],
  ['another answer', '{"hasNoData":1}'],
  ['no tags', '{"place":{"tags":[]}}'],
  ['an unknown tag', '{"place":{"tags":[{"tag":256,"values":[1]}]}}'],
  ['tags in another order', '{"place":{"tags":[{"tag":33922,"values":[1]},{"tag":33550,"values":[1]}]}}'],
  ['text for numbers', '{"place":{"tags":[{"tag":33550,"values":"1"}]}}'],
  ['a number that is none', '{"place":{"tags":[{"tag":33550,"values":[null]}]}}'],
  ['a key that is not short', '{"place":{"tags":[{"tag":34735,"values":[65536]}]}}'],
] as const) {
  test(`${what} instead of an origin is an error`, async () => {
    await writeOrigin(of(2), { place });
    await writeFile(join(folder, 'origin/2/0-0-9-7.u8'), text);
    await assert.rejects(readOrigin(of(2)), /^Error: The origin chunk '.*0-0-9-7\.u8' is damaged$/);
  });
}
