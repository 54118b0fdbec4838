import { connect } from 'node:net';
import { createClientSecurity } from '@halogrid/service';
import { connectCoordinator } from '../client/coordinator-client.ts';
import { plural } from '../progress/quantities.ts';

/** A port of this machine that the program listens on by default. */
export interface PortFinding {
  port: number;
  of: string;
  /** The program that answers there; undefined if none does. */
  by: string | undefined;
}

const host = '127.0.0.1';
/** A healthy program on this machine answers long before this. */
const withinMs = 1_500;

interface KnownPort {
  port: number;
  of: string;
  ask: (port: number) => Promise<string | undefined>;
}

const knownPorts: readonly KnownPort[] = [
  { port: 7070, of: 'the gRPC of a coordinator', ask: askCoordinator },
  { port: 9464, of: 'the console of a coordinator', ask: askMetrics },
  { port: 9465, of: 'the metrics of a node', ask: askMetrics },
];

/** Which programs listen on these ports of this machine (default: the program's own default ports). */
export function probePorts(ports = knownPorts): Promise<PortFinding[]> {
  return Promise.all(
    ports.map(async ({ port, of, ask }) => ({
      port,
      of,
      by: (await isTaken(port)) ? ((await ask(port).catch(() => undefined)) ?? 'another program') : undefined,
    })),
  );
}

function isTaken(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: withinMs });
    const end = (taken: boolean) => () => {
      socket.destroy();
      resolve(taken);
    };
    socket.once('connect', end(true)).once('timeout', end(true)).once('error', end(false));
  });
}

async function askCoordinator(port: number): Promise<string> {
  const patience = { withinMs, isAskedAgain: false };
  const client = connectCoordinator(`${host}:${port}`, createClientSecurity({}, process.env), patience);
  try {
    const { length } = await client.nodes();
    return `a coordinator of halogrid with ${plural(length, 'node')}`;
  } finally {
    client.close();
  }
}

/** Asks for the page of metrics. It may need a token, but our answer says 'halogrid' then, too. */
export async function askMetrics(port: number): Promise<string | undefined> {
  const answer = await fetch(`http://${host}:${port}/metrics`, { signal: AbortSignal.timeout(withinMs) });
  const text = await answer.text();
  return text.includes('halogrid') ? 'halogrid' : undefined;
}

export const describePort = ({ port, of, by }: PortFinding): string =>
  by === undefined ? `${port}: free, for ${of}` : `${port}: taken by ${by}; it is for ${of}`;
