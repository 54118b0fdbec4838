import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { writeZarr } from '@halogrid/imaging/testing-zarr';
import { parquetOf } from '@halogrid/sources/testing-parquet-files';
import { timeoutMs } from '@halogrid/testing';
import { Cluster, type ServingCluster, startNode } from './cluster.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { hashFiles, readHistogram, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { sharedCluster } from './shared-cluster.ts';
import { writeTiledTiff } from './tiled-tiff.ts';

// A node that sees none of the coordinator's files: it may read and write only an empty folder.

const folder = scratchFolder();
const source = join(folder, 'source');
const fixtures = fileURLToPath(new URL('../libs/imaging/fixtures', import.meta.url));
let cluster: Cluster;
/** A cluster whose nodes see all files. */
let seeing: ServingCluster;

before(async () => {
  mkdirSync(source);
  mkdirSync(join(folder, 'empty'));
  await writePgm(join(source, 'a b%1.pgm'), drawPicture(530, 130));
  for (const name of ['420.jpg', 'rgb.png', 'lossless.webp', 'strips.tif']) {
    copyFileSync(join(fixtures, name), join(source, name));
  }
  await writeZarr(join(source, 'stack.zarr'), {
    shape: [2, 130, 200],
    chunk: [1, 64, 64],
    axes: ['z', 'y', 'x'],
    lacks: ([z, row]) => z === 1 && row === 0,
  });
  await writeZarr(join(source, 'shards.zarr'), { shape: [300, 200], chunk: [32, 64], perShard: [4, 1] });
  // Bytes of a tar are handed over, too.
  execFileSync('tar', ['-cf', join(source, 'some.tar'), '-C', fixtures, 'gray.jpg', 'tiled-rgb-lzw.tif', 'gray.png']);
  const rows = ['gray.jpg', 'rgb.png'].map((path) => ({ path, bytes: readFileSync(join(fixtures, path)) }));
  writeFileSync(join(source, 'some.parquet'), parquetOf(rows));
  const size = { width: 330, height: 530 };
  await writeTiledTiff(join(source, 'tiled.tif'), size, 64, (x, y) => drawPicture(64, 64, x + y));
  [cluster, seeing] = await Promise.all([
    Cluster.start({ nodes: 0, options: ['--node-grace', String(timeoutMs(2_000))] }),
    sharedCluster(),
  ]);
});

after(() => Promise.all([cluster?.stop(), seeing?.stop()]));

test('without the option, such a node can read nothing', async () => {
  const node = await startNode(cluster.address, 'blind', 'cpu', ['--data-root', join(folder, 'empty')]);
  await cluster.adopt(node);
  const ended = await cluster.halogrid(['run', source, '--out', join(folder, 'blind')]);
  assert.equal(ended.code, 1, ended.stderr);
  assert.match(
    ended.stderr,
    /No attached node can (read|write) '.*': node 'blind': The path lies outside of the data roots/,
  );
  const { state, counts } = readJson(folder, 'blind', 'job.json');
  assert.deepEqual([state, counts.frames, counts.quarantined], ['failed', 0, 0]);
  node.program.signal('SIGTERM');
  await node.program.ended;
});

for (const options of [
  [],
  ['--map', 'zarr'],
  ['--op', 'conv:kernel=sobel,channels=rgb,as=i16', '--tile', '128'],
  ['--pipeline', 'codes=lbp', '--pipeline', 'derivative=ldp:order=2', '--tile', '128'],
]) {
  test(`with --storage remote it gives the same bytes: ${options.join(' ') || 'defaults'}`, async () => {
    const name = options.join('').replaceAll(/\W/g, '');
    const out = join(folder, `remote-${name}`);
    const plain = join(folder, `plain-${name}`);
    if (cluster.nodes.length === 1) {
      const only = ['--storage', 'remote', '--data-root', join(folder, 'empty')];
      await cluster.adopt(await startNode(cluster.address, 'remote', 'cpu', only));
    }
    const job = ['run', source, '--map', 'tiff', ...options, '--out'];
    const ended = await cluster.halogrid([...job, out]);
    assert.equal(ended.code, 0, ended.stderr);
    assert.equal((await seeing.halogrid([...job, plain])).code, 0);
    for (const part of options[0] === '--pipeline' ? ['pipelines/codes', 'pipelines/derivative'] : ['']) {
      assert.deepEqual(hashFiles(out, part, 'maps'), hashFiles(plain, part, 'maps'));
      assert.equal(readdirSync(join(out, part, 'maps')).length, 14);
      assert.deepEqual(hashFiles(out, part, 'preview'), hashFiles(plain, part, 'preview'));
    }
    assert.equal(readJson(out, 'job.json').digest, readJson(plain, 'job.json').digest);
    if (options.length < 3) assert.deepEqual(readHistogram(out), readHistogram(plain));
  });
}
