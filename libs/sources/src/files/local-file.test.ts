import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../testing/temporary-files.ts';
import { LocalFile } from './local-file.ts';

const refusal = (message: string | RegExp) => ({ name: 'InputError', stage: 'read', message });

test('a path that is not a file is refused, and a named pipe is refused without waiting for a writer', async (t) => {
  const folder = await temporaryFolder(t);
  await assert.rejects(LocalFile.open(folder), refusal('Not a file: a folder'));
  await assert.rejects(LocalFile.open(join(folder, 'none')), refusal('The file does not exist'));
  await assert.rejects(LocalFile.open('/dev/null'), refusal('Not a file: a socket or a device'));
  execFileSync('mkfifo', [join(folder, 'pipe.jpg')]);
  await assert.rejects(LocalFile.open(join(folder, 'pipe.jpg')), refusal('Not a file: a named pipe'));
  const server = createServer().listen(join(folder, 'socket.jpg'));
  await once(server, 'listening');
  await assert.rejects(LocalFile.open(join(folder, 'socket.jpg')), refusal('Not a file: a socket or a device'));
  server.close();
});

test('links to nothing and to themselves are refused', async (t) => {
  const folder = await temporaryFolder(t);
  await symlink('none', join(folder, 'dangling'));
  await symlink('loop', join(folder, 'loop'));
  await writeFile(join(folder, 'file'), 'x');
  await assert.rejects(LocalFile.open(join(folder, 'dangling')), refusal('The file does not exist'));
  await assert.rejects(LocalFile.open(join(folder, 'loop')), refusal('The path goes through too many symbolic links'));
  await assert.rejects(LocalFile.open(join(folder, 'file', 'x')), refusal('A part of the path is not a folder'));
});

test('a file that may not be read is refused', async (t) => {
  const folder = await temporaryFolder(t);
  await chmod(folder, 0o755);
  await writeFile(join(folder, 'secret'), 'x');
  await chmod(join(folder, 'secret'), 0);
  // Root may read everything.
  const isRoot = process.getuid!() === 0;
  if (isRoot) process.seteuid!(65534);
  try {
    await assert.rejects(LocalFile.open(join(folder, 'secret')), refusal('The file cannot be read: permission denied'));
  } finally {
    if (isRoot) process.seteuid!(0);
  }
});

test('the head, any part and all of a file of several MiB', async (t) => {
  const folder = await temporaryFolder(t);
  const content = Buffer.from(Array.from({ length: 2_500_000 }, (_, i) => (i * 31) % 253));
  // More is read at once of a file that is decoded whole.
  for (const [name, headBytes] of [
    ['a.JPG', 2 ** 20],
    ['a.pgm', 2 ** 14],
    ['a', 2 ** 14],
  ] as const) {
    const path = join(folder, name);
    await writeFile(path, content);
    const file = await LocalFile.open(path);
    assert.equal(file.sizeBytes, content.length);
    assert.deepEqual([file.head.length, file.bytesRead], [headBytes, headBytes]);
    const part = Buffer.alloc(1000);
    await file.read(part, 2_499_000);
    assert.equal(Buffer.compare(part, content.subarray(-1000)), 0);
    await assert.rejects(file.read(part, 2_499_001), { name: 'InputError', stage: 'decode' });
    assert.equal(Buffer.compare(await file.readAll(), content), 0);
    assert.equal(file.bytesRead, 1000 + content.length);
    await file.close();
    await file.close();
  }
});

test('a file that is read whole takes no file descriptor any more', async (t) => {
  const path = join(await temporaryFolder(t), 'file');
  for (const bytes of [10, 2_000_000]) {
    await writeFile(path, Buffer.alloc(bytes, 7));
    const file = await LocalFile.open(path);
    const all = await file.readAll();
    await assert.rejects(file.read(Buffer.alloc(1), 0), { code: 'EBADF' });
    assert.ok(all.every((byte) => byte === 7));
    await file.close();
  }
});
