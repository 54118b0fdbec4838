import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { protocolVersion } from '@halogrid/proto';
import { Cluster } from './cluster.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { runUndisturbed } from './shared-cluster.ts';
import { slowFiles } from './slow-files.ts';

// Nodes and coordinators of two versions work together while one after another is upgraded, with a job under way. The
// earlier version is this one with only the earlier protocol: it says, takes and sends what that protocol has.

const folder = scratchFolder();
const source = join(folder, 'frames');
const earlier = { HALOGRID_TEST_PROTOCOL: String(protocolVersion - 1) };
const slow = slowFiles('.pgm');
const frames = 24;

before(async () => {
  mkdirSync(source);
  for (let i = 0; i < frames; i++) await writePgm(join(source, `${i}.pgm`), drawPicture(32, 24 + i));
});

/** Runs the job on a cluster, and calls `upgrade` when it is half-way; resolves with its digest. */
async function work(cluster: Cluster, name: string, upgrade: () => Promise<void>): Promise<string> {
  const jobId = await cluster.jobs.submit({ sources: [source], out: join(folder, name), batchFrames: 1 });
  await cluster.halfWay(jobId);
  await upgrade();
  const job = await cluster.jobs.untilEnded(jobId);
  assert.equal(job.state, 'JOB_STATE_COMPLETE', job.error);
  return job.digest;
}

test('coordinators first, nodes first: the job goes on through both, and its digest is that of a quiet run', async () => {
  const quiet = join(folder, 'quiet');
  await runUndisturbed([source, '--out', quiet]);
  const { digest } = readJson(quiet, 'job.json');

  const cluster = await Cluster.start({ nodes: 0, env: earlier });
  await cluster.startNode('earlier', 'cpu', { env: { ...slow, ...earlier } });
  const digests: string[] = [];
  // The second time a downgrade, which meets the other version in the same way as an upgrade that begins with nodes.
  for (const [to, version] of [
    ['later', {}],
    ['earlier again', earlier],
  ] as const) {
    digests.push(
      await work(cluster, to, async () => {
        // The coordinator is replaced while the node works; then a node of the other version joins, and it leaves, at
        // times before it has found the new coordinator.
        cluster.coordinator.signal('SIGTERM');
        await cluster.startCoordinatorAgain(version);
        await cluster.startNode(to, 'cpu', { env: { ...slow, ...version } });
        const [before] = cluster.nodes.splice(0, 1);
        before!.program.signal('SIGTERM');
        const { code, stderr } = await before!.program.ended;
        // 75: it had a shard.
        assert.ok(code === 0 || code === 75, stderr);
      }),
    );
  }
  await cluster.stop();
  assert.deepEqual(digests, [digest, digest]);
});
