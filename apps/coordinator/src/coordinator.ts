import { hostname as machineName } from 'node:os';
import { Leadership } from '@halogrid/leadership';
import { type LogLedger, MemoryRegistry, openRegistry } from '@halogrid/ledger';
import {
  aborted,
  createAccess,
  createOwnerRules,
  createTls,
  defaultHttpLimits,
  exposeCredentialEnds,
  fewFilesSentence,
  type ListenAddress,
  type Log,
  startHttp,
} from '@halogrid/service';
import { systemClock } from '@halogrid/service/clock';
import { createRegistry } from '@halogrid/service/metrics';
import { restrictSources } from '@halogrid/sources';
import type { CoordinatorConfig } from './config.ts';
import { exposeLeadership } from './expose-state.ts';
import { type LeaderServer, startLeader } from './leader.ts';
import { Audit } from './services/audit.ts';
import { checkFree } from './services/grpc-server.ts';
import { HandOver } from './services/hand-over.ts';
import { createHandOverRoute } from './services/hand-over-http.ts';
import { answerStandby, refusedByServer } from './services/http/api.ts';
import { consolePages } from './services/http/console-pages.ts';

export interface RunningCoordinator {
  grpcPort: number;
  httpPort: number;
  /**
   * Resolves with one sentence when another coordinator has taken over, or the ledger is lost: then this process must
   * end.
   */
  lost: Promise<string>;
  /**
   * Takes no new jobs, and is not ready any more. Resolves when it may be closed: no job runs, or another coordinator
   * goes on with its jobs at once.
   */
  drain(): Promise<void>;
  /** Ends every conversation and stops; jobs that run are left unfinished. Resolves when nothing is left running. */
  close(): Promise<void>;
}

/**
 * Starts a coordinator in this process, and resolves once it leads and serves; until then it stands by and only its
 * HTTP answers. Resolves with undefined if `signal` aborts before. Rejects with one sentence if an address is taken or
 * the ledger cannot be opened.
 */
export function startCoordinator(config: CoordinatorConfig, log: Log): Promise<RunningCoordinator>;
export function startCoordinator(
  config: CoordinatorConfig,
  log: Log,
  signal: AbortSignal,
): Promise<RunningCoordinator | undefined>;
export async function startCoordinator(
  config: CoordinatorConfig,
  log: Log,
  signal?: AbortSignal,
): Promise<RunningCoordinator | undefined> {
  const clock = systemClock;
  for (const sentence of config.warnings) log.warn(sentence);
  const fewFiles = config.ledger === undefined ? undefined : fewFilesSentence();
  if (fewFiles) log.warn(fewFiles);
  restrictSources(config.data);
  const handOver = new HandOver();
  const warn = (sentence: string) => log.error(sentence);
  const owners = createOwnerRules(config.security, warn);
  const access = createAccess(config.security, warn, owners);
  const audit = new Audit(log);
  const tls = createTls(config.security, warn);
  const metricsRegistry = createRegistry('coordinator');
  exposeCredentialEnds(metricsRegistry, config.security);
  /** In the order of opening; the last one is called first. */
  const closers: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  const stop = (): Promise<void> => {
    log.info('The coordinator stops');
    return close();
  };
  try {
    await checkFree(config.listen);
    const registry = config.ledger === undefined ? new MemoryRegistry() : await openRegistry(config.ledger);
    closers.push(() => registry.close());
    const leadership = new Leadership({ registry, holder: holderName(config.listen), nowMs: clock.monotonicMs, log });
    closers.push(() => leadership.close());
    exposeLeadership(metricsRegistry, leadership);
    let api: LeaderServer['api'] | undefined;
    let isDraining = false;
    let ledger: LogLedger | undefined;
    const http = await startHttp({
      ...config.http,
      registry: metricsRegistry,
      pages: consolePages(),
      notReady: () =>
        (isDraining ? 'It drains: it takes no new jobs and is about to end' : undefined) ??
        leadership.standby ??
        ledgerFailure(ledger) ??
        (api ? undefined : 'The gRPC server does not listen yet'),
      route: (request, response) =>
        api ? api(request, response) : answerStandby(request, response, leadership.standby ?? 'Not ready yet'),
      openRoute: createHandOverRoute(handOver, log),
      tls,
      access,
      onRefused: refusedByServer(audit),
      allowedOrigins: config.allowedOrigins,
      limits: { ...defaultHttpLimits, ...config.connections },
    });
    closers.push(() => http.close());
    const lost = leadership.lost.then((reason): never => {
      throw new LeadershipLostError(reason);
    });
    // Handled later, where it is awaited.
    lost.catch(() => {});
    const epoch = await Promise.race([leadership.led, lost, ...(signal ? [aborted(signal)] : [])]);
    if (epoch === undefined) {
      await stop();
      return undefined;
    }

    const leader = await startLeader({
      config,
      clock,
      log,
      metricsRegistry,
      epoch,
      access,
      audit,
      owners,
      tls,
      handOver,
      httpPort: http.port,
      registry: leadership.registry,
      lost,
      ledgerLost: ({ message }) => leadership.end(message),
      opened: (opened) => {
        ledger = opened;
      },
      onClose: (closer) => closers.push(closer),
    });
    api = leader.api;
    const drain = (): Promise<void> => {
      isDraining = true;
      return leader.drain();
    };
    return { grpcPort: leader.grpcPort, httpPort: http.port, lost: leadership.lost, drain, close: stop };
  } catch (error) {
    // Nothing more may be written here: that is for the successor.
    if (!(error instanceof LeadershipLostError)) await close();
    throw error;
  }
}

class LeadershipLostError extends Error {}

function ledgerFailure(ledger: LogLedger | undefined): string | undefined {
  const { ms, failure } = ledger?.behind() ?? {};
  return failure && `The ledger cannot be written for ${(ms! / 1000).toFixed(1)} s: ${failure}`;
}

/** Names the leading process for people. */
function holderName({ host, port }: ListenAddress): string {
  return `the coordinator on ${machineName()} at ${host}:${port} (process ${process.pid})`;
}
