import { restrictSources } from '@halogrid/imaging';
import { createAccess, createRegistry, defaultHttpLimits, type Log, startHttp } from '@halogrid/service';
import { systemClock } from './clock.ts';
import type { CoordinatorConfig } from './config.ts';
import { Dispatcher } from './dispatcher.ts';
import { createJobId } from './job-id.ts';
import { MemoryLedger } from './ledger/memory-ledger.ts';
import { createMetrics, exposeState } from './metrics.ts';
import { abandonJob, finaliseJob } from './output/finalise.ts';
import { openFeatures } from './output/open-features.ts';
import { histogramSpoolPath, releaseOutputFolder } from './output/output-folder.ts';
import { planJob } from './plan/planner.ts';
import { startGrpc } from './services/grpc-server.ts';
import { HandOver } from './services/hand-over.ts';
import { createHandOverRoute } from './services/hand-over-http.ts';
import { createJobsService } from './services/jobs-service.ts';
import { createJsonApi } from './services/json-api.ts';
import { createNodesService } from './services/nodes-service.ts';

export interface RunningCoordinator {
  grpcPort: number;
  httpPort: number;
  /** Ends every conversation and stops; jobs that run are left unfinished. Resolves when nothing is left running. */
  close(): Promise<void>;
}

/** Starts a coordinator in this process. Rejects with one sentence when an address cannot be had. */
export async function startCoordinator(config: CoordinatorConfig, log: Log): Promise<RunningCoordinator> {
  const clock = systemClock;
  for (const sentence of config.warnings) log.warn(sentence);
  restrictSources(config.data);
  const { tls } = config.security;
  const handOver = new HandOver();
  const access = createAccess(config.security, (sentence) => log.error(sentence));
  const registry = createRegistry('coordinator');
  const ledger = new MemoryLedger(({ out }) => histogramSpoolPath(out));
  const dispatcher = new Dispatcher({
    ledger,
    work: {
      plan: planJob,
      features: openFeatures,
      finalise: finaliseJob,
      abandon: abandonJob,
      release: releaseOutputFolder,
    },
    clock,
    reportWithinMs: config.nodeTimeoutMs,
    metrics: createMetrics(registry),
    log,
  });
  exposeState(registry, dispatcher, ledger);

  const closers = [() => dispatcher.close()];
  const close = async (): Promise<void> => {
    for (const closer of closers) await closer();
    await ledger.close();
  };
  try {
    let isServing = false;
    const http = await startHttp({
      ...config.http,
      registry,
      notReady: () => (isServing ? undefined : 'The gRPC server does not listen yet'),
      route: createJsonApi(dispatcher, ledger, log),
      openRoute: createHandOverRoute(handOver, log),
      tls,
      access,
      limits: { ...defaultHttpLimits, ...config.connections },
    });
    closers.push(() => http.close());
    const services = {
      jobs: createJobsService({
        dispatcher,
        ledger,
        createJobId: () => createJobId(clock.wallMs(), Math.random()),
        log,
      }),
      nodes: createNodesService(dispatcher, config.nodeTimeoutMs, { handOver, httpPort: http.port }),
    };
    const grpc = await startGrpc(config.listen, services, { tls, access, limits: config.connections });
    closers.push(() => grpc.close());
    isServing = true;
    return { grpcPort: grpc.port, httpPort: http.port, close };
  } catch (error) {
    await close();
    throw error;
  }
}
