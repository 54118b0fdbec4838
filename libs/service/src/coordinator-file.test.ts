import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import {
  grpcAddress,
  hostForOthers,
  httpAddress,
  parseHost,
  readCoordinatorFile,
  removeCoordinatorFile,
  writeCoordinatorFile,
} from './coordinator-file.ts';
import { UsageError } from './usage-error.ts';

const folder = await mkdtemp(join(tmpdir(), 'halogrid-place-'));
after(() => rm(folder, { recursive: true }));
const path = join(folder, 'coordinator');
const place = { host: 'rack-1', grpc: 7070, http: 9464 };

test('the file names the host and the ports, and holds nothing else', async () => {
  assert.equal(await readCoordinatorFile(path), undefined);
  await writeCoordinatorFile(path, place);
  assert.equal(await readFile(path, 'utf8'), '{"host":"rack-1","grpc":7070,"http":9464}\n');
  assert.deepEqual(await readCoordinatorFile(path), place);
  assert.deepEqual([grpcAddress(place), httpAddress(place)], ['rack-1:7070', 'rack-1:9464']);
  assert.deepEqual(await readdir(folder), ['coordinator']);
});

test('a coordinator removes its own file only', async () => {
  const other = { ...place, grpc: 7071 };
  await writeCoordinatorFile(path, place);
  await writeCoordinatorFile(path, other);
  await removeCoordinatorFile(path, place);
  assert.deepEqual(await readCoordinatorFile(path), other);
  await removeCoordinatorFile(path, other);
  assert.equal(await readCoordinatorFile(path), undefined);
  await removeCoordinatorFile(path, other);
});

test('a file of something else is refused, and an empty one is not there yet', async () => {
  await writeFile(path, '\n');
  assert.equal(await readCoordinatorFile(path), undefined);
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.json(), fc.string()), async (text) => {
      await writeFile(path, `x${text}`);
      await assert.rejects(readCoordinatorFile(path), UsageError);
    }),
    { numRuns: 20 },
  );
  for (const wrong of [{ ...place, http: 0 }, { ...place, grpc: '' }, { host: 'a:b', grpc: 1, http: 2 }, [], null, 7]) {
    await writeFile(path, JSON.stringify(wrong));
    await assert.rejects(readCoordinatorFile(path), /holds something else$/);
  }
});

test('a file that cannot be written or read is reported in one sentence', async () => {
  const inFile = join(folder, 'missing', 'coordinator');
  await assert.rejects(
    writeCoordinatorFile(inFile, place),
    /cannot be written: .*\(ENOENT\); give another file with --coordinator-file$/,
  );
  const isFolder = join(folder, 'folder');
  await mkdir(isFolder);
  await assert.rejects(readCoordinatorFile(isFolder), /^UsageError: The file of --coordinator-file cannot be read: /);
  await assert.rejects(writeCoordinatorFile(isFolder, place), /cannot be written/);
  assert.deepEqual((await readdir(folder)).sort(), ['coordinator', 'folder']);
});

const hosts: [listens: string, advertised: string | undefined, host: string][] = [
  ['127.0.0.1', undefined, '127.0.0.1'],
  ['10.0.0.1', undefined, '10.0.0.1'],
  ['0.0.0.0', undefined, 'machine'],
  ['[::]', undefined, 'machine'],
  ['0.0.0.0', 'public', 'public'],
  ['10.0.0.1', 'public', 'public'],
];
for (const [host, advertised, expected] of hosts) {
  test(`a server on ${host}${advertised ? ` that is advertised as ${advertised}` : ''} is reached at ${expected}`, () => {
    assert.equal(hostForOthers({ host }, advertised, 'machine'), expected);
  });
}

test('an advertised host has no port', () => {
  for (const host of ['rack-1', '10.0.0.1', '[fd00::1]']) assert.equal(parseHost('--advertise', host), host);
  for (const host of ['rack-1:7070', 'fd00::1', '']) {
    assert.throws(() => parseHost('--advertise', host), /without a port.* but received '.*'$/);
  }
});
