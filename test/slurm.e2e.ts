import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from '@halogrid/testing';
import { withFaults } from './faults/node-hooks.ts';
import { get } from './get.ts';
import { Halogrid, halogrid } from './halogrid.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { readJson, sha256 } from './results.ts';
import { Slurm } from './slurm.ts';

// The scripts of deploy/slurm under a real Slurm. Started by deploy/check.sh.

const script = (name: string) => fileURLToPath(new URL(`../deploy/slurm/${name}.sbatch`, import.meta.url));
const slurm = await Slurm.start();
after(() => slurm.stop());
const { folder } = slurm;
const archive = join(folder, 'archive');
mkdirSync(archive);
const frames = 320;
for (let i = 0; i < frames; i++) await writePgm(join(archive, `frame-${i}.pgm`), drawPicture(32, 32, i));
/** Nodes open the frames so slowly that the job goes on for a while, and hand back shards when they are stopped. */
const slowly = { ...withFaults({ open: { 'frame-': 1_000 } }), HALOGRID_DRAIN_TIMEOUT: '2' };
const job = ['--op', 'ldp:order=3', '--batch', '2'];
const run = (out: string, ...more: string[]) => ['run', archive, ...job, '--out', join(folder, out), ...more];
const digestOf = (out: string): string => readJson(join(folder, out, 'job.json')).digest;
/** Less than the scripts ask for: the machines of the test are this one. */
const small = ['--mem=0', '--gres=none'];

const alone = halogrid(run('alone'));

test('an array of nodes does a job, though tasks are preempted and requeued, and a machine is lost', async (t) => {
  const coordinator = await slurm.sbatch(
    [
      ...['--partition=high', '--nodelist=m1', '--cpus-per-task=1', ...small],
      ...[script('coordinator'), '--insecure-network', '--data-root', folder],
    ],
    { HALOGRID_LEDGER: join(folder, 'ledger.sqlite') },
  );
  const array = await slurm.sbatch(
    ['--array=0-1', '--cpus-per-task=3', ...small, script('nodes'), '--device', 'cpu', '--data-root', folder],
    slowly,
  );
  const [first, second] = [`${array}_0`, `${array}_1`] as const;
  const file = join(folder, 'halogrid-coordinator');
  const running = new Halogrid(run('array', '--coordinator-file', file));
  t.after(() => running.kill());
  const { http } = await eventually('the coordinator', () => readJson(file), { despiteErrors: true });
  const counts = async () => {
    const { jobs } = (await (await get(`http://127.0.0.1:${http}/api/v1/jobs`)).json()) as {
      jobs: { counts: { shards: number; shardsDone: number } }[];
    };
    return jobs[0]?.counts ?? { shards: 0, shardsDone: 0 };
  };
  /** Waits for more of the job, which must not end before. */
  const goesOn = async () => {
    const { shardsDone } = await counts();
    const now = await eventually('some more shards', async () => {
      const found = await counts();
      return found.shardsDone >= shardsDone + 2 || (found.shards > 0 && found.shardsDone === found.shards)
        ? found
        : undefined;
    });
    assert.ok(now.shardsDone < now.shards, `${now.shardsDone} of ${now.shards} shards`);
  };
  await goesOn();

  const [begun, preempted] = await Promise.all([slurm.job(first), slurm.job(second)]);
  const where = `--nodelist=${preempted.machine}`;
  const urgent = await slurm.sbatch(['--partition=high', '--cpus-per-task=3', where, '--wrap=true']);
  await slurm.scontrol('requeue', first);
  await slurm.until(urgent, 'COMPLETED');
  await Promise.all([slurm.until(first, 'RUNNING', begun), slurm.until(second, 'RUNNING', preempted)]);
  await goesOn();

  const lost = (await slurm.job(first)).machine === 'm2' ? first : second;
  const before = await slurm.job(lost);
  await slurm.killMachine('m2');
  slurm.startMachine('m2');
  await slurm.until(lost, 'RUNNING', before);

  const { code, stderr } = await running.ended;
  assert.equal(code, 0, stderr);
  const { digest, counts: found } = readJson(join(folder, 'array', 'job.json'));
  assert.equal((await alone).code, 0, (await alone).stderr);
  assert.equal(digest, digestOf('alone'));
  // The node of the lost machine held shards.
  assert.ok(found.attempts > found.shards, `${found.attempts} attempts`);

  for (const id of [array, coordinator]) await slurm.scancel(id);
  // Though it ended in order, it is not started again.
  await slurm.until(coordinator, 'CANCELLED');
  await eventually('the file to be removed', () => !existsSync(file));
});

test('an array of parts makes one output, though a part has failed and is computed again', async () => {
  const parts = 3;
  const [plan, out] = [join(folder, 'plan'), join(folder, 'parts')];
  const planned = await halogrid(['plan', archive, ...job, '--write', plan]);
  assert.equal(planned.code, 0, planned.stderr);
  mkdirSync(out);
  // Part 2 cannot be written.
  writeFileSync(join(out, 'part-2'), '');
  const compute = (tasks: string, ...more: string[]) =>
    slurm.sbatch([
      ...[`--array=${tasks}`, '--cpus-per-task=2', ...small, ...more],
      ...[script('parts'), plan, out, String(parts), '--device', 'cpu'],
    ]);
  const array = await compute('0-2');
  await Promise.all([0, 1, 2].map((i) => slurm.until(`${array}_${i}`, i === 1 ? 'FAILED' : 'COMPLETED')));
  rmSync(join(out, 'part-2'));
  const again = await compute('1');
  const merge = await slurm.sbatch([
    `--dependency=afterok:${again}`,
    '--cpus-per-task=1',
    '--mem=0',
    script('merge'),
    out,
  ]);
  await slurm.until(merge, 'COMPLETED');
  assert.equal(digestOf('parts/all'), digestOf('alone'));
  for (const name of ['features.parquet', 'histogram.json']) {
    const [merged, whole] = ['parts/all', 'alone'].map((each) => sha256(readFileSync(join(folder, each, name))));
    assert.equal(merged, whole, name);
  }
});
