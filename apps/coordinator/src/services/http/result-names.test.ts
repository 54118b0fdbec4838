import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { resultNames } from './result-names.ts';

const table: [rest: string, names: string[] | undefined][] = [
  ['job.json', ['job.json']],
  ['maps/a%20b.zarr/0/zarr.json', ['maps', 'a b.zarr', '0', 'zarr.json']],
  ['preview/100%25.png', ['preview', '100%.png']],
  ['preview/..hidden.png', ['preview', '..hidden.png']],
  ['..', undefined],
  ['maps/../../secret', undefined],
  ['maps/%2e%2e/job.json', undefined],
  ['maps/%2E%2E%2Fsecret', undefined],
  ['maps/..%5csecret', undefined],
  ['maps/a%00.tif', undefined],
  ['maps//a.tif', undefined],
  ['maps/', undefined],
  ['/etc/passwd', undefined],
  ['%2fetc%2fpasswd', undefined],
  ['.halogrid/histograms', undefined],
  ['notes.txt', undefined],
  ['maps/%ff', undefined],
];

for (const [rest, expected] of table) {
  test(`results/${rest} is ${expected ? 'a file' : 'none'}`, () => assert.deepEqual(resultNames(rest), expected));
}

test('no name of a file leads out of the folder, whatever is asked for', () => {
  const piece = fc.oneof(
    fc.constantFrom('..', '.', '/', '%2e', '%2f', '%5c', '\\', '%00', 'maps', 'job.json'),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      for (const name of resultNames(pieces.join('')) ?? []) {
        assert.ok(name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name), name);
      }
    }),
  );
});
