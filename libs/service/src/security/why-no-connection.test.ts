import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { createServer as createHttp2, createSecureServer } from 'node:http2';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createClientSecurity } from './client-security.ts';
import { judgeGreeting } from './judge-greeting.ts';
import { makeCertificates } from './testing/secrets.ts';
import { describePeer, whyNoConnection } from './why-no-connection.ts';

const folder = mkdtempSync(join(tmpdir(), 'halogrid-peers-'));
const own = makeCertificates(folder, 'own');
const other = makeCertificates(folder, 'other');
const misnamed = makeCertificates(folder, 'misnamed', 'DNS:coordinator.example,IP:192.0.2.1');
const pem = ({ cert, key }: typeof own) => ({ cert: readFileSync(cert), key: readFileSync(key) });
const wanting = { ...pem(own), ca: readFileSync(own.ca), requestCert: true, rejectUnauthorized: true };

// Servers of HTTP/2 stand in for gRPC servers.
const servers: Record<string, Server> = {
  plain: createHttp2(),
  secure: createSecureServer(pem(own)),
  misnamed: createSecureServer(pem(misnamed)),
  wanting: createSecureServer(wanting),
  wantingEarlier: createSecureServer({ ...wanting, maxVersion: 'TLSv1.2' }),
  http: createHttp(),
  https: createHttps(pem(own)),
  greeting: createServer((socket) => socket.end('SSH-2.0-x\r\n')),
  closing: createServer((socket) => socket.end()),
  silent: createServer(),
};
const addresses: Record<string, string> = { nobody: '127.0.0.1:9', unknown: 'nowhere.invalid:7070' };
const sockets = new Set<Socket>();

before(async () => {
  for (const [name, server] of Object.entries(servers)) {
    server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => {})));
    server.on('sessionError', () => {}).on('tlsClientError', () => {});
    await once(server.listen(0, '127.0.0.1'), 'listening');
    addresses[name] = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
});

after(() => {
  for (const server of Object.values(servers)) server.close();
  for (const socket of sockets) socket.destroy();
  rmSync(folder, { recursive: true });
});

const without = {};
const trusting = { tlsCa: own.ca };
const showing = { ...trusting, tlsCert: own.cert, tlsKey: own.key };
const showingOther = { ...trusting, tlsCert: other.cert, tlsKey: other.key };

const table: [who: string, options: object, sentence: RegExp][] = [
  ['nobody', without, /^No coordinator answers at 127\.0\.0\.1:9: is one running there \('halogrid coordinator'\)\?$/],
  ['nobody', trusting, /^No coordinator answers at 127\.0\.0\.1:9: is one running there/],
  ['unknown', without, /that name of a machine is not known here \(E\w+\)$/],
  ['plain', trusting, /speaks no TLS: leave out --tls-ca, --tls-cert and --tls-key, or start it with --tls-cert/],
  ['plain', without, /takes another now: try again$/],
  ['secure', without, /speaks TLS alone: give --tls-ca with the authority of its certificate$/],
  ['secure', { tlsCa: other.ca }, /is not signed by the authority of --tls-ca \(\w+\): give the --tls-ca of its/],
  ['secure', { tlsCert: own.cert, tlsKey: own.key }, /by an authority that is known here \(\w+\): give --tls-ca with/],
  [
    'misnamed',
    { tlsCa: misnamed.ca },
    /is for other names \(DNS:coordinator\.example, IP Address:192\.0\.2\.1\): dial/,
  ],
  ['wanting', without, /speaks TLS alone: give --tls-ca .*, and --tls-cert with --tls-key, because it asks for a cert/],
  ['wanting', trusting, /asks for a certificate: give --tls-cert and --tls-key$/],
  ['wantingEarlier', trusting, /asks for a certificate: give --tls-cert and --tls-key$/],
  ['wanting', showingOther, /does not accept the certificate of --tls-cert: the authority of its own --tls-ca must/],
  ['wanting', showing, /takes another now: try again$/],
  ['http', without, /speaks HTTP, as a coordinator does at its --http, and no gRPC: give --coordinator the address/],
  ['http', trusting, /speaks HTTP/],
  ['https', without, /speaks HTTP/],
  ['https', trusting, /speaks HTTP/],
  ['greeting', without, /is not a coordinator, because it does not speak gRPC/],
  ['greeting', trusting, /is not a coordinator, because it does not speak gRPC/],
  ['closing', without, /is not a coordinator, because it does not speak gRPC/],
  ['silent', without, /accepts connections and says nothing: a coordinator that stands still, or another program$/],
];

test('an expired certificate is told apart from an untrusted one', () => {
  const heard = { isConnected: true, isSecured: true, mistrust: 'CERT_HAS_EXPIRED' };
  const peer = judgeGreeting(heard, { ca: 'pem', cert: undefined, key: undefined });
  assert.match(
    describePeer(peer, 'h:1'),
    /^The certificate of the coordinator at h:1 is not valid now \(CERT_HAS_EXPIRED\)/,
  );
});

test('the fault of a connection is reported with a remedy, for each kind of server and of client', async (t) => {
  const warned: Error[] = [];
  const heed = (warning: Error) => warned.push(warning);
  process.on('warning', heed);
  t.after(() => process.off('warning', heed));
  const answers = table.map(([who, options]) => whyNoConnection(addresses[who]!, createClientSecurity(options)));
  for (const [i, answer] of (await Promise.all(answers)).entries()) {
    const [who, options, sentence] = table[i]!;
    assert.match(answer, sentence, `${who} ${Object.keys(options)}`);
    assert.ok(answer.includes(addresses[who]!), answer);
  }
  assert.deepEqual(warned, []);
});
