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

/** A coordinator and nodes on this machine, the nodes in processes of their own, that talk gRPC over loopback. */
export interface LocalCluster {
  /** Calls of the coordinator, which nobody else can use; they reject as `broken` does, where that is behind what went wrong. */
  dial(nameOf?: GrpcClientOptions['nameOf']): GrpcTransport;
  /** A client by such calls. */
  connect(): CoordinatorClient;
  /** What its pages ask for. */
  readonly token: string;
  /** Resolves when every node serves, or a while after the first does; rejects as `broken` does. */
  readonly ready: Promise<unknown>;
  /** Rejects when it cannot go on: the coordinator ended, or every node did. Never resolves. */
  readonly broken: Promise<never>;
  /** Stops all of it. */
  stop(): Promise<void>;
}

export interface LocalClusterOptions {
  /** Where its coordinator runs. */
  startCoordinator: StartOwnCoordinator;
  nodes: number;
  /** Device of the nodes, auto, gpu, software or cpu; or one for each of them. */
  device: string | readonly string[];
  /** Who decodes JPEGs, as of `node`: auto, gpu or cpu (auto). */
  decode?: string;
  /** Cards for the nodes, one each; the nodes then are as many, and that none shares its card is proven. */
  gpus?: readonly GpuPin[];
  /** Threads on which a node reads and decodes; the nodes share this process's number unless given. */
  threads?: number;
  /** How long a job waits for a host that is away, as in `coordinator`. */
  sourceGraceMs?: number | undefined;
  /** How long a job waits for room for its results, as in `coordinator`. */
  spaceGraceMs?: number | undefined;
  /** Told what happens to processes, in lines for people. */
  note: (line: string) => void;
  /** Told what processes write into their logs, in lines for people. */
  log?: (line: string) => void;
}

/** Nodes that take longer to start than another, by this much, join the job when it runs already. */
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
  // Others on this machine reach these ports, too.
  const token = randomBytes(32).toString('hex');
  const env = tokenSettings(token);
  const coordinator = startCoordinator({ token, sourceGraceMs, spaceGraceMs, note, log });
  const serving = coordinator.serving;

  let isStopping = false;
  let fail: (error: Error) => void;
  const broken = new Promise<never>((_, reject) => {
    fail = reject;
  });
  // Whoever waits for these sees the error; until then it is not an unhandled one.
  broken.catch(() => {});
  void coordinator.lost.then((error) => isStopping || fail(error));

  const alive = new Set<Child>();
  const startNode = (name: string, device: string, pin?: GpuPin): Child => {
    // Starting takes a third of a second each; nodes that waited for the coordinator would add theirs to its (measured).
    const where = ['--coordinator', toldByParent, '--http', anyPort, '--own-token'];
    const pinned = pin ? ['--pinned-gpu', pin.gpu.busId] : [];
    const chosen = ['--name', name, '--device', device, '--decode', decode];
    const node = startChild(['node', ...where, ...chosen, ...pinned], {
      prefix: pin?.prefix,
      threads,
      env,
      ...(log && { onLog: (line) => log(`${name}: ${plainLogLine(line)}`) }),
    });
    alive.add(node);
    // Where the coordinator does not start, the node is stopped.
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
    // A node that fails to start is waited for no longer than the others, and all of them failing is `broken`.
    return node.ready.then((hasServed) => hasServed ?? broken);
  });
  if (pinned.length > 1) {
    // One that was restarted meanwhile has proven its own card before it served.
    const running = () =>
      pinned.filter(({ node }) => alive.has(node)).map(({ node, busId }) => ({ busId, pid: node.pid }));
    void Promise.all(starts)
      .then(() => requirePlacement(running()))
      // What made a start fail is told by `broken`.
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
