import { join } from 'node:path';
import { dataFolder, type ListenAddress, parseListenAddress, UsageError } from '@halogrid/service';

/** What a coordinator may be told, as text and numbers from a command line. */
export interface CoordinatorOptions {
  /** HOST:PORT for gRPC; port 0: any free one. */
  listen?: string;
  /** HOST:PORT for metrics, health and the JSON API; port 0: any free one. */
  http?: string;
  /** A node is lost when it says nothing for this long after an order. 100 … 600000. */
  nodeTimeoutMs?: number;
  /** The ledger: a file, or the URL of a PostgreSQL database. HALOGRID_LEDGER, or a file below the user's data, unless given. */
  ledger?: string;
  /** Allows to listen beyond this machine although nothing is encrypted and nobody is asked who they are. */
  insecureNetwork?: boolean;
  /** Keeps each job in a ledger of its own in its output folder: for a coordinator that is started for one job. */
  ledgerInOutput?: boolean;
}

export interface CoordinatorConfig {
  listen: ListenAddress;
  http: ListenAddress;
  nodeTimeoutMs: number;
  /** As openStore takes it; undefined where each job has its own. A URL may hold a password. */
  ledger: string | undefined;
}

export const coordinatorDefaults = {
  listen: '127.0.0.1:7070',
  http: '127.0.0.1:9464',
  /** A node that dies is noticed by its connection; this is for one that hangs. Far above a pause of its event loop. */
  nodeTimeoutMs: 10_000,
  insecureNetwork: false,
} satisfies CoordinatorOptions;

/** Fills in defaults and checks everything. Throws UsageError. */
export function createCoordinatorConfig(
  options: CoordinatorOptions = {},
  env: NodeJS.ProcessEnv = process.env,
): CoordinatorConfig {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const { listen, http, nodeTimeoutMs, insecureNetwork } = { ...coordinatorDefaults, ...Object.fromEntries(given) };
  if (!Number.isInteger(nodeTimeoutMs) || nodeTimeoutMs < 100 || nodeTimeoutMs > 600_000) {
    throw new UsageError(`Expected 100 to 600000 milliseconds for --node-timeout but received '${nodeTimeoutMs}'`);
  }
  return {
    listen: parseListenAddress('--listen', listen, insecureNetwork),
    http: parseListenAddress('--http', http, insecureNetwork),
    nodeTimeoutMs,
    ledger: options.ledgerInOutput ? undefined : options.ledger || env.HALOGRID_LEDGER || defaultLedger(env),
  };
}

function defaultLedger(env: NodeJS.ProcessEnv): string {
  const folder = dataFolder(env);
  if (!folder)
    throw new UsageError('Expected --ledger or HALOGRID_LEDGER: this user has no home for a ledger to be in');
  return join(folder, 'ledger.sqlite');
}
