import { randomUUID } from 'node:crypto';
import { hostname as machineName } from 'node:os';
import {
  type ClientSecurity,
  type ClientSecurityOptions,
  createClientSecurity,
  createDataAccess,
  createServerSecurity,
  type DataAccess,
  type DataAccessOptions,
  isLoopback,
  isProtected,
  type ListenAddress,
  parseAddress,
  parseAddressList,
  parseListenAddress,
  type ServerSecurity,
  type ServerSecurityOptions,
  UsageError,
  weaknesses,
} from '@halogrid/service';
import { type DeviceChoice, deviceChoices } from './devices/open-device.ts';
import { type DecodeChoice, decodeChoices } from './feed/decode-choice.ts';
import { endingMs, type LifeLimits } from './life.ts';

/** The options of a node, as text and numbers from a command line. */
export interface NodeOptions {
  /** HOST:PORT[,HOST:PORT…]: the coordinators. The node holds a conversation with each. */
  coordinator: string;
  /** A file that the coordinator writes: `coordinator` is what it held, and each dial reads it again. */
  coordinatorFile?: string;
  /** The node's name for people. Default: a name of the machine. */
  name?: string;
  /** auto, gpu, software or cpu. Default: auto. */
  device?: string;
  /** What decodes JPEGs: auto, gpu or cpu. Default: auto. */
  decode?: string;
  /** PCI address of the only GPU that the process may have open, e.g. 0000:0f:00.0; the device then is a GPU. */
  pinnedGpu?: string;
  /** A device that returns no batch within this time counts as lost. 1000 … 86400000. Default: depends on its kind. */
  deviceTimeoutMs?: number;
  /** A video decoder that returns nothing within this time is ended. 1000 … 86400000. Default: 60000. */
  decoderTimeoutMs?: number;
  /** HOST:PORT of /metrics, /healthz and /readyz; port 0: any free one. */
  http?: string;
  /** Allows listening beyond this machine without encryption and without authentication. */
  insecureNetwork?: boolean;
  /** A stopped node computes for this long, then hands back its shards. 0 … 604800000. Default: 8000. */
  drainTimeoutMs?: number;
  /** The node stops when it has had no shard for this long; at least 1000. Default: it waits for work. */
  idleExitMs?: number;
  /** The node ends before this moment, in milliseconds since 1970. Default: it has no such limit. */
  untilMs?: number;
  /** Decoded bytes that the node holds at once. Default: as much as keeps the device busy. */
  creditBytes?: number;
  /** shared: the node sees the files of the coordinator (the default); remote: the coordinator hands them over. */
  storage?: string;
  /** What jobs may read and write, whatever the coordinator says. */
  data?: DataAccessOptions;
  /** What the node shows the coordinator, and who may read its metrics. One certificate serves for both. */
  security?: ClientSecurityOptions & Pick<ServerSecurityOptions, 'tokens' | 'ownToken'>;
}

export interface NodeConfig {
  /** HOST:PORT each; at least one. */
  coordinators: string[];
  /** If set, the node dials the coordinator that this file names at that moment. */
  coordinatorFile: string | undefined;
  name: string;
  /** Differs from every other node's. */
  nodeId: string;
  device: DeviceChoice;
  decode: DecodeChoice;
  /** If set, the node only starts if its process has this GPU open and no other. */
  pinnedGpu: string | undefined;
  /** Undefined: `hangMs` of the device's kind. */
  deviceTimeoutMs: number | undefined;
  /** Undefined: the decoders' own default. */
  decoderTimeoutMs: number | undefined;
  /** Undefined: `defaultHttp` or, if another node of this machine uses that, any free port. */
  http: ListenAddress | undefined;
  /** Undefined: derived from the device. */
  creditBytes: number | undefined;
  life: LifeLimits;
  hasRemoteStorage: boolean;
  data: DataAccess;
  /** For calls to the coordinator. */
  client: ClientSecurity;
  /** For the node's own HTTP server. */
  server: ServerSecurity;
  /** What an operator should know, in sentences. */
  warnings: string[];
}

export const defaultHttp: ListenAddress = { host: '127.0.0.1', port: 9465 };

/** By default, a container is killed 10 s after SIGTERM. */
const defaultDrainMs = 8_000;

/** Coordinators accept no longer names: names are in every log line. */
const maxNameLength = 200;

const isOnThisMachine = (address: string): boolean => isLoopback(parseAddress('--coordinator', address));

const believesCoordinator =
  'Without --data-root the coordinator may have this node read and write whatever its user may';

/** Fills in defaults and checks every option. Throws UsageError. `hostname` and `nodeId` name a node without a name. */
export function createNodeConfig(
  options: NodeOptions,
  hostname = machineName(),
  nodeId: string = randomUUID(),
  env: Record<string, string | undefined> = process.env,
  nowMs = Date.now(),
): NodeConfig {
  const { coordinator, name = `${hostname}-${nodeId.slice(0, 4)}`, device = 'auto', http, creditBytes } = options;
  const { insecureNetwork = false, security = {}, storage = 'shared', pinnedGpu } = options;
  const { deviceTimeoutMs, decoderTimeoutMs } = options;
  const coordinators = parseAddressList('--coordinator', coordinator);
  if (name.length < 1 || name.length > maxNameLength) {
    throw new UsageError(`Expected 1 to ${maxNameLength} characters for --name but received ${name.length}`);
  }
  if (storage !== 'shared' && storage !== 'remote') {
    throw new UsageError(`Expected shared or remote for --storage but received '${storage}'`);
  }
  const hasRemoteStorage = storage === 'remote';
  const { roots, hosts } = createDataAccess(options.data ?? {});
  const own = coordinators.map((address) => address.slice(0, address.lastIndexOf(':')).toLowerCase());
  const data = { roots, hosts: hasRemoteStorage && hosts ? [...hosts, ...own] : hosts };
  const choice = deviceChoices.find((known) => known === device);
  if (!choice)
    throw new UsageError(`Expected one of ${deviceChoices.join(', ')} for --device but received '${device}'`);
  const decode = decodeChoices.find((known) => known === (options.decode ?? 'auto'));
  if (!decode)
    throw new UsageError(`Expected one of ${decodeChoices.join(', ')} for --decode but received '${options.decode}'`);
  if (pinnedGpu !== undefined && choice !== 'gpu' && choice !== 'auto') {
    throw new UsageError(`Expected --device gpu with --gpu but received '${device}'`);
  }
  checkTimeout('--device-timeout', deviceTimeoutMs);
  checkTimeout('--decoder-timeout', decoderTimeoutMs);
  const life = lifeOf(options, nowMs);
  if (creditBytes !== undefined && !(Number.isSafeInteger(creditBytes) && creditBytes > 0)) {
    throw new UsageError(`Expected a whole number of bytes above 0 for the credit but received '${creditBytes}'`);
  }
  const { tlsCert, tlsKey, tlsCa, tokens, ownToken } = security;
  // `tlsCa` alone only says whom the node trusts; its own HTTP then stays without TLS.
  const certificates = tlsCert || tlsKey ? { tlsCert, tlsKey, tlsCa } : {};
  const server = createServerSecurity({ ...certificates, tokens, ownToken }, env);
  const listen =
    http === undefined ? defaultHttp : parseListenAddress('--http', http, insecureNetwork || isProtected(server));
  return {
    coordinators,
    coordinatorFile: options.coordinatorFile,
    name,
    nodeId,
    device: pinnedGpu === undefined ? choice : 'gpu',
    decode,
    pinnedGpu,
    deviceTimeoutMs,
    decoderTimeoutMs,
    http: http === undefined ? undefined : listen,
    creditBytes,
    life,
    hasRemoteStorage,
    data,
    client: createClientSecurity(security, env),
    server,
    warnings: [
      ...(isLoopback(listen) ? [] : weaknesses(server)),
      ...(roots || hasRemoteStorage || coordinators.every(isOnThisMachine) ? [] : [believesCoordinator]),
    ],
  };
}

/** Throws UsageError if the node would have no time to work. */
function lifeOf({ drainTimeoutMs = defaultDrainMs, idleExitMs, untilMs }: NodeOptions, nowMs: number): LifeLimits {
  if (drainTimeoutMs > 604_800_000) {
    throw new UsageError(`Expected at most 7d for --drain-timeout but received '${drainTimeoutMs / 1000}s'`);
  }
  if (idleExitMs !== undefined && idleExitMs < 1000) {
    throw new UsageError(`Expected at least 1s for --idle-exit but received '${idleExitMs / 1000}s'`);
  }
  const aheadMs = endingMs({ drainTimeoutMs });
  if (untilMs !== undefined && untilMs - nowMs <= aheadMs) {
    throw new UsageError(
      `Expected a time more than ${aheadMs / 1000} s ahead for --until, as the node stops that long before it (--drain-timeout and 5 s), but received ${new Date(untilMs).toISOString()}`,
    );
  }
  return { drainTimeoutMs, idleExitMs, untilMs };
}

function checkTimeout(option: string, ms: number | undefined): void {
  if (ms === undefined || (ms >= 1000 && ms <= 86_400_000)) return;
  throw new UsageError(`Expected 1000 to 86400000 milliseconds for ${option} but received '${ms}'`);
}
