import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redactUri } from './access/redact-uri.ts';
import { formatOfName, hasImageExtension } from './formats.ts';
import { toUri } from './listing/to-uri.ts';
import { splitPart } from './part-uri.ts';
import { isPlaneUri, parsePlaneUri, planeUri } from './plane-uri.ts';
import { formatRemoteUri, parseRemoteUri } from './remote/remote-uri.ts';

const file = 'file:///data/a%20b.zarr/0/.zarray';

test('the URI of a plane names the metadata of its array and an index for each axis', () => {
  for (const { axes, indices, selector } of [
    { axes: [], indices: [], selector: '#plane' },
    { axes: ['t', 'c', 'z'], indices: [0, 12, 3], selector: '#t=0&c=12&z=3' },
  ]) {
    const uri = planeUri({ file, axes, indices });
    assert.equal(uri, file + selector);
    assert.deepEqual(parsePlaneUri(uri), { file, axes, indices });
    assert.deepEqual(splitPart(uri), [file, selector]);
  }
  for (const uri of [
    file,
    `${file}#`,
    `${file}#c`,
    `${file}#c=1&`,
    `${file}#c=-1`,
    `${file}#c=1234567890123456`,
    'file:///a.tif#c=1',
  ]) {
    assert.ok(!isPlaneUri(uri), uri);
    assert.deepEqual(splitPart(uri), [uri, '']);
  }
});

test('what selects a plane stays in a URI that is read, and in results, and never gets into a request', () => {
  const cases = [
    [`${file}#c=1`, `${file}#c=1`],
    ['https://h/x.zarr/zarr.json?key=1#c=1&z=2', 'https://h/x.zarr/zarr.json?redacted#c=1&z=2'],
    ['s3://bucket/x.zarr/zarr.json#plane', 's3://bucket/x.zarr/zarr.json#plane'],
  ] as const;
  for (const [uri, shown] of cases) {
    assert.equal(toUri(uri, '/'), uri);
    assert.equal(redactUri(uri).replace(/redacted-[0-9a-f]{8}/, 'redacted'), shown);
    assert.equal(formatOfName(uri), 'zarr');
    if (!uri.startsWith('file:')) assert.equal(formatRemoteUri(parseRemoteUri(uri)), uri);
  }
  // A path that only looks so is a name.
  assert.equal(toUri('x.zarr/zarr.json#c=1', '/'), 'file:///x.zarr/zarr.json%23c=1');
  assert.ok(!hasImageExtension('zarr.json') && hasImageExtension('x.ome.ZARR'));
});
