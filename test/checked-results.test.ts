import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from '@halogrid/testing';
import { Cluster } from './cluster.ts';
import { lbpByDefinition } from './lbp-definition.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { readHistogram } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';

const folder = scratchFolder();

test('a node with a wrong device is detected and sent away, and changes no result', async (t) => {
  const source = join(folder, 'picture.pgm');
  const picture = drawPicture(300, 300);
  await writePgm(source, picture);
  const cluster = await Cluster.start({ nodes: 1 });
  t.after(() => cluster.stop());

  const program = fileURLToPath(new URL('lying-node.ts', import.meta.url));
  const liar = spawn(process.execPath, [program, cluster.address, 'liar'], { stdio: ['ignore', 'pipe', 'ignore'] });
  t.after(() => liar.kill('SIGKILL'));
  let said = '';
  liar.stdout.on('data', (text) => {
    said += text;
  });
  const gone = once(liar, 'exit');
  await eventually('the liar to be attached', () => cluster.node('liar'));

  const out = join(folder, 'out');
  const pipelines = ['--pipeline', 'derivative=ldp:order=2', '--pipeline', 'codes=lbp'];
  const job = ['run', source, '--verify', '100%', '--tile', '32', ...pipelines];
  const { code, stderr } = await cluster.halogrid([...job, '--out', out]);
  assert.equal(code, 0, stderr);
  const { bins, counted } = lbpByDefinition(picture, 'interior', 'nw-cw-msb');
  assert.deepEqual(readHistogram(join(out, 'pipelines', 'codes')), { bins, counted });

  assert.deepEqual(await gone, [1, null]);
  assert.match(said, /^The coordinator refuses this node: It gave another result for a shard than the reference/);
  const metrics = await (await fetch(`${cluster.http}/metrics`)).text();
  assert.match(metrics, /^halogrid_result_mismatches_total\{node="liar"\} [1-9]/m);
  assert.match(metrics, /^halogrid_result_mismatches_total\{node="n1"\} 0$/m);
});
