import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { connect } from 'node:tls';
import { type Certificates, makeCertificates } from '@halogrid/service/testing';
import { eventually } from '@halogrid/testing';
import { command } from './command.ts';
import { TcpProxy } from './faults/tcp-proxy.ts';
import { Halogrid } from './halogrid.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { readHistogram } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';

// Certificates are replaced by certificates of another authority while everything runs. Processes use the new ones
// without a restart.

const folder = scratchFolder();
const source = join(folder, 'picture.pgm');
const old = makeCertificates(folder, 'old');
const next = makeCertificates(folder, 'next');

let coordinator: Halogrid;
let node: Halogrid;
let proxy: TcpProxy;
let address: string;
/** Ports of HTTP. */
let ports: { coordinator: number; node: number };

/** Replaces the certificate files of a process one after another, as tools that renew certificates do. */
function install(whose: string, { ca, cert, key }: Certificates): string[] {
  const options = Object.entries({ '--tls-ca': ca, '--tls-cert': cert, '--tls-key': key }).map(([option, from]) => {
    const path = join(folder, `${whose}${option}`);
    copyFileSync(from, `${path}.new`);
    renameSync(`${path}.new`, path);
    return [option, path];
  });
  return options.flat();
}

const asClient = ({ ca, cert, key }: Certificates): string[] => ['--tls-ca', ca, '--tls-cert', cert, '--tls-key', key];
const ask = (who: Certificates, ...args: string[]) => command([...args, '--coordinator', address, ...asClient(who)]);

/** The fingerprint of the certificate that the server at a port shows. */
function certificateAt(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate()!.fingerprint256);
      socket.destroy();
    }).on('error', reject);
  });
}

const fingerprint = ({ cert }: Certificates): string => new X509Certificate(readFileSync(cert)).fingerprint256;

/** Whether the coordinator lists the node. */
async function isAttached(who: Certificates): Promise<boolean> {
  const { code, stdout } = await ask(who, 'nodes', '--json');
  return code === 0 && JSON.parse(stdout).length === 1;
}

before(async () => {
  await writePgm(source, drawPicture(200, 150));
  const anyPort = ['--http', '127.0.0.1:0', '--log-level', 'warn'];
  const where = ['--listen', '127.0.0.1:0', '--ledger', 'memory'];
  coordinator = new Halogrid(['coordinator', ...where, ...anyPort, ...install('coordinator', old)]);
  const served = await coordinator.firstLine;
  address = `127.0.0.1:${served.grpc}`;
  proxy = await TcpProxy.start(address);
  // The node reads sources through the coordinator's HTTP server, and so also checks that server's certificate.
  const far = [
    '--coordinator',
    proxy.address,
    '--device',
    'cpu',
    '--storage',
    'remote',
    '--data-root',
    join(folder, 'empty'),
  ];
  mkdirSync(join(folder, 'empty'));
  node = new Halogrid(['node', ...far, ...anyPort, ...install('node', old)]);
  ports = { coordinator: Number(served.http), node: Number((await node.firstLine).http) };
  await eventually('the node to be attached', () => isAttached(old));
});

after(async () => {
  for (const program of [node, coordinator]) {
    program.signal('SIGTERM');
    assert.equal((await program.ended).code, 0);
  }
  await proxy.close();
});

async function runJob(who: Certificates, name: string) {
  const out = join(folder, name);
  const { code, stderr } = await ask(who, 'run', source, '--tile', '64', '--map', 'tiff', '--out', out);
  assert.equal(code, 0, stderr);
  return readHistogram(out);
}

test('new certificates of a coordinator are used for all later connections, and no connection is cut off', async () => {
  const before = await runJob(old, 'before');
  install('coordinator', next);
  await eventually('a client of the new authority to be let in', () => isAttached(next));
  const refused = await ask(old, 'jobs');
  assert.equal(refused.code, 1, refused.stderr);
  await eventually('HTTP with it', async () => (await certificateAt(ports.coordinator)) === fingerprint(next));

  // The node keeps its older connection. But to read sources it must connect again, and its authority no longer
  // matches.
  install('node', next);
  await eventually('the HTTP of the node with it', async () => (await certificateAt(ports.node)) === fingerprint(next));
  assert.deepEqual(await runJob(next, 'after'), before);
});

test('a node that dials again uses its new certificate', async () => {
  const third = makeCertificates(folder, 'third');
  install('coordinator', third);
  await eventually('a client of the new authority to be let in', async () => (await ask(third, 'jobs')).code === 0);
  const dialled = proxy.accepted;
  proxy.cut('reset');
  await eventually('the node to have tried again', () => proxy.accepted > dialled + 1);
  assert.equal(await isAttached(third), false);
  install('node', third);
  await eventually('the node to be attached again', () => isAttached(third));
  assert.deepEqual(await runJob(third, 'again'), readHistogram(join(folder, 'before')));
});
