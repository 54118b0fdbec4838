import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type GpuPin, requirePlacement, threadsEach } from '@halogrid/gpu-node/gpus';
import { createClientSecurity } from '@halogrid/service';
import {
  type CoordinatorClient,
  clientOf,
  type GrpcClientOptions,
  type GrpcTransport,
  grpcTransport,
  ownCoordinator,
} from '../client/coordinator-client.ts';
import { toldByParent } from '../process/parent.ts';
import { plural } from '../progress/quantities.ts';
import { afterNodeEnd, type Child, describeEnding, plainLogLine, startChild, whyEnded } from './child.ts';
import { type StartOwnCoordinator, tokenSettings } from './own-coordinator.ts';
import { unlessBroken } from './unless-broken.ts';

const anyPort = '127.0.0.1:0';

/** A coordinator and nodes on this machine that talk gRPC over loopback. Each node is a process of its own. */
export interface LocalCluster {
  /**
   * The calls of the coordinator, which only this process can use. If the cluster breaks, they reject as `broken` does.
   */
  dial(nameOf?: GrpcClientOptions['nameOf']): GrpcTransport;
  /** A client that uses these calls. */
  connect(): CoordinatorClient;
  /** The token that its pages ask for. */
  readonly token: string;
  /** Resolves when every node serves, or a while after the first does. Rejects as `broken` does. */
  readonly ready: Promise<unknown>;
  /** Rejects when the cluster cannot go on, because the coordinator or all nodes have ended. Never resolves. */
  readonly broken: Promise<never>;
  /** Stops all processes. */
  stop(): Promise<void>;
}

export interface LocalClusterOptions {
  /** How to start its coordinator: in this process or in another. */
  startCoordinator: StartOwnCoordinator;
  nodes: number;
  /** Device of the nodes: auto, gpu, software or cpu; or a list with one for each node. */
  device: string | readonly string[];
  /** Where nodes decode JPEGs: auto, gpu or cpu (default: auto). */
  decode?: string;
  /** Cards for the nodes. Each card has one node, and it is proven that no two share a card. */
  gpus?: readonly GpuPin[];
  /** Threads on which each node reads and decodes (default: the number of this process, shared by the nodes). */
  threads?: number;
  /** How long a job waits for an unavailable host, as in `coordinator`. */
  sourceGraceMs?: number | undefined;
  /** How long a job waits for room for its results, as in `coordinator`. */
  spaceGraceMs?: number | undefined;
  /** Called with what happens to processes, in lines for people. */
  note: (line: string) => void;
  /** Called with the logs of the processes, in lines for people. */
  log?: (line: string) => void;
}

/** The job starts this long after the first node serves; later nodes join it while it runs. */
const togetherMs = 2_000;

/** Starts the coordinator and the nodes side by side, and waits until the coordinator serves. */
export async function startLocalCluster({
  startCoordinator,
  nodes,
  device,
  decode = 'auto',
  gpus,
  threads = threadsEach(gpus?.length ?? nodes),
  sourceGraceMs,
  spaceGraceMs,
  note,
  log,
}: LocalClusterOptions): Promise<LocalCluster> {
  // A token, because other users of this machine can reach these ports.
  const token = randomBytes(32).toString('hex');
  const env = tokenSettings(token);
  const coordinator = startCoordinator({ token, sourceGraceMs, spaceGraceMs, note, log });
  const serving = coordinator.serving;

  let isStopping = false;
  let fail: (error: Error) => void;
  const broken = new Promise<never>((_, reject) => {
    fail = reject;
  });
  // The error is for callers that wait for this; without any, it must not count as unhandled.
  broken.catch(() => {});
  void coordinator.lost.then((error) => isStopping || fail(error));

  const alive = new Set<Child>();
  const startNode = (name: string, device: string, pin?: GpuPin): Child => {
    // Nodes start beside the coordinator and are told its address later. Each start takes a third of a second, which
    // would otherwise come on top of the coordinator's (measured).
    const where = ['--coordinator', toldByParent, '--http', anyPort, '--own-token'];
    const pinned = pin ? ['--pinned-gpu', pin.gpu.busId] : [];
    const chosen = ['--name', name, '--device', device, '--decode', decode];
    const node = startChild(['node', ...where, ...chosen, ...pinned], {
      prefix: pin?.prefix,
      threads,
      env,
      onLog: log && ((line) => log(`${name}: ${plainLogLine(line)}`)),
    });
    alive.add(node);
    // If the coordinator does not start, the node is stopped below.
    void serving.then(node.tell).catch(() => {});
    return node;
  };
  const keepNode = async (name: string, node: Child, restarts: number, startAgain: () => Child): Promise<void> => {
    const hasServed = (await node.ready) !== undefined;
    const ending = await node.ended;
    alive.delete(node);
    if (isStopping) return;
    const action = afterNodeEnd({ hasServed, restarts }, alive.size);
    if (action === 'give up') return fail(await whyEnded(`Node ${name}`, node));
    const rest = action === 'restart' ? 'it is restarted' : `${plural(alive.size, 'node')} left`;
    note(`Node ${name} ${describeEnding(ending)}: ${rest}.`);
    if (action === 'restart') await keepNode(name, startAgain(), restarts + 1, startAgain);
  };
  const pinned: { node: Child; busId: string }[] = [];
  const starts = Array.from({ length: gpus?.length ?? nodes }, (_, i) => {
    const pin = gpus?.[i];
    const name = pin ? `gpu-${pin.index}` : `node-${i + 1}`;
    const start = (): Child => startNode(name, typeof device === 'string' ? device : device[i]!, pin);
    const node = start();
    if (pin) pinned.push({ node, busId: pin.gpu.busId });
    void keepNode(name, node, 0, start);
    // A node that fails to start does not make `ready` wait longer; if all fail, `broken` rejects.
    return node.ready.then((hasServed) => hasServed ?? broken);
  });
  if (pinned.length > 1) {
    // A node that was restarted meanwhile has proven its card before it served.
    const running = () =>
      pinned.filter(({ node }) => alive.has(node)).map(({ node, busId }) => ({ busId, pid: node.pid }));
    void Promise.all(starts)
      .then(() => requirePlacement(running()))
      // If a start failed, `broken` has the reason.
      .then((evidence) => evidence.forEach(note))
      .catch((error) => fail(error));
  }
  const soonAfterFirst = Promise.race(starts).then(() => delay(togetherMs, undefined, { ref: false }));
  const ready = Promise.race([Promise.all(starts), soonAfterFirst]);
  ready.catch(() => {});

  const stop = async (): Promise<void> => {
    isStopping = true;
    await Promise.all([...alive].map((node) => node.stop()));
    await coordinator.stop();
  };
  const address = await serving.catch(async (error) => {
    await stop();
    throw error;
  });
  const dial = (nameOf?: GrpcClientOptions['nameOf']) => {
    const transport = grpcTransport(address, createClientSecurity({}, env), { patience: ownCoordinator, nameOf });
    return unlessBroken(transport, broken);
  };
  return { dial, connect: () => clientOf(dial()), token, ready, broken, stop };
}
