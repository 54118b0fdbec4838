import { setTimeout as delay } from 'node:timers/promises';
import { UsageError } from '@halogrid/service';
import { exitCodes } from '../exit-code.ts';
import { plural } from '../progress/quantities.ts';
import { afterNodeEnd } from './after-node-end.ts';
import { type Child, describeEnding, startChild } from './child.ts';

const anyPort = '127.0.0.1:0';

/** A coordinator and nodes on this machine, in processes of their own that talk gRPC over loopback. */
export interface LocalCluster {
  /** HOST:PORT of the coordinator. */
  readonly address: string;
  /** Resolves when every node serves, or a while after the first does; rejects as `broken` does. */
  readonly ready: Promise<unknown>;
  /** Rejects when it cannot go on: the coordinator ended, or every node did. Never resolves. */
  readonly broken: Promise<never>;
  /** Stops every process. */
  stop(): Promise<void>;
}

export interface LocalClusterOptions {
  nodes: number;
  /** Devices of the nodes: auto, gpu, software or cpu. */
  device: string;
  /** Told what happens to processes, in lines for people. */
  note: (line: string) => void;
}

/** Nodes that take longer to start than another, by this much, join the job when it runs already. */
const togetherMs = 2_000;

/** Starts the coordinator, waits until it serves, and starts the nodes without waiting for them. */
export async function startLocalCluster({ nodes, device, note }: LocalClusterOptions): Promise<LocalCluster> {
  const coordinator = startChild(['coordinator', '--listen', anyPort, '--http', anyPort, '--ledger-in-output']);
  const served = await coordinator.ready;
  if (!served) throw await whyEnded('The coordinator', coordinator);
  const address = `127.0.0.1:${served.grpc}`;

  let isStopping = false;
  let fail: (error: Error) => void;
  const broken = new Promise<never>((_, reject) => {
    fail = reject;
  });
  // Whoever waits for these sees the error; until then it is not an unhandled one.
  broken.catch(() => {});
  void coordinator.ended.then(async () => {
    if (!isStopping) fail(await whyEnded('The coordinator', coordinator));
  });

  const alive = new Set<Child>();
  const startNode = (name: string): Child => {
    const where = ['--coordinator', address, '--http', anyPort];
    const node = startChild(['node', ...where, '--name', name, '--device', device]);
    alive.add(node);
    return node;
  };
  const keepNode = async (name: string, node: Child, restarts: number): Promise<void> => {
    const hasServed = (await node.ready) !== undefined;
    const ending = await node.ended;
    alive.delete(node);
    if (isStopping) return;
    const action = afterNodeEnd({ hasServed, restarts }, alive.size);
    if (action === 'give up') return fail(await whyEnded(`Node ${name}`, node));
    const rest = action === 'restart' ? 'it is started again' : `${plural(alive.size, 'node')} left`;
    note(`Node ${name} ${describeEnding(ending)}: ${rest}.`);
    if (action === 'restart') await keepNode(name, startNode(name), restarts + 1);
  };
  const starts = Array.from({ length: nodes }, (_, i) => {
    const name = `node-${i + 1}`;
    const node = startNode(name);
    void keepNode(name, node, 0);
    // A node that fails to start is waited for no longer than the others, and all of them failing is `broken`.
    return node.ready.then((hasServed) => hasServed ?? broken);
  });
  const soonAfterFirst = Promise.race(starts).then(() => delay(togetherMs, undefined, { ref: false }));
  const ready = Promise.race([Promise.all(starts), soonAfterFirst]);
  ready.catch(() => {});

  return {
    address,
    ready,
    broken,
    async stop() {
      isStopping = true;
      await Promise.all([...alive].map((node) => node.stop()));
      await coordinator.stop();
    },
  };
}

/** Why a process is gone: the sentence with which it refused what it was asked, or how it ended and what it said last. */
async function whyEnded(who: string, child: Child): Promise<Error> {
  const ending = await child.ended;
  const tail = child.logTail();
  const refusal = /^halogrid: (.*)$/.exec(tail.at(-1) ?? '')?.[1];
  if (ending.code === exitCodes.usage && refusal) return new UsageError(refusal);
  const lastWords = tail.map((line) => `\n  ${line}`).join('');
  return new Error(`${who} ${describeEnding(ending)}${lastWords && `; its last words:${lastWords}`}`);
}
