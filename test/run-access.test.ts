import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { credentials, type ServiceError, status } from '@grpc/grpc-js';
import { JobsClient, NodesClient } from '@halogrid/proto';
import { eventually, standStill } from '@halogrid/testing';
import { Halogrid, halogrid } from './halogrid.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { commandLine, hasProc, listeningPorts, settingOf } from './process-list.ts';
import { readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { slowFiles } from './slow-files.ts';
import { hasChunks } from './unfinished.ts';

// Other users of a machine can reach the ports of a user's `halogrid run`, but must not be able to use them.

const skip = hasProc ? false : 'which ports it has is told by /proc';
const folder = scratchFolder();
const source = join(folder, 'picture.pgm');

/** The status of a call without a token. */
function codeOf(call: (answer: (error: ServiceError | null) => void) => void): Promise<status> {
  return new Promise((resolve) => call((error) => resolve(error?.code ?? status.OK)));
}

async function callsRefused(port: number): Promise<Record<string, status>> {
  const address = `127.0.0.1:${port}`;
  const jobs = new JobsClient(address, credentials.createInsecure());
  const nodes = new NodesClient(address, credentials.createInsecure());
  const pipeline = { operations: [{ kernel: 'lbp', parameters: {}, border: '' }] };
  const plain = { op: [], mapFormat: 'none', tilePx: 0, batchFrames: 0, grid: undefined };
  const spec = { sources: [`file://${source}`], out: `file://${folder}/stolen`, pipeline, ...plain };
  const codes = {
    list: await codeOf((answer) => jobs.list({ states: [] }, answer)),
    submit: await codeOf((answer) => jobs.submit({ spec, nameOutByJob: false }, answer)),
    nodes: await codeOf((answer) => nodes.list({}, answer)),
    attach: await codeOf((answer) => nodes.attach().on('error', answer).resume()),
  };
  jobs.close();
  nodes.close();
  return codes;
}

const httpStatus = (port: number, path: string): Promise<number | undefined> =>
  fetch(`http://127.0.0.1:${port}${path}`).then(
    ({ status }) => status,
    () => undefined,
  );

test('without the token of a run, its coordinator cannot be used, and nothing that it and its nodes serve can be read', {
  skip,
}, async (t) => {
  await writePgm(source, drawPicture(400, 400));
  const out = join(folder, 'out');
  const cut = ['--tile', '40', '--map', 'tiff'];
  const run = new Halogrid(['run', source, '--out', out, ...cut, '--nodes', '2', '--device', 'cpu'], {
    env: slowFiles('picture.pgm'),
  });
  t.after(() => run.kill());
  await eventually('the first results', () => hasChunks(out));
  const nodes = run.pidsOf('node');
  // Stops the nodes, so that the run does not end before it was examined.
  const goOn = nodes.map(standStill);
  // The coordinator of a run is in the process of the command.
  const [coordinator] = run.pidsOf('run');
  const ports = listeningPorts(coordinator!);
  assert.equal(ports.length, 2);

  const [first, second] = await Promise.all(ports.map((port) => httpStatus(port, '/healthz')));
  assert.deepEqual(new Set([first, second]), new Set([200, undefined]), 'one of the two is HTTP');
  const [http, grpc] = first === 200 ? ports : ports.toReversed();
  const { UNAUTHENTICATED } = status;
  const all = { list: UNAUTHENTICATED, submit: UNAUTHENTICATED, nodes: UNAUTHENTICATED, attach: UNAUTHENTICATED };
  assert.deepEqual(await callsRefused(grpc!), all);
  for (const path of ['/metrics', '/api/v1/jobs', '/api/v1/nodes']) assert.equal(await httpStatus(http!, path), 401);

  const where = ['--coordinator', `127.0.0.1:${grpc}`];
  const stranger = await halogrid(['node', ...where, '--device', 'cpu', '--http', '127.0.0.1:0']);
  assert.equal(stranger.code, 1);
  assert.match(stranger.stderr, /refuses this node: Expected a token with the role 'node' but received none/);
  const guess = await halogrid(['jobs', ...where], { env: { HALOGRID_TOKEN: 'f'.repeat(64) } });
  assert.equal(guess.code, 2);
  assert.match(guess.stderr, /The token is not known here/);

  // The other node still holds shards, so the job does not end meanwhile.
  goOn[0]!();
  const port = await eventually('the port of a node', () => listeningPorts(nodes[0]!)[0]);
  assert.equal(await httpStatus(port, '/metrics'), 401);
  const token = settingOf(nodes[0]!, 'HALOGRID_TOKEN')!;
  assert.match(token, /^[0-9a-f]{64}$/);
  const commands = run.processes().map(({ pid }) => commandLine(pid));
  // There are three processes, because the launcher has become the command.
  assert.equal(commands.length, 3);
  assert.ok(!commands.join().includes(token), 'no command line has it');
  goOn[1]!();
  const { code, stdout, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  assert.ok(![stdout, stderr, JSON.stringify(readJson(out, 'job.json'))].join().includes(token));
  assert.ok(!existsSync(join(folder, 'stolen')));
});
