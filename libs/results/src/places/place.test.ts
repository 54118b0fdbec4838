import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setEnvironment } from '@halogrid/sources/testing-files';
import { startTestS3, type TestS3, type TestS3Options } from '@halogrid/sources/testing-servers';
import fc from 'fast-check';
import { SourceList } from '../sources/source-list.ts';
import { temporaryFolder } from '../testing/maps.ts';
import { type Place, PlaceError, placeAt, placeOfUri } from './place-at.ts';
import { wholeFile } from './whole-file.ts';

// Readers of outputs ask a place and nothing else. So if the two kinds of place answer alike, whatever the store does,
// each reader reads buckets as it reads folders.

const options = { accessKeyId: 'AK', secretAccessKey: 'SK', region: 'us-east-1', bucket: 'results' };

async function startStore(t: TestContext, more: Partial<TestS3Options> = {}): Promise<TestS3> {
  const server = await startTestS3({ ...options, ...more });
  t.after(() => server.close());
  setEnvironment(t, server.environment);
  return server;
}

const files: Record<string, string> = {
  'job.json': '{ "id": "j" }',
  'errors.jsonl': '',
  'preview/a b+ü%#1.png': 'picture',
  'preview/b.source.jpg': 'other',
  'pipelines/p/histogram.json': '{}',
  'maps/m.zarr/c/0/0': 'x'.repeat(1000),
  '.halogrid/claims/00000001.json': '{}',
};

const pathsOf = (place: Place): Record<string, Place> => ({
  top: place,
  nothing: place.in('nothing'),
  folder: place.in('maps', 'm.zarr'),
  ...Object.fromEntries(Object.keys(files).map((name) => [name, place.in(name)])),
});

/** All that a place tells of itself and of what is in it. */
async function answers(place: Place): Promise<object> {
  const found: Record<string, unknown> = {};
  for (const [name, each] of Object.entries(pathsOf(place))) {
    const file = await each.file();
    const text = await wholeFile(each);
    found[name] = {
      bytes: file?.sizeBytes,
      text: text?.toString(),
      parts: file && (await Promise.all([file.read(2, 5), file.read(5, 1e6), file.read(1e6, 2e6)])).map(String),
      stream: file && Buffer.concat(await Array.fromAsync(file.stream(1, 900))).toString(),
      entries: (await each.entries())?.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      below: (await Array.fromAsync(each.files((entry) => !entry.startsWith('.')))).map(({ name }) => name).sort(),
    };
  }
  return found;
}

async function fill(t: TestContext, server: TestS3): Promise<string> {
  const folder = await temporaryFolder(t);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
    server.objects.set(`an output/${name}`, Buffer.from(text));
  }
  return folder;
}

test('a bucket answers as a folder, also while it throttles, drops connections and loses answers', async (t) => {
  const kinds = ['busy', 'drop', 'cut'] as const;
  let requests = 0;
  const server = await startStore(t, {
    pageKeys: 2,
    fault: () => (++requests % 15 === 0 ? kinds[(requests / 15) % kinds.length] : undefined),
  });
  const folder = await fill(t, server);
  // Links may lead out of the output, and some programs mark folders by objects.
  await symlink('/etc/hostname', join(folder, 'link'));
  server.objects.set('an output/maps/', Buffer.alloc(0));
  const there = await answers(placeAt(folder));
  assert.deepEqual(await answers(placeAt('s3://results/an output/')), there);
  assert.ok(requests > 45, 'each kind of failure came');
});

test('a place is found again by its text and its URI', async (t) => {
  const folder = await temporaryFolder(t);
  for (const at of [folder, 's3://results', 's3://results/an output']) {
    const place = placeAt(at).in('preview', 'a b.png');
    assert.equal(placeAt(place.at).at, place.at);
    assert.equal(placeOfUri(place.uri).at, place.at);
    assert.equal(place.at, `${at}/preview/a b.png`);
  }
});

test('a list of sources in a bucket is read as in a folder, by number and by URI', async (t) => {
  const server = await startStore(t);
  const folder = await temporaryFolder(t);
  const text = fc.string({ unit: 'grapheme', maxLength: 9 });
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(text, { minLength: 1, maxLength: 9 }), async (uris) => {
      const lines = [{ file: 'sources', format: 1 }, ...uris.map((uri) => ({ uri, quarantined: true }))];
      const list = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
      await writeFile(join(folder, 'sources.jsonl'), list);
      server.objects.set('job/sources.jsonl', Buffer.from(list));
      const [here, there] = [(await SourceList.open(folder))!, (await SourceList.open('s3://results/job'))!];
      assert.deepEqual(await Array.fromAsync(there.lines()), await Array.fromAsync(here.lines()));
      for (const [index, uri] of uris.entries()) {
        assert.equal(await there.find(uri), index);
        assert.deepEqual(await there.line(index), await here.line(index));
      }
    }),
    { numRuns: 10 },
  );
});

test('another version of a file is not read as the first, and a refusal is one sentence', async (t) => {
  let refuses = false;
  const server = await startStore(t, { fault: () => (refuses ? 'refuse' : undefined) });
  server.objects.set('job/job.json', Buffer.from('first'));
  const place = placeAt('s3://results/job').in('job.json');
  const file = (await place.file())!;
  server.objects.set('job/job.json', Buffer.from('other'));
  await assert.rejects(file.read(0, 3), {
    name: 'PlaceError',
    message: "'s3://results/job/job.json' was replaced while it was read",
  });
  assert.notEqual((await place.file())!.version, file.version);
  refuses = true;
  const denied = { name: 'PlaceError', message: /^Access to 'job\/.*' in the bucket 'results' is denied: 403/ };
  await assert.rejects(place.file(), denied);
  await assert.rejects(SourceList.open('s3://results/job'), denied);
  await assert.rejects(Array.fromAsync(place.files()), PlaceError);
});
