import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { parseAddress } from '../listen-address.ts';
import { type Greeting, judgeGreeting, type Peer, peerOfOtherWay } from './judge-greeting.ts';
import type { Tls } from './tls-files.ts';

/** How long to wait for the first bytes. A coordinator sends them at once, so they arrive in less over any network. */
const greetWithinMs = 2_000;

/** The first bytes of a client of HTTP/2, and so of gRPC: a fixed text and an empty SETTINGS frame (RFC 9113, 3.4). */
const preface = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);

/**
 * Finds out what is at HOST:PORT after no gRPC connection could be made. Greets it as asked (`tls`: certificates;
 * undefined: without TLS), and in the other way if that is inconclusive. Sends no token. Never rejects.
 */
export async function lookAtPeer(address: string, tls: Tls | undefined): Promise<Peer> {
  const peer = judgeGreeting(await greet(address, tls), tls);
  if (peer.kind !== 'unclear') return peer;
  const heard = await greet(address, tls ? undefined : {});
  return peerOfOtherWay(judgeGreeting({ ...heard, mistrust: undefined }, undefined), tls !== undefined);
}

/** Connects, sends the preface, and resolves with the answer. */
function greet(address: string, tls: Partial<Tls> | undefined): Promise<Greeting> {
  const { host: written, port } = parseAddress('--coordinator', address);
  const host = written.replace(/^\[(.*)\]$/, '$1');
  return new Promise((resolve) => {
    const heard: Greeting = { isConnected: false, isSecured: false };
    // An untrusted certificate is accepted here, because it is one of the faults to find: it is judged afterwards, and
    // only the preface is sent.
    const secured = tls && {
      ...tls,
      ALPNProtocols: ['h2'],
      servername: isIP(host) ? '' : host,
      rejectUnauthorized: false,
    };
    const socket: Socket | TLSSocket = secured ? connectTls({ host, port, ...secured }) : connectPlain({ host, port });
    const patience = setTimeout(() => socket.destroy(), greetWithinMs);
    socket.once('connect', () => {
      heard.isConnected = true;
      if (!tls) socket.write(preface);
    });
    socket.once('secureConnect', () => {
      heard.isSecured = true;
      if ('authorizationError' in socket && !socket.authorized) {
        heard.mistrust = String(socket.authorizationError);
        heard.names = socket.getPeerCertificate().subjectaltname ?? '';
      }
      socket.write(preface);
    });
    socket.once('data', (bytes) => {
      heard.bytes = bytes;
      socket.destroy();
    });
    socket.once('end', () => {
      heard.isEnded = true;
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      heard.error = error.code ?? error.message;
    });
    socket.once('close', () => {
      clearTimeout(patience);
      resolve(heard);
    });
  });
}
