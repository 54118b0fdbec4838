import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { unpackSwiftShader } from './software-vulkan.ts';

const archive = fileURLToPath(new URL('../../bin/swiftshader.tar.br', import.meta.resolve('@sparticuz/chromium')));

async function withFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-test-'));
  try {
    await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('unpacks what the Vulkan loader needs, and leaves nothing half-finished beside it', async () => {
  await withFolder(async (root) => {
    const folder = await unpackSwiftShader(archive, [root]);
    assert.deepEqual((await readdir(folder)).sort(), [
      'libvk_swiftshader.so',
      'libvulkan.so.1',
      'vk_swiftshader_icd.json',
    ]);
    assert.equal((await readdir(root)).length, 1);
  });
});

test('unpacking four times at once gives one folder', async () => {
  await withFolder(async (root) => {
    const folders = await Promise.all([1, 2, 3, 4].map(() => unpackSwiftShader(archive, [root])));
    assert.equal(new Set(folders).size, 1);
    assert.equal((await readdir(root)).length, 1);
  });
});

test('a cache that cannot be written is skipped', async () => {
  await withFolder(async (root) => {
    const folder = await unpackSwiftShader(archive, ['/dev/null/cache', root]);
    assert.ok(folder.startsWith(root));
  });
});

test('if nothing can be unpacked anywhere, one sentence names the folder', async () => {
  await assert.rejects(unpackSwiftShader(archive, ['/dev/null/cache']), /cannot be unpacked: .*\/dev\/null\/cache/);
});

test('a missing archive is reported in one sentence', async () => {
  await assert.rejects(unpackSwiftShader('/nowhere/s.tar.br', []), /needs \/nowhere\/s\.tar\.br, which is missing\.$/);
});
