import assert from 'node:assert/strict';
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isThorough } from '@halogrid/testing';
import { halogrid } from './halogrid.ts';
import { makeTarball } from './make-tarball.ts';
import { readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { runUndisturbed } from './shared-cluster.ts';

// The tarball for arm64 on an x64 machine: all its processes are emulated.

const frames = fileURLToPath(new URL('../samples/frames', import.meta.url));
const scratch = scratchFolder();
const qemu = '/usr/bin/qemu-aarch64-static';
const libraries = '/usr/aarch64-linux-gnu';
const canEmulate = process.platform === 'linux' && process.arch === 'x64' && existsSync(qemu) && existsSync(libraries);

test('the tarball for arm64 computes the same, and says that it has no software device', {
  skip:
    isThorough && canEmulate
      ? false
      : 'with HALOGRID_THOROUGH=1, on x64 with qemu-user-static and libstdc++6-arm64-cross',
}, async () => {
  const plain = join(scratch, 'plain');
  await runUndisturbed([frames, '--out', plain]);
  const arm = await makeTarball('linux-arm64', scratch);
  const node = join(arm, 'bin/node');
  renameSync(node, `${node}.arm64`);
  // The emulator must start each process.
  const asNode = `data:text/javascript,process.execPath=${JSON.stringify(node).replaceAll(' ', '%20')}`;
  writeFileSync(node, `#!/bin/sh\nexec ${qemu} -L ${libraries} '${node}.arm64' --import '${asNode}' "$@"\n`, {
    mode: 0o755,
  });
  const options = { installed: join(arm, 'halogrid'), env: { PATH: '/usr/bin:/bin', HOME: '/nowhere' } };
  const out = join(scratch, 'out');
  const { code, stderr } = await halogrid(['run', frames, '--device', 'cpu', '--out', out], options);
  assert.equal(code, 0, stderr);
  assert.equal(readJson(out, 'job.json').digest, readJson(plain, 'job.json').digest);
  const { stdout } = await halogrid(['doctor'], options);
  assert.match(stdout, /^machine +linux arm64/m);
  assert.match(stdout, /^software +no: The software device exists for Linux on x64 only; this is linux on arm64\.$/m);
});
