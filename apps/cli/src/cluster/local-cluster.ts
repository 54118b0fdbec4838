import { plural } from '../progress/quantities.ts';
import { afterNodeEnd } from './after-node-end.ts';
import { type Child, describeEnding, startChild } from './child.ts';

/** A coordinator and nodes on this machine, in processes of their own that talk gRPC over loopback. */
export interface LocalCluster {
  /** HOST:PORT of the coordinator. */
  readonly address: string;
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

/** Starts the coordinator, waits until it serves, and starts the nodes without waiting for them. */
export async function startLocalCluster(options: LocalClusterOptions): Promise<LocalCluster> {
  const coordinator = startChild(['coordinator', '--listen', '127.0.0.1:0', '--http', '127.0.0.1:0']);
  const ready = await coordinator.ready;
  if (!ready) throw new Error(await story('The coordinator', coordinator));
  const address = `127.0.0.1:${ready.grpc}`;

  const alive = new Map<number, Child>();
  let isStopping = false;
  let fail: (error: Error) => void;
  const broken = new Promise<never>((_, reject) => {
    fail = reject;
  });
  // Whoever waits for `broken` sees the error; until then it is not an unhandled one.
  broken.catch(() => {});

  coordinator.ended.then(async () => {
    if (!isStopping) fail(new Error(await story('The coordinator', coordinator)));
  });
  const startNode = async (index: number, restarts: number): Promise<void> => {
    const name = `node-${index + 1}`;
    const node = startChild([
      'node',
      '--coordinator',
      address,
      '--name',
      name,
      '--device',
      options.device,
      '--http',
      '127.0.0.1:0',
    ]);
    alive.set(index, node);
    const served = (await node.ready) !== undefined;
    const ending = await node.ended;
    alive.delete(index);
    if (isStopping) return;
    const action = afterNodeEnd({ served, restarts }, alive.size);
    if (action === 'give up') return fail(new Error(await story(`Node ${name}`, node)));
    const rest = action === 'restart' ? 'it is started again' : `${plural(alive.size, 'node')} left`;
    options.note(`Node ${name} ${describeEnding(ending)}: ${rest}`);
    if (action === 'restart') await startNode(index, restarts + 1);
  };
  for (let i = 0; i < options.nodes; i++) void startNode(i, 0);

  return {
    address,
    broken,
    async stop() {
      isStopping = true;
      await Promise.all([...alive.values()].map((node) => node.stop()));
      await coordinator.stop();
    },
  };
}

/** Why a process is gone: how it ended and what it said last. */
async function story(who: string, child: Child): Promise<string> {
  const tail = child.logTail();
  const said = tail.length > 0 ? `; its last words:\n${tail.map((line) => `  ${line}`).join('\n')}` : '';
  return `${who} ${describeEnding(await child.ended)}${said}`;
}
