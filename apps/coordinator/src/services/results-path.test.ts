import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseResultsPath, type ResultsRequest } from './results-path.ts';

const file = (...names: string[]): ResultsRequest => ({ kind: 'file', jobId: 'j', names });
const none: ResultsRequest = { kind: 'none', jobId: 'j' };

const table: [string, ResultsRequest | undefined][] = [
  ['/api/v1/jobs/j/results', { kind: 'list', jobId: 'j' }],
  ['/api/v1/jobs/j/results/', { kind: 'list', jobId: 'j' }],
  ['/api/v1/jobs/j/results/job.json', file('job.json')],
  ['/api/v1/jobs/j/results/maps/a%20b.zarr/0/zarr.json', file('maps', 'a b.zarr', '0', 'zarr.json')],
  ['/api/v1/jobs/j/results/preview/100%25.png', file('preview', '100%.png')],
  ['/api/v1/jobs/j/results/preview/..hidden.png', file('preview', '..hidden.png')],
  ['/api/v1/jobs/j/results/..', none],
  ['/api/v1/jobs/j/results/maps/../../secret', none],
  ['/api/v1/jobs/j/results/maps/%2e%2e/job.json', none],
  ['/api/v1/jobs/j/results/maps/%2E%2E%2Fsecret', none],
  ['/api/v1/jobs/j/results/maps/..%5csecret', none],
  ['/api/v1/jobs/j/results/maps/a%00.tif', none],
  ['/api/v1/jobs/j/results/maps//a.tif', none],
  ['/api/v1/jobs/j/results/maps/', none],
  ['/api/v1/jobs/j/results//etc/passwd', none],
  ['/api/v1/jobs/j/results/%2fetc%2fpasswd', none],
  ['/api/v1/jobs/j/results/.halogrid/histograms', none],
  ['/api/v1/jobs/j/results/notes.txt', none],
  ['/api/v1/jobs/j/results/maps/%ff', none],
  ['/api/v1/jobs/j', undefined],
  ['/api/v1/jobs/j/resultsx', undefined],
  ['/api/v1/jobs//results', undefined],
  ['/api/v1/jobs/%/results', undefined],
  ['/api/v2/jobs/j/results', undefined],
];

for (const [path, expected] of table) {
  test(`GET ${path}: ${expected?.kind ?? 'not asked for'}`, () => assert.deepEqual(parseResultsPath(path), expected));
}

test('no name of a file leads out of the folder, whatever is asked for', () => {
  const piece = fc.oneof(
    fc.constantFrom('..', '.', '/', '%2e', '%2f', '%5c', '\\', '%00', 'maps', 'job.json'),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const request = parseResultsPath(`/api/v1/jobs/j/results/${pieces.join('')}`);
      for (const name of request?.kind === 'file' ? request.names : []) {
        assert.ok(name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name), name);
      }
    }),
  );
});
