import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { credentials, type ServiceError, status } from '@grpc/grpc-js';
import { type JobStatus, JobsClient, type ListRequest } from '@halogrid/proto';
import { createClientSecurity } from '@halogrid/service';
import { grpcClient } from '@halogrid/service/grpc-client';
import { createLog } from '@halogrid/service/log';
import { secretFolder, writeSecret } from '@halogrid/service/testing';
import { startCoordinator } from '../coordinator.ts';
import { complete, setStages, specOf, testConfig, watchToEnd, writeImages } from '../testing/coordinator-stage.ts';
import { Audit } from './audit.ts';
import { ScriptedNode } from './testing/scripted-node.ts';

const tokenOf = (name: string): string => `${name}-token-0123456789`;
const people = { ann: 'submit', bob: 'submit', root: 'admin', eve: 'read' };

/** A coordinator that knows people by tokens, what it logs about changes, and the calls of each person. */
async function setStage(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-owners-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const lines = Object.entries(people).map(([name, role]) => `${role} ${name} ${tokenOf(name)}\n`);
  const tokens = writeSecret(secretFolder(t), 'tokens', lines.join(''));
  const audited: Record<string, unknown>[] = [];
  const log = createLog('test', 'silent');
  log.info = (facts: unknown) => {
    if (typeof facts === 'object' && facts !== null && 'audit' in facts) audited.push({ ...facts });
  };
  const coordinator = await startCoordinator(testConfig({ security: { tokens } }), log);
  t.after(() => coordinator.close());
  const clientOf = (name: string): JobsClient => {
    const address = `127.0.0.1:${coordinator.grpcPort}`;
    const { channel, options } = grpcClient(address, { ...createClientSecurity({}), token: () => tokenOf(name) });
    const client = new JobsClient(address, channel, options);
    t.after(() => client.close());
    return client;
  };
  const [ann, bob, root, eve] = Object.keys(people).map(clientOf) as [JobsClient, JobsClient, JobsClient, JobsClient];
  return { folder, audited, api: `http://127.0.0.1:${coordinator.httpPort}/api/v1`, ann, bob, root, eve };
}

type Verb = 'get' | 'cancel' | 'pause' | 'resume';
const ask = (jobs: JobsClient, verb: Verb, jobId: string): Promise<JobStatus> =>
  new Promise((resolve, reject) => {
    jobs[verb]({ jobId }, (error: ServiceError | null, answer: { job?: JobStatus | undefined }) =>
      error ? reject(error) : resolve(answer.job!),
    );
  });
const submitTo = (jobs: JobsClient, folder: string, sources: string[], out: string): Promise<JobStatus> =>
  new Promise((resolve, reject) => {
    const spec = specOf(folder, sources, { out: pathToFileURL(join(folder, out)).href });
    jobs.submit({ spec, nameOutByJob: false }, (error, answer) => (error ? reject(error) : resolve(answer.job!)));
  });
const idsOf = (jobs: JobsClient, request: Partial<ListRequest>): Promise<string[]> =>
  new Promise((resolve, reject) => {
    jobs.list({ states: [], ...request }, (error, answer) =>
      error ? reject(error) : resolve(answer.jobs.map(({ jobId }) => jobId)),
    );
  });

test('a job belongs to its submitter: others change it only as admins, and every change has a line', async (t) => {
  const { folder, audited, ann, bob, root, eve } = await setStage(t);
  const sources = await writeImages(folder, 1);
  const { jobId, owner } = await submitTo(ann, folder, sources, 'of-ann');
  const other = await submitTo(bob, folder, sources, 'of-bob');
  assert.equal(owner, 'ann');
  assert.equal(JSON.parse(await readFile(join(folder, 'of-ann', 'job.json'), 'utf8')).owner, 'ann');
  assert.deepEqual(await idsOf(ann, { mine: true }), [jobId]);
  assert.deepEqual(await idsOf(eve, { mine: true }), []);
  assert.deepEqual(await idsOf(eve, { owner: 'bob' }), [other.jobId]);
  assert.equal((await idsOf(eve, {})).length, 2);

  for (const verb of ['cancel', 'pause', 'resume'] as const) {
    await assert.rejects(ask(bob, verb, jobId), {
      code: status.PERMISSION_DENIED,
      details: `Job ${jobId} belongs to 'ann': to ${verb} it, 'bob' needs the role 'admin'`,
    });
    await assert.rejects(ask(eve, verb, jobId), { code: status.PERMISSION_DENIED });
  }
  const { sinceMs, by } = (await ask(ann, 'pause', jobId)).paused!;
  assert.equal(by, 'ann');
  assert.equal((await ask(root, 'pause', jobId)).paused?.sinceMs, sinceMs);
  assert.equal((await ask(root, 'resume', jobId)).paused, undefined);
  assert.equal((await ask(root, 'cancel', jobId)).state, 'JOB_STATE_CANCELLED');
  await assert.rejects(ask(ann, 'pause', jobId), {
    code: status.FAILED_PRECONDITION,
    details: `Job ${jobId} is cancelled: there is nothing to pause`,
  });

  assert.deepEqual(
    audited.map(({ audit, who, result }) => `${who} ${audit} ${result}`),
    [
      'ann submit done',
      'bob submit done',
      ...['cancel', 'pause', 'resume'].flatMap((verb) => [`bob ${verb} refused`, `eve ${verb} refused`]),
      'ann pause done',
      'root pause done',
      'root resume done',
      'root cancel done',
      'ann pause refused',
    ],
  );
  assert.deepEqual(
    audited.filter(({ who }) => who !== 'eve').map((line) => line.jobId),
    [jobId, other.jobId, ...Array(8).fill(jobId)],
  );
  for (const { from } of audited) assert.match(String(from), /^127\.0\.0\.1:\d+$/);
});

test('changes that HTTP refuses have lines, too', async (t) => {
  const { audited, api } = await setStage(t);
  const post = (path: string, token: string) =>
    fetch(`${api}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: '{}',
    });
  await post('/jobs/some-job/cancel', tokenOf('eve'));
  await post('/jobs', tokenOf('nobody'));
  await post('/jobs/some-job/pause?x=1', tokenOf('nobody'));
  await fetch(`${api}/jobs`, { headers: { authorization: `Bearer ${tokenOf('nobody')}` } });
  assert.deepEqual(
    audited.map(({ who, audit, jobId, result }) => [who, audit, jobId, result]),
    [
      ['eve', 'cancel', 'some-job', 'refused'],
      ['', 'submit', undefined, 'refused'],
      ['', 'pause', 'some-job', 'refused'],
    ],
  );
  assert.equal(audited[0]!.why, "The role of 'eve' is 'read', and this needs 'submit'");
});

test('lines about strangers are bounded, and say how many are left out', () => {
  const lines: Record<string, unknown>[] = [];
  let now = 0;
  const audit = new Audit(
    { info: (facts: unknown) => lines.push(facts as Record<string, unknown>) } as never,
    () => now,
  );
  const refuse = (name: string): void =>
    audit.refused({ action: 'cancel' }, { from: '10.0.0.9:1' }, { name, sentence: 'No' });
  for (let i = 0; i < 50; i++) refuse('');
  assert.equal(lines.length, 10);
  refuse('eve');
  assert.equal(lines.at(-1)!.omitted, 40);
  now = 1_000;
  refuse('');
  assert.deepEqual([lines.length, lines.at(-1)!.omitted], [12, undefined]);
});

test('a paused job keeps what its node computes, outlasts a restart, and goes on when it is told to', async (t) => {
  const { folder, start } = await setStages(t);
  const first = await start();
  const { jobId } = await submitTo(first.jobs, folder, await writeImages(folder, 3), 'out');
  const node = await ScriptedNode.attach(first.coordinator.grpcPort, { creditBytes: 1 });
  const lease = await node.next('lease');
  await ask(first.jobs, 'pause', jobId);
  await complete(node, lease);
  await node.next('acknowledge');
  assert.equal((await ask(first.jobs, 'get', jobId)).counts!.shardsDone, 1);
  await node.hangUp();
  await first.stop();

  const second = await start();
  const again = await ScriptedNode.attach(second.coordinator.grpcPort, { nodeId: 'again' });
  t.after(() => again.hangUp());
  const { paused, counts, waiting, owner } = await ask(second.jobs, 'get', jobId);
  assert.ok(paused);
  assert.deepEqual([counts!.shardsDone, counts!.attempts, waiting, owner], [1, 1, '', '']);
  const ended = watchToEnd(second.jobs, jobId);
  await ask(second.jobs, 'resume', jobId);
  for (let i = 0; i < 2; i++) await complete(again, await again.next('lease'));
  const last = (await ended).at(-1)!;
  assert.deepEqual([last.state, last.counts!.attempts, last.paused], ['JOB_STATE_COMPLETE', 3, undefined]);
});

test('limits of owners hold from the start, and change with their file', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-limits-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const owners = join(folder, 'owners');
  await writeFile(owners, '* jobs=1 credit=1B\n', { mode: 0o600 });
  const coordinator = await startCoordinator(testConfig({ security: { owners } }), createLog('test', 'silent'));
  const jobs = new JobsClient(`127.0.0.1:${coordinator.grpcPort}`, credentials.createInsecure());
  const node = await ScriptedNode.attach(coordinator.grpcPort);
  t.after(async () => {
    jobs.close();
    await node.hangUp();
    await coordinator.close();
  });
  const sources = await writeImages(folder, 3);
  const { jobId } = await submitTo(jobs, folder, sources, 'first');
  await assert.rejects(submitTo(jobs, folder, sources, 'second'), {
    code: status.RESOURCE_EXHAUSTED,
    details: /^Everybody together may have 1 open jobs, and has as many/,
  });
  const lease = await node.next('lease');
  assert.equal((await ask(jobs, 'get', jobId)).counts!.attempts, 1);
  await writeFile(owners, '* credit=1GB\n');
  await complete(node, lease);
  for (let i = 0; i < 2; i++) await node.next('lease');
  await submitTo(jobs, folder, sources, 'second');
});
