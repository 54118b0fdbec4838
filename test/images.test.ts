import assert from 'node:assert/strict';
import { globSync, lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually, isThorough } from '@halogrid/testing';
import { canBuildImages, ImageBuilder } from './build-image.ts';
import { contextPaths } from './docker-context.ts';
import { get } from './get.ts';
import { Halogrid, halogrid } from './halogrid.ts';
import { makeArtefact } from './make-tarball.ts';
import { readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { runUndisturbed } from './shared-cluster.ts';

// The images of deploy/docker hold only what their process needs. Each is built into a folder, and runs from there.

const checkout = fileURLToPath(new URL('..', import.meta.url));
const scratch = scratchFolder();
const skip = canBuildImages(scratch) ? false : 'this user may not make a mount of its own';
const anyPort = '127.0.0.1:0';
const built: Record<string, string> = {};

before(() => {
  if (skip) return;
  const builder = new ImageBuilder(scratch);
  for (const name of ['coordinator', 'gpu-node']) built[name] = builder.build(`deploy/docker/${name}.Dockerfile`);
});

const filesOf = (image: string): string[] => readdirSync(built[image]!, { recursive: true, encoding: 'utf8' });

/** Settings of a container: no Node in the path, and no home. */
const inside = (image: string) => ({
  installed: join(built[image]!, 'app/halogrid'),
  cwd: built[image]!,
  env: { PATH: '/usr/bin:/bin', HOME: '/nowhere', NODE_ENV: 'production' },
});

// Images made of the whole checkout had 470 MB of packages alone.
for (const [image, mostMegabytes] of [
  ['coordinator', 170],
  ['gpu-node', 195],
] as const) {
  test(`${image}: it holds at most ${mostMegabytes} MB, including Node`, { skip }, () => {
    const bytes = filesOf(image).reduce((sum, path) => sum + lstatSync(join(built[image]!, path)).size, 0);
    assert.ok(bytes < mostMegabytes * 1e6, `${(bytes / 1e6).toFixed(1)} MB`);
  });

  test(`${image}: it has no FFmpeg, and no sample that needs it`, { skip }, () => {
    assert.deepEqual(
      filesOf(image).filter((path) => /node-av|\.mp4$/.test(path)),
      [],
    );
    assert.ok(filesOf(image).includes('app/samples/frames'));
  });

  test(`${image}: the build context has every workspace and the scripts, but no tests and packages`, () => {
    const sent = contextPaths(`deploy/docker/${image}.Dockerfile`);
    const manifests = globSync(['{apps,libs}/*/package.json', '{deploy,lab,test}/package.json'], { cwd: checkout });
    assert.ok(manifests.length > 15);
    for (const path of [...manifests, 'package-lock.json', '.npmrc', 'scripts/package.mjs'])
      assert.ok(sent.includes(path), `${path} is ignored`);
    const needless = sent.filter((path) => /\.test\.m?ts$|^node_modules|^dist|\/oracle\//.test(path));
    assert.deepEqual(needless, []);
  });

  test(`${image}: it has the notices, and the licence of Node`, { skip }, () => {
    const folder = join(built[image]!, 'app/lib/node_modules/halogrid');
    assert.match(readFileSync(join(folder, 'licenses/node.txt'), 'utf8'), /Node\.js is licensed/);
    for (const name of ['LICENSE', 'THIRD-PARTY-NOTICES.md', 'licenses/LGPL-3.0.txt'])
      assert.ok(readFileSync(join(folder, name), 'utf8').length > 1000, name);
  });
}

/** The processors for which programs and libraries in a folder are, by the numbers of the ELF format. */
function processorsOf(root: string): number[] {
  const found = new Set<number>();
  for (const path of globSync('**/{node,*.node,*.so,*.so.*}', { cwd: root })) {
    const head = lstatSync(join(root, path)).isFile()
      ? readFileSync(join(root, path)).subarray(0, 20)
      : Buffer.alloc(0);
    if (head.subarray(1, 4).toString() === 'ELF') found.add(head.readUInt16LE(18));
  }
  return [...found];
}

test('images for arm64, built on this machine, hold programs and libraries for it alone', {
  skip: skip || (!isThorough && 'with HALOGRID_THOROUGH=1'),
}, async () => {
  const there = join(scratch, 'arm64');
  mkdirSync(there);
  // It gets the packages for arm64 from npm, which the build cannot: its packages are mounted read-only.
  await makeArtefact('linux-arm64', there);
  const builder = new ImageBuilder(there, 'arm64');
  for (const name of ['coordinator', 'gpu-node']) {
    assert.deepEqual(processorsOf(builder.build(`deploy/docker/${name}.Dockerfile`)), [183], name);
  }
});

test('only the node has WebGPU and the software device, for one platform', { skip }, () => {
  const compute = (image: string) => filesOf(image).filter((path) => /dawn\.node$|swiftshader\.tar\.br$/.test(path));
  assert.deepEqual(compute('coordinator'), []);
  assert.equal(compute('gpu-node').filter((path) => path.endsWith('dawn.node')).length, 1);
  assert.equal(compute('gpu-node').length, process.arch === 'x64' ? 2 : 1);
});

test('a coordinator and a node from their images run a job like the checkout', { skip }, async (t) => {
  const device = process.arch === 'x64' ? 'software' : 'cpu';
  const samples = join(built.coordinator!, 'app/samples');
  const plain = join(scratch, 'plain');
  await runUndisturbed([samples, '--out', plain]);

  const start = (image: string, args: string[]): Halogrid => {
    const program = new Halogrid([...args, '--http', anyPort], inside(image));
    t.after(() => program.kill());
    return program;
  };
  const ledger = join(scratch, 'ledger.sqlite');
  const coordinator = start('coordinator', ['coordinator', '--ledger', ledger, '--listen', anyPort]);
  const to = ['--coordinator', `127.0.0.1:${(await coordinator.firstLine).grpc}`];
  const node = start('gpu-node', ['node', ...to, '--device', device]);
  const serving = await node.firstLine;
  assert.equal((serving.device as { kind: string }).kind, device);
  await eventually('the node to be attached', async () => (await get(`http://127.0.0.1:${serving.http}/readyz`)).ok);

  const out = join(scratch, 'out');
  const { code, stderr } = await halogrid(['run', samples, ...to, '--out', out], inside('coordinator'));
  assert.equal(code, 0, stderr);
  assert.equal(readJson(out, 'job.json').digest, readJson(plain, 'job.json').digest);
  for (const program of [node, coordinator]) {
    program.signal('SIGTERM');
    assert.equal((await program.ended).code, 0);
  }
});

test('the image of the coordinator says in a sentence that it has no device', { skip }, async () => {
  const asked = ['run', join(built.coordinator!, 'app/samples/frames'), '--device', 'software'];
  const { code, stderr } = await halogrid([...asked, '--out', join(scratch, 'none')], inside('coordinator'));
  assert.equal(code, 2);
  assert.match(stderr, /The device 'software' is not available: The software device needs .*, which is missing\./);
});
