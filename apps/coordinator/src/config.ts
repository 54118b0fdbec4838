import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { bucketsScratch } from '@halogrid/jobs/output-paths';
import {
  type ConnectionLimits,
  createDataAccess,
  createServerSecurity,
  type DataAccess,
  type DataAccessOptions,
  dataFolder,
  defaultConnectionLimits,
  isLoopback,
  isProtected,
  type ListenAddress,
  namedFolders,
  parseListenAddress,
  parseOrigins,
  readSecretFile,
  type ServerSecurity,
  type ServerSecurityOptions,
  UsageError,
  weaknesses,
} from '@halogrid/service';
import { toPrefixUri } from '@halogrid/sources';
import { coresHere } from '@halogrid/threads/limits';

/** The options of a coordinator, as text and numbers from a command line. */
export interface CoordinatorOptions {
  /** HOST:PORT for gRPC; port 0: any free one. */
  listen?: string;
  /** HOST:PORT for metrics, health and the JSON API; port 0: any free one. */
  http?: string;
  /** A node is lost if it says nothing for this long after an order. 100 … 600000. */
  nodeTimeoutMs?: number;
  /**
   * A job fails if nodes are attached and none meets its needs for this long, unless it waits for nodes. 0 … 86400000.
   */
  nodeGraceMs?: number;
  /** A job fails if a host or bucket of its sources is away for this long, unless it waits for nodes. */
  sourceGraceMs?: number;
  /** A job fails if there is no room for its results for this long; no limit by default. */
  spaceGraceMs?: number;
  /** Results are removed this long after the end of their job; never by default. */
  retentionMs?: number;
  /** The ledger: a file, or the URL of a PostgreSQL database; by default a file below the user's data. */
  ledger?: string;
  /** A file that holds what `ledger` would be: a URL with a password. */
  ledgerFile?: string;
  /** Allows listening beyond this machine without encryption and tokens. */
  insecureNetwork?: boolean;
  /** Origins of pages of other sites that may use the HTTP API. */
  allowOrigin?: string[];
  /** TLS and tokens. */
  security?: ServerSecurityOptions;
  /** What jobs may read and write. */
  data?: DataAccessOptions;
  /** Folders of indexes that may be searched, each by the name of its folder. */
  index?: string[];
  /** Keeps each job in a ledger of its own in its output folder: for a coordinator that is started for one job. */
  ledgerInOutput?: boolean;
}

/**
 * Which jobs are planned on a thread: all; jobs that name more than a few image files; or only jobs whose sources a
 * dependency lists (Parquet), because a damaged file may make that loop without end.
 */
export type PlansOnThread = 'all' | 'many' | 'foreign';

export interface CoordinatorConfig {
  listen: ListenAddress;
  http: ListenAddress;
  nodeTimeoutMs: number;
  nodeGraceMs: number;
  sourceGraceMs: number;
  spaceGraceMs: number;
  /** Undefined: results are never removed. */
  retentionMs: number | undefined;
  /** As for openRegistry; undefined if each job has its own ledger. A URL may hold a password. */
  ledger: string | undefined;
  security: ServerSecurity;
  /** Origins of pages of other sites that may use the HTTP API. */
  allowedOrigins: readonly string[];
  data: DataAccess;
  /** Real paths of indexes that may be searched, by name. */
  indexes: ReadonlyMap<string, string>;
  /** Serves gRPC's reflection and health services. */
  introspection: boolean;
  /** Which jobs are planned on a thread. */
  plansOnThread: PlansOnThread;
  /** The limits of each of the two addresses. */
  connections: ConnectionLimits;
  /** What an operator should know, in sentences. */
  warnings: string[];
}

export const coordinatorDefaults = {
  listen: '127.0.0.1:7070',
  http: '127.0.0.1:9464',
  /**
   * For a node that hangs: a node that dies is noticed by its connection. Far longer than a pause of its event loop.
   */
  nodeTimeoutMs: 10_000,
  /** A person needs no longer to start another node, or to mount a folder again. */
  nodeGraceMs: 120_000,
  /** Longer than the restart of a server takes. */
  sourceGraceMs: 600_000,
  spaceGraceMs: Number.POSITIVE_INFINITY,
  insecureNetwork: false,
  security: {},
  data: {},
} satisfies CoordinatorOptions;

const ownNodesGraceMs = 10_000;

/** A value without its unit, such as 90, must not empty a cluster. */
const leastRetentionMs = 3_600_000;

/**
 * For a coordinator that was started for one run: with fewer cores, which its nodes use as well, a thread for plans
 * gains nothing, and costs a small job 0.15 s of 1.1 (measured).
 */
const enoughCores = 4;

/** Fills in defaults and checks everything. Throws UsageError. */
export function createCoordinatorConfig(
  options: CoordinatorOptions = {},
  env: NodeJS.ProcessEnv = process.env,
): CoordinatorConfig {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const merged: Required<
    Omit<CoordinatorOptions, 'ledger' | 'ledgerFile' | 'ledgerInOutput' | 'index' | 'allowOrigin' | 'retentionMs'>
  > = {
    ...coordinatorDefaults,
    ...Object.fromEntries(given),
  };
  const { nodeTimeoutMs, sourceGraceMs, insecureNetwork } = merged;
  // No other node will join the coordinator of one run.
  const nodeGraceMs = options.nodeGraceMs ?? (options.ledgerInOutput ? ownNodesGraceMs : merged.nodeGraceMs);
  if (!Number.isInteger(nodeGraceMs) || nodeGraceMs < 0 || nodeGraceMs > 86_400_000) {
    throw new UsageError(`Expected 0 to 86400000 milliseconds for --node-grace but received '${nodeGraceMs}'`);
  }
  if (!Number.isSafeInteger(sourceGraceMs) || sourceGraceMs < 0) {
    throw new UsageError(`Expected 0 or more milliseconds for --source-grace but received '${sourceGraceMs}'`);
  }
  const { retentionMs } = options;
  if (retentionMs !== undefined && !(Number.isSafeInteger(retentionMs) && retentionMs >= leastRetentionMs)) {
    throw new UsageError(
      `Expected at least one hour (1h) for --retention but received ${retentionMs / 1000} seconds: results would be removed before they are read`,
    );
  }
  if (!Number.isInteger(nodeTimeoutMs) || nodeTimeoutMs < 100 || nodeTimeoutMs > 600_000) {
    throw new UsageError(`Expected 100 to 600000 milliseconds for --node-timeout but received '${nodeTimeoutMs}'`);
  }
  const security = createServerSecurity(merged.security, env);
  const mayLeave = insecureNetwork || isProtected(security);
  const listen = parseListenAddress('--listen', merged.listen, mayLeave);
  const http = parseListenAddress('--http', merged.http, mayLeave);
  const isLocal = isLoopback(listen) && isLoopback(http);
  const { roots, hosts, prefixes } = dataAccess(merged.data);
  const isReached = !isLoopback(listen);
  const indexes = namedFolders('--index', options.index ?? []);
  if (isReached && !roots) {
    throw new UsageError(
      'Expected --data-root DIR if other machines reach the coordinator: without it a job could read every file that this process may',
    );
  }
  return {
    listen,
    http,
    nodeTimeoutMs,
    nodeGraceMs,
    sourceGraceMs,
    spaceGraceMs: merged.spaceGraceMs,
    retentionMs,
    ledger: options.ledgerInOutput ? undefined : namedLedger(options) || defaultLedger(env),
    security,
    allowedOrigins: parseOrigins('--allow-origin', options.allowOrigin ?? []),
    // Clients from outside must not reach other hosts through this process.
    data: { roots, hosts: isReached ? (hosts ?? []) : hosts, prefixes },
    indexes,
    introspection: !options.ledgerInOutput,
    plansOnThread: !options.ledgerInOutput ? 'all' : coresHere() >= enoughCores ? 'many' : 'foreign',
    connections: defaultConnectionLimits,
    warnings: [...(isLocal ? [] : weaknesses(security)), ...missingIndexes(indexes)],
  };
}

/** What --ledger says, or the file of --ledger-file. Throws UsageError, which holds none of the file's text. */
function namedLedger({ ledger, ledgerFile }: CoordinatorOptions): string | undefined {
  if (!ledgerFile) return ledger;
  const place = readSecretFile('--ledger-file', ledgerFile).trim();
  if (/^\S+$/.test(place)) return place;
  throw new UsageError(
    `Expected one file or URL in '${ledgerFile}' (--ledger-file) but it holds none, or several words`,
  );
}

const missingIndexes = (indexes: ReadonlyMap<string, string>): string[] =>
  [...indexes].flatMap(([name, folder]) =>
    existsSync(folder)
      ? []
      : [`There is no index '${name}' in '${folder}' yet: it is searched as soon as 'halogrid index' has made it`],
  );

/** What jobs may read and write. Outputs in buckets need their scratch. */
function dataAccess(options: DataAccessOptions): DataAccess {
  const access = createDataAccess(options);
  const prefixes = access.prefixes?.map((uri) => {
    try {
      return toPrefixUri(uri);
    } catch (error) {
      throw new UsageError(`${(error as Error).message} (--data-root)`);
    }
  });
  const scratch = prefixes?.length ? bucketsScratch(process.env) : undefined;
  if (scratch) mkdirSync(scratch, { recursive: true });
  return { ...access, roots: scratch ? [...access.roots!, realpathSync(scratch)] : access.roots, prefixes };
}

function defaultLedger(env: NodeJS.ProcessEnv): string {
  const folder = dataFolder(env);
  if (!folder)
    throw new UsageError('Expected --ledger or HALOGRID_LEDGER: this user has no home for a ledger to be in');
  return join(folder, 'ledger.sqlite');
}
