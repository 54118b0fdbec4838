import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually, matched } from '@halogrid/testing';
import { command } from './command.ts';
import { Halogrid, halogrid } from './halogrid.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { readErrors, readHistogram } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { runUndisturbed } from './shared-cluster.ts';

// A cluster that other machines can reach, set up as in docs/security.md: certificates, tokens and data roots.

const manual = readFileSync(fileURLToPath(new URL('../docs/security.md', import.meta.url)), 'utf8');
const folder = scratchFolder();
const data = join(folder, 'data');
const path = (name: string): string => join(folder, name);
const tokenOf = (name: string): string => `${name}-token-0123456789abcdef`;
const client = ['--tls-ca', path('ca.pem'), '--tls-cert', path('client.pem'), '--tls-key', path('client.key')];

let coordinator: Halogrid;
let node: Halogrid;
let address: string;
let http: number;

const withToken = (name: string): string[] => [...client, '--token-file', path(`${name}-token`)];
const ask = (name: string, ...args: string[]) => command([...args, '--coordinator', address, ...withToken(name)]);

before(async () => {
  mkdirSync(data);
  await writePgm(join(data, '1.pgm'), drawPicture(120, 90));
  await writePgm(path('secret.pgm'), drawPicture(60, 50));
  symlinkSync(path('secret.pgm'), join(data, 'link.pgm'));
  const [, commands] = matched(manual, /^```sh\n((?:openssl .*\n){3})```$/m);
  execFileSync('bash', ['-euo', 'pipefail', '-c', commands!], { cwd: folder, stdio: 'pipe' });
  const lines = ['submit alice', 'node rack', 'read bob'].map((who) => `${who} ${tokenOf(who.split(' ')[1]!)}\n`);
  writeFileSync(path('tokens'), lines.join(''), { mode: 0o600 });
  for (const name of ['alice', 'rack', 'bob', 'mallory']) {
    writeFileSync(path(`${name}-token`), tokenOf(name), { mode: 0o600 });
  }
  const tls = ['--tls-cert', path('coordinator.pem'), '--tls-key', path('coordinator.key'), '--tls-ca', path('ca.pem')];
  const open = ['--listen', '0.0.0.0:0', '--http', '0.0.0.0:0', '--data-root', data];
  coordinator = new Halogrid(['coordinator', ...open, ...tls, '--tokens', path('tokens')]);
  const served = await coordinator.firstLine;
  address = `127.0.0.1:${served.grpc}`;
  http = Number(served.http);
  const where = ['--coordinator', address, '--http', '127.0.0.1:0', '--device', 'cpu', '--data-root', data];
  node = new Halogrid(['node', ...where, ...withToken('rack')]);
  await node.firstLine;
  await eventually('the node to be attached', async () => JSON.parse((await ask('bob', 'nodes', '--json')).stdout)[0]);
});

after(async () => {
  for (const program of [node, coordinator]) {
    program.signal('SIGTERM');
    await program.ended;
  }
});

test('a job over TLS with tokens gives the same results as without', async () => {
  const ended = await ask('alice', 'run', join(data, '1.pgm'), '--out', join(data, 'out'));
  assert.equal(ended.code, 0, ended.stderr);
  await runUndisturbed([join(data, '1.pgm'), '--out', path('plain')]);
  assert.deepEqual(readHistogram(join(data, 'out')), readHistogram(path('plain')));
});

for (const [what, name, args, sentence] of [
  [
    'a reader submits no job',
    'bob',
    ['submit', join(data, '1.pgm')],
    /The role of 'bob' is 'read', and this needs 'submit'/,
  ],
  ['a node looks at no job', 'rack', ['jobs'], /The role of 'rack' is 'node', and this needs 'read'/],
  ['nobody looks with another token', 'mallory', ['jobs'], /The token is not known here/],
  [
    'no file outside of the roots is read',
    'alice',
    ['submit', path('secret.pgm')],
    /not allowed here: The path lies outside/,
  ],
  ['nor through a link', 'alice', ['submit', join(data, 'link.pgm')], /not allowed here: The path lies outside/],
  [
    'nor through ..',
    'alice',
    ['submit', `file://${data}/%2e%2e/secret.pgm`],
    /not allowed here: The path lies outside/,
  ],
  [
    'no host is asked',
    'alice',
    ['submit', 'http://169.254.169.254/a.png'],
    /not among those that may be asked \(--allow-host\)/,
  ],
] as const) {
  test(what, async () => {
    const ended = await ask(name, ...args, ...(args[0] === 'submit' ? ['--out', join(data, 'none')] : []));
    assert.equal(ended.code, 2, ended.stderr);
    assert.match(ended.stderr, sentence);
    assert.ok(!existsSync(join(data, 'none')));
  });
}

test('nothing is written outside the roots', async () => {
  const ended = await ask('alice', 'submit', join(data, '1.pgm'), '--out', path('elsewhere'));
  assert.equal(ended.code, 2);
  assert.match(ended.stderr, /The output is not allowed here: The path lies outside/);
  assert.ok(!existsSync(path('elsewhere')));
});

test('a link in a folder is quarantined, and its target is not counted', async () => {
  mkdirSync(join(data, 'frames'));
  copyFileSync(join(data, '1.pgm'), join(data, 'frames', '1.pgm'));
  symlinkSync(path('secret.pgm'), join(data, 'frames', '2.pgm'));
  const ended = await ask('alice', 'run', join(data, 'frames'), '--out', join(data, 'frames-out'));
  assert.equal(ended.code, 3, ended.stderr);
  assert.deepEqual(readHistogram(join(data, 'frames-out')), readHistogram(join(data, 'out')));
  const [error] = readErrors(join(data, 'frames-out'));
  assert.equal(error!.error, 'The path lies outside of the data roots (--data-root)');
});

test('without a certificate there is no connection, and without a token no call', async () => {
  const jobs = ['jobs', '--coordinator', address];
  const withoutCertificate = await command([...jobs, '--tls-ca', path('ca.pem')]);
  assert.equal(withoutCertificate.code, 1);
  assert.match(withoutCertificate.stderr, /asks for a certificate: give --tls-cert and --tls-key/);
  const withoutTls = await command(jobs);
  assert.equal(withoutTls.code, 1);
  assert.match(withoutTls.stderr, /speaks TLS alone: give --tls-ca .*, and --tls-cert with --tls-key/);
  const ended = await halogrid([...jobs, ...client]);
  assert.equal(ended.code, 2);
  // The sentence is the whole output; there must be no warning of Node about a server name that is an IP address.
  assert.match(ended.stderr, /^halogrid: Expected a token with the role 'read' but received none/);
});

test('a rejected node ends and says why', async () => {
  const where = ['--coordinator', address, '--http', '127.0.0.1:0', '--device', 'cpu'];
  const ended = await halogrid(['node', ...where, ...withToken('alice')]);
  assert.equal(ended.code, 1);
  assert.match(ended.stderr, /The coordinator refuses this node: The role of 'alice' is 'submit'/);
});

test('HTTP needs a certificate and a token; probes need neither', async () => {
  const pem = (name: string) => readFileSync(path(name));
  const pair = { cert: pem('client.pem'), key: pem('client.key') };
  const statusOf = (at: string, token?: string, own?: object) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
      const options = { host: '127.0.0.1', port: http, path: at, headers, ca: pem('ca.pem'), agent: false as const };
      request({ ...options, ...own }, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end();
    });
  assert.equal(await statusOf('/healthz'), 200);
  assert.equal(await statusOf('/readyz'), 200);
  for (const at of ['/metrics', '/api/v1/jobs']) {
    assert.equal(await statusOf(at, tokenOf('bob')), 403);
    assert.equal(await statusOf(at, undefined, pair), 401);
    assert.equal(await statusOf(at, tokenOf('rack'), pair), 403);
    assert.equal(await statusOf(at, tokenOf('bob'), pair), 200);
  }
});

test('a node that cannot see the files gets them over TLS', async () => {
  node.signal('SIGTERM');
  await node.ended;
  mkdirSync(path('empty'));
  const where = ['--coordinator', address, '--http', '127.0.0.1:0', '--device', 'cpu', '--data-root', path('empty')];
  node = new Halogrid(['node', ...where, '--storage', 'remote', ...withToken('rack')]);
  await node.firstLine;
  const ended = await ask('alice', 'run', join(data, '1.pgm'), '--map', 'tiff', '--out', join(data, 'remote-out'));
  assert.equal(ended.code, 0, ended.stderr);
  assert.deepEqual(readHistogram(join(data, 'remote-out')), readHistogram(path('plain')));
});

for (const [args, sentence] of [
  [[], /neither TLS nor a token/],
  [['--tokens', path('tokens')], /Expected --data-root DIR/],
  [['--tokens', path('nowhere'), '--data-root', folder], /'.*nowhere' \(--tokens\) cannot be read/],
  [['--insecure-network'], /Expected --data-root DIR/],
] as const) {
  test(`a coordinator for other machines with ${args.join(' ') || 'nothing'} is refused`, async () => {
    const ended = await command(['coordinator', '--listen', '0.0.0.0:0', '--http', '127.0.0.1:0', ...args]);
    assert.equal(ended.code, 2);
    assert.match(ended.stderr, sentence);
  });
}
