import { setTimeout as delay } from 'node:timers/promises';
import * as tls from 'node:tls';
import { missingDecoders } from '@halogrid/imaging';
import { shortened } from '@halogrid/kernels';
import { decodeNeed, type Hello, protocols } from '@halogrid/proto';
import {
  aborted,
  type ClientSecurity,
  createAccess,
  createTls,
  exposeCredentialEnds,
  type HttpServer,
  type HttpServerOptions,
  type ListenAddress,
  type Log,
  resultsVersion,
  softwareVersion,
  startHttp,
  UsageError,
  type Warn,
} from '@halogrid/service';
import { createRegistry } from '@halogrid/service/metrics';
import { restrictSources } from '@halogrid/sources';
import { coresHere } from '@halogrid/threads/limits';
import { poolThreads } from '@halogrid/threads/pool-threads';
import { Agents, type NodeExit } from './agent/agents.ts';
import { CoordinatorRecords } from './agent/coordinator-records.ts';
import { createDial, type Dial } from './agent/dial.ts';
import { dialFile } from './agent/dial-file.ts';
import { look } from './agent/look.ts';
import { defaultHttp, type NodeConfig } from './config.ts';
import type { DeviceInfo } from './devices/device.ts';
import { type DeviceChoice, openDevice } from './devices/open-device.ts';
import { ReopeningDevice } from './devices/reopening-device.ts';
import { hangMs, withWatch } from './devices/watched-device.ts';
import { openExecutor } from './executor/open-executor.ts';
import type { NvidiaGpu } from './gpus/nvidia-gpu.ts';
import { openGpu, requirePlacement } from './gpus/prove-placement.ts';
import { whyStop } from './life.ts';
import { exposeWork } from './metrics/expose-work.ts';
import { LoadSampler } from './metrics/load-sampler.ts';
import { withMetrics } from './metrics/metered-device.ts';
import { NodeMetrics } from './metrics/node-metrics.ts';
import { readStorageBytes } from './metrics/read-storage-bytes.ts';
import { WorkerMeter } from './metrics/worker-meter.ts';
import type { PartSearcher } from './search/part-searcher.ts';

/** How often coordinators are told the load of the workers: for a thousand nodes these are 200 messages a second. */
const tellLoadMs = 5_000;

/** How often a node looks whether it should stop by itself. */
const lookAtLifeMs = 1_000;

/** How often names of coordinators are looked up again. */
const lookUpMs = 5_000;

/** Facts about a node that serves. */
export interface NodeStarted {
  httpPort: number;
  device: DeviceInfo;
  /** The NVIDIA card that the process has open, if it is a single one. */
  gpu: NvidiaGpu | undefined;
}

/**
 * Runs a node until it ends: it opens its device, dials the coordinators until one answers, and computes the leased
 * shards. When `signal` aborts, it finishes its shards. Rejects with one sentence if it cannot start; with UsageError
 * if the device is not there. A WebGPU device keeps the process alive afterwards, so the caller must end the process
 * with the exit's code.
 */
export async function startNode(
  config: NodeConfig,
  log: Log,
  signal: AbortSignal,
  onStarted: (node: NodeStarted) => void = () => {},
  openChoice: typeof openDevice = openDevice,
): Promise<NodeExit> {
  warnOfFewThreads(log);
  for (const sentence of config.warnings) log.warn(sentence);
  restrictSources(config.data);
  const warn = (sentence: string) => log.error(sentence);
  const trust = trustAuthority(config.client, warn);
  const open = (choice: DeviceChoice) => openChoice(choice, undefined, (line) => log.info(line));
  const { device: opened, reason } = await open(config.device);
  const { kind, name, driver } = opened.info;
  log.info({ kind, device: name, driver }, `Computing on ${name}: ${reason}`);
  if (config.decode === 'gpu' && !opened.jpegs) {
    await opened.close();
    throw new UsageError(`Expected auto or cpu for --decode but received 'gpu': the device '${kind}' decodes no JPEGs`);
  }

  const gpu = kind === 'gpu' ? await identifyGpu(config, log) : undefined;

  const registry = createRegistry('node');
  const metrics = new NodeMetrics(registry);
  metrics.info.set({ device: kind, name, gpu_uuid: gpu?.uuid ?? '', pci_bus_id: gpu?.busId ?? '' }, 1);
  const { deviceTimeoutMs = hangMs[kind] } = config;
  const reopening = new ReopeningDevice(withWatch(opened, deviceTimeoutMs), {
    // The coordinator was told this kind, so no other kind may be opened.
    open: async () => withWatch((await open(kind)).device, deviceTimeoutMs),
    openWithinMs: hangMs[kind],
    onLost: (why) => {
      metrics.deviceLost.inc({ device: kind });
      log.error(`The device was lost: ${why}; opening it again`);
    },
    delay: (ms) => delay(ms),
  });
  metrics.deviceLost.inc({ device: kind }, 0);
  const nowMs = () => performance.now();
  const workersOfDevice = kind === 'cpu' ? coresHere() : 1;
  const meters = { device: new WorkerMeter(workersOfDevice, nowMs), memory: new WorkerMeter(0, nowMs) };
  const device = withMetrics(reopening, metrics, meters);
  const executor = openExecutor({
    device,
    decode: config.decode,
    decoderTimeoutMs: config.decoderTimeoutMs,
    creditBytes: config.creditBytes,
    hasRemoteStorage: config.hasRemoteStorage,
    note: (line) => log.warn(line),
  });
  const workers = { ...executor.meters, device: meters.device };
  exposeCredentialEnds(registry, config.server);
  exposeWork(registry, kind, {
    workers,
    waitingForMemory: () => meters.memory.queued,
    heldBytes: () => device.heldBytes,
    storageReadBytes: () => readStorageBytes(),
    takeSeconds: () => executor.clock.take(),
  });
  const hello: Hello = {
    nodeId: config.nodeId,
    name: config.name,
    protocol: protocols.newest,
    oldestProtocol: protocols.oldest,
    softwareVersion,
    resultsVersion,
    threads: poolThreads(),
    lacks: missingDecoders().map((missing) => ({ need: decodeNeed(missing), reason: missing.message, sinceMs: 0 })),
    // Coordinators refuse longer texts.
    device: {
      kind,
      name: shortened(name),
      driver: shortened(driver),
      gpu: gpu && { uuid: gpu.uuid ?? '', pciBusId: gpu.busId },
    },
    remoteStorage: config.hasRemoteStorage,
    // A node with remote storage gets files of jobs, but no indexes.
    searches: !config.hasRemoteStorage,
    held: [],
    hasComputed: false,
    decoders: executor.decoders,
    creditBytes: executor.creditBytes,
    timeZoneData: process.versions.tz ?? '',
    metricsUrl: '',
  };

  let searcher: Promise<PartSearcher> | undefined;
  // Loaded by the first search, because it is a seventh of all code that a node loads.
  const openSearcher = async (): Promise<PartSearcher> => {
    const [{ PartSearcher }, { openGpuScan }] = await Promise.all([
      import('./search/part-searcher.ts'),
      import('./search/open-scan.ts'),
    ]);
    return new PartSearcher({
      // SwiftShader is slower than threads.
      loadPart: kind === 'gpu' ? (catalog, options) => openGpuScan(kind, catalog, options) : undefined,
      note: (line) => log.info(line),
      searched: (frames, took) => metrics.observeSearch(kind, frames, took),
    });
  };
  let agents: Agents | undefined;
  let http: HttpServer | undefined;
  const load = new LoadSampler(workers, nowMs);
  const records = new CoordinatorRecords(config.coordinators);
  // The file of --coordinator-file names one coordinator.
  const isByName = config.coordinatorFile === undefined && records.mayChange;
  let stopLookingUp = () => {};
  const telling = setInterval(() => {
    const told = load.take();
    if (told) agents?.tell(told);
  }, tellLoadMs);
  const living = setInterval(() => {
    const stop = agents && whyStop(config.life, { idleMs: agents.idleMs, nowMs: Date.now() });
    if (stop) agents?.stop(stop.reason, stop.hasWorkLeft);
  }, lookAtLifeMs);
  try {
    http = await listen(config, {
      registry,
      notReady: () => {
        if (agents?.drainReason) return `The node finishes its shards and takes no more: ${agents.drainReason}`;
        return agents?.isAttached ? undefined : 'No coordinator leases shards to this node yet';
      },
      tls: createTls(config.server, warn),
      access: createAccess(config.server, warn),
    });
    onStarted({ httpPort: http.port, device: opened.info, gpu });
    const addresses = isByName ? await records.addresses() : config.coordinators;
    allowHosts(config, addresses);
    agents = new Agents({
      addresses,
      nameOf: records.nameOf,
      hello: { ...hello, metricsUrl: metricsUrl(config, http.port) },
      drainTimeoutMs: config.life.drainTimeoutMs,
      dial: createDialFor(config, warn, records),
      execute: (lease, signal) => {
        trust();
        return executor.execute(lease, signal);
      },
      look,
      search: async (part) => {
        searcher ??= openSearcher();
        return await (await searcher).search(part);
      },
      deviceGone: reopening.lost,
      log,
      metrics,
      nowMs,
      random: Math.random,
    });
    if (isByName) {
      stopLookingUp = records.watch(lookUpMs, async (addresses) => {
        allowHosts(config, addresses);
        await agents?.setAddresses(addresses);
      });
    }
    void aborted(signal).then(() => agents?.stop(`${signal.reason} was received`));
    const exit = await agents.ended;
    log.info({ code: exit.code, workLeft: exit.hasWorkLeft }, `Ended: ${exit.reason}`);
    return exit;
  } finally {
    clearInterval(telling);
    clearInterval(living);
    stopLookingUp();
    await http?.close();
    await (await searcher)?.close();
    await executor.close();
    await device.close();
  }
}

/** Where the node serves its metrics, as it listens. */
const metricsUrl = ({ server, http: { host } = defaultHttp }: NodeConfig, port: number): string =>
  `${server.tls ? 'https' : 'http'}://${host}:${port}`;

/** Dials the addresses of the options or, if there is a file, the coordinator that the file names. */
function createDialFor(
  { coordinatorFile, client, data, hasRemoteStorage }: NodeConfig,
  warn: Warn,
  records: CoordinatorRecords,
): Dial {
  const dial = createDial(client, warn, records.nameOf);
  if (coordinatorFile === undefined) return dial;
  return dialFile(coordinatorFile, dial, ({ host }) => {
    // The coordinator, which may be on another host by now, hands over files.
    const { hosts } = data;
    if (hasRemoteStorage && hosts) restrictSources({ ...data, hosts: [...hosts, host.toLowerCase()] });
  });
}

/** Lets a node with remote storage read what coordinators at these addresses hand over. */
function allowHosts({ data, hasRemoteStorage }: NodeConfig, addresses: readonly string[]): void {
  if (!hasRemoteStorage || !data.hosts) return;
  const found = addresses.map((address) => address.slice(0, address.lastIndexOf(':')).toLowerCase());
  restrictSources({ ...data, hosts: [...data.hosts, ...found] });
}

/**
 * Makes this process trust the authority of --tls-ca, as the file is now, for requests of sources to the coordinator.
 */
function trustAuthority(security: ClientSecurity, warn: Warn): () => void {
  const known = tls.getCACertificates();
  let trusted: string | undefined;
  return () => {
    const ca = security.tls?.current(warn).ca;
    if (!ca || ca === trusted) return;
    trusted = ca;
    if ('setDefaultCACertificates' in tls) tls.setDefaultCACertificates([...known, ca]);
    else warn(`Sources of a coordinator with --tls-ca need Node 22.19 or newer; this is ${process.versions.node}`);
  };
}

/** The card that this process has open. Rejects if a card is pinned and it is another or cannot be determined. */
async function identifyGpu({ pinnedGpu }: NodeConfig, log: Log): Promise<NvidiaGpu | undefined> {
  if (pinnedGpu !== undefined) {
    const evidence = await requirePlacement([{ busId: pinnedGpu, pid: process.pid }]);
    for (const line of evidence) log.info(line);
  }
  return openGpu();
}

async function listen(
  { http }: NodeConfig,
  options: Omit<HttpServerOptions, keyof ListenAddress>,
): Promise<HttpServer> {
  const start = (address: ListenAddress) => startHttp({ ...address, ...options });
  if (http) return start(http);
  return start(defaultHttp).catch(() => start({ ...defaultHttp, port: 0 }));
}

/** Files are read and decoded on libuv's threads, whose number is fixed before any code of ours runs. */
function warnOfFewThreads(log: Log): void {
  const cores = coresHere();
  // A user that sets a number means it: nodes on one machine share its cores.
  if (process.env.UV_THREADPOOL_SIZE !== undefined || cores <= 4) return;
  log.warn(
    { threads: 4, cores },
    `Only 4 of ${cores} cores will decode: set UV_THREADPOOL_SIZE=${cores} before the process starts`,
  );
}
