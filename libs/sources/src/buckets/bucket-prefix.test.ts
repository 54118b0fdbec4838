import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { expandPrefix } from '../listing/expand-prefix.ts';
import { Radosgw, skipRadosgw } from '../testing/radosgw.ts';
import { startTestS3, type TestS3, type TestS3Options } from '../testing/servers.ts';
import { setEnvironment, temporaryFolder } from '../testing/temporary-files.ts';
import { BucketPrefix } from './bucket-prefix.ts';
import { toPrefixUri } from './prefix-uri.ts';
import { storeLimits } from './send.ts';

const options = { accessKeyId: 'AK', secretAccessKey: 'SK', region: 'us-east-1', bucket: 'results' };

async function startStore(t: TestContext, more: Partial<TestS3Options> = {}): Promise<TestS3> {
  const server = await startTestS3({ ...options, ...more });
  t.after(() => server.close());
  setEnvironment(t, server.environment);
  return server;
}

const text = (bytes: Buffer | undefined): string | undefined => bytes?.toString();
const namesOf = async (names: AsyncIterable<string | { name: string }>): Promise<string[]> => {
  const all: string[] = [];
  for await (const one of names) all.push(typeof one === 'string' ? one : one.name);
  return all.sort();
};

const uris: [given: string, uri: string | RegExp][] = [
  ['s3://results', 's3://results'],
  ['S3://results/', 's3://results'],
  ['s3://results/a b/c/', 's3://results/a b/c'],
  ['s3://results/a//b', /has an empty name between two slashes/],
  ['s3://results//', /has an empty name/],
  ['s3://results/../b', /'\.\.' as a part/],
  ['s3:///a', /Expected s3:\/\/BUCKET\/KEY/],
  ['http://results/a', /Expected s3:\/\/BUCKET\/PREFIX/],
];

for (const [given, uri] of uris) {
  test(`a prefix: ${given}`, () => {
    if (typeof uri === 'string') assert.equal(toPrefixUri(given), uri);
    else assert.throws(() => toPrefixUri(given), { name: 'SourceUriError', message: uri });
  });
}

/** What every store must do; `part` is a file of several parts. */
async function behaves(t: TestContext, prefix: BucketPrefix): Promise<void> {
  assert.deepEqual([await prefix.get('a'), await prefix.head('a')], [undefined, undefined]);
  const name = "x y/ü+&'%.json";
  assert.equal(await prefix.create(name, Buffer.from('1')), true);
  assert.equal(await prefix.create(name, Buffer.from('1')), true, 'its own content');
  assert.equal(await prefix.create(name, Buffer.from('2')), false);
  assert.equal(text(await prefix.get(name)), '1');
  await prefix.put(name, Buffer.from('22'));
  assert.equal(text(await prefix.get(name)), '22');
  const path = join(await temporaryFolder(t), 'file');
  for (const bytes of [Buffer.alloc(0), Buffer.from('one part'), Buffer.alloc(2 ** 24 + 5, 'two parts')]) {
    await writeFile(path, bytes);
    const upload = await prefix.uploads.begin('sent', `tag of ${bytes.length}`);
    const whole = (await prefix.uploads.sendFile(upload, path, false))!;
    const again = (await prefix.uploads.sendFile(upload, path, true))!;
    assert.deepEqual(again, whole);
    assert.notEqual((await prefix.head('sent'))?.tag, upload.tag, 'it appears once it is completed');
    // A second time as after a lost answer.
    for (const _ of [1, 2]) assert.equal(await prefix.uploads.complete(whole), true);
    const { sizeBytes, tag } = (await prefix.head('sent'))!;
    assert.deepEqual([sizeBytes, tag], [bytes.length, upload.tag]);
    assert.equal(Buffer.compare(await prefix.slice('sent', 1, 4), bytes.subarray(1, 4)), 0);
    assert.equal(
      Buffer.compare(Buffer.concat(await Array.fromAsync(prefix.read('sent', 2, 9))), bytes.subarray(2, 9)),
      0,
    );
    const copy = await prefix.uploads.begin('copied to', 'copy');
    const copied = await prefix.uploads.copy(copy, { name: 'sent', sizeBytes: bytes.length });
    assert.equal(await prefix.uploads.complete(copied), true);
    assert.equal(Buffer.compare((await prefix.get('copied to'))!, bytes), 0);
  }
  const aborted = await prefix.uploads.sendBytes(await prefix.uploads.begin('a', 'a'), Buffer.from('a'));
  await prefix.uploads.abortAll();
  assert.equal(await prefix.uploads.complete(aborted), false);
  assert.equal(await prefix.uploads.sendFile(aborted, path, true), undefined);
  assert.deepEqual(await namesOf(prefix.list()), ['copied to', 'sent', name]);
  assert.deepEqual(await namesOf(prefix.list('x y/')), [name]);
  assert.deepEqual(await namesOf(prefix.listLevel()), ['copied to', 'sent', 'x y/']);
  for (const each of [name, 'sent', 'copied to', 'nothing']) await prefix.remove(each);
  assert.deepEqual(await namesOf(prefix.list()), []);
}

test('objects are written whole, created once, listed and removed', async (t) => {
  const server = await startStore(t, { pageKeys: 2 });
  const prefix = new BucketPrefix('s3://results/my job/1');
  await behaves(t, prefix);
  assert.equal(await prefix.createsOnce(), true);
  assert.deepEqual([...server.objects], []);
});

test('an s3: URI stands for the folders that it matches, at any depth', async (t) => {
  const { objects } = await startStore(t, { pageKeys: 2 });
  for (const key of ['part-1/a', 'part-10/a', 'part-2/a', 'parts/1/a', 'parts/2/x', 'part-3', 'x*y/a', 'x1y/a']) {
    objects.set(key, Buffer.alloc(0));
  }
  for (const [uri, ...names] of [
    ['s3://results/part-*', 'part-1', 'part-10', 'part-2'],
    ['s3://results/part-?/', 'part-1', 'part-2'],
    ['s3://results/p*s/*', 'parts/1', 'parts/2'],
    ['s3://results/x*y', 'x*y', 'x1y'],
    ['s3://results/part-[1]', 'part-[1]'],
    ['s3://results/nothing', 'nothing'],
  ]) {
    assert.deepEqual(
      await expandPrefix(uri!),
      names.map((name) => `s3://results/${name}`),
      uri,
    );
  }
  await assert.rejects(expandPrefix('s3://results/none-*'), {
    name: 'SourceUriError',
    message: "No folder of the bucket matches 's3://results/none-*'",
  });
});

test('a server that ignores conditions is found out', async (t) => {
  const server = await startStore(t, { ignoresConditions: true });
  assert.equal(await new BucketPrefix('s3://results/job').createsOnce(), false);
  assert.deepEqual([...server.objects], []);
});

test('throttling, dropped connections and lost answers change nothing', async (t) => {
  const kinds = ['busy', 'drop', 'cut'] as const;
  const plans = fc.array(fc.constantFrom(undefined, ...kinds), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(plans, async (plan) => {
      let requests = 0;
      let failures = 0;
      const server = await startTestS3({
        ...options,
        // At most three in a row: a request is sent six times.
        fault: () => {
          const fault = failures < 3 ? plan[requests++ % plan.length] : undefined;
          failures = fault ? failures + 1 : 0;
          return fault;
        },
      });
      setEnvironment(t, server.environment);
      try {
        const prefix = new BucketPrefix('s3://results/job', { ...storeLimits, backoffMs: 1 });
        const { uploads } = prefix;
        assert.equal(await prefix.createsOnce(), true);
        assert.equal(await prefix.create('a', Buffer.from('a')), true);
        assert.equal(await prefix.create('a', Buffer.from('b')), false);
        const whole = await uploads.sendBytes(await uploads.begin('u', 'tag'), Buffer.from('u'));
        assert.equal(await uploads.complete(whole), true);
        await prefix.remove('a');
        assert.deepEqual(await namesOf(prefix.list()), ['u']);
        assert.equal(text(server.objects.get('job/u')), 'u');
      } finally {
        await server.close();
      }
    }),
    { numRuns: 20, endOnFailure: true },
  );
});

test('a refusal says what was to be written, and no secret', async (t) => {
  await startStore(t);
  await assert.rejects(new BucketPrefix('s3://elsewhere/job').put('a', Buffer.from('a')), {
    name: 'TransferError',
    message: "The bucket 'elsewhere' does not exist: 404 NoSuchBucket",
  });
  setEnvironment(t, { AWS_SECRET_ACCESS_KEY: 'another' });
  await assert.rejects(new BucketPrefix('s3://results/job').put('a', Buffer.from('a')), {
    message: "Access to 'job/a' in the bucket 'results' is denied: 403 SignatureDoesNotMatch",
  });
});

describe('radosgw', { skip: skipRadosgw }, () => {
  let server: Radosgw;
  before(async () => {
    server = await Radosgw.start();
  });
  after(() => server?.remove());

  test('a real server does the same', async (t) => {
    setEnvironment(t, server.environment);
    await server.createBucket('results');
    const prefix = new BucketPrefix('s3://results/my job/1');
    await behaves(t, prefix);
    assert.equal(await prefix.createsOnce(), true);
  });

  test('of several that create an object one succeeds', async (t) => {
    setEnvironment(t, server.environment);
    await server.createBucket('races');
    const prefix = new BucketPrefix('s3://races/job');
    for (let race = 0; race < 5; race++) {
      const all = Array.from({ length: 8 }, (_, i) => createHash('md5').update(`${race} ${i}`).digest());
      const won = await Promise.all(all.map((content) => prefix.create(`claim-${race}`, content)));
      assert.equal(won.filter(Boolean).length, 1);
      assert.equal(Buffer.compare((await prefix.get(`claim-${race}`))!, all[won.indexOf(true)]!), 0);
    }
  });
});
