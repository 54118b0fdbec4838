import { hostname as machineName } from 'node:os';
import { aborted, createRegistry, type ListenAddress, type Log, startHttp } from '@halogrid/service';
import { systemClock } from './clock.ts';
import type { CoordinatorConfig } from './config.ts';
import { Dispatcher } from './dispatcher.ts';
import { createJobId } from './job-id.ts';
import { Leadership } from './leadership/leadership.ts';
import type { DurableLedger } from './ledger/durable-ledger.ts';
import { MemoryStore } from './ledger/store/memory-store.ts';
import { openStore } from './ledger/store/open-store.ts';
import { createMetrics, exposeLeadership, exposeState } from './metrics.ts';
import { createFolderLedger, openSharedLedger } from './open-ledger.ts';
import { abandonJob, finaliseJob } from './output/finalise.ts';
import { openFeatures } from './output/open-features.ts';
import { releaseOutputFolder } from './output/output-folder.ts';
import { planJob } from './plan/planner.ts';
import { recoverJobs } from './recover-jobs.ts';
import { resumeInFolder } from './resume-in-folder.ts';
import { checkFree, type GrpcServer, startGrpc } from './services/grpc-server.ts';
import { createJobsService } from './services/jobs-service.ts';
import { answerStandby, createJsonApi } from './services/json-api.ts';
import { createNodesService } from './services/nodes-service.ts';

export interface RunningCoordinator {
  grpcPort: number;
  httpPort: number;
  /** Resolves with one sentence when another coordinator has taken over: this process may do nothing then but end. */
  lost: Promise<string>;
  /** Ends every conversation and stops; jobs that run are left unfinished. Resolves when nothing is left running. */
  close(): Promise<void>;
}

/**
 * Starts a coordinator in this process, and resolves once it leads and serves; until then it stands by and only its HTTP
 * answers. Resolves with undefined where `signal` aborts before. Rejects with one sentence when an address or the ledger
 * cannot be had.
 */
export async function startCoordinator(
  config: CoordinatorConfig,
  log: Log,
  signal?: AbortSignal,
): Promise<RunningCoordinator | undefined> {
  const clock = systemClock;
  const registry = createRegistry('coordinator');
  /** What was opened last is closed first. */
  const closers: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    await checkFree(config.listen);
    const store = config.ledger === undefined ? new MemoryStore() : await openStore(config.ledger);
    closers.push(() => store.close());
    const leadership = new Leadership({ store, holder: holderName(config.listen), nowMs: clock.monotonicMs, log });
    closers.push(() => leadership.close());
    exposeLeadership(registry, leadership);
    let api: ReturnType<typeof createJsonApi> | undefined;
    let ledger: DurableLedger | undefined;
    const http = await startHttp({
      ...config.http,
      registry,
      notReady: () =>
        leadership.standby ?? ledgerFailure(ledger) ?? (api ? undefined : 'The gRPC server does not listen yet'),
      route: (request, response) =>
        api ? api(request, response) : answerStandby(request, response, leadership.standby ?? 'Not ready yet'),
    });
    closers.push(() => http.close());
    const epoch = await Promise.race([leadership.led, ...(signal ? [aborted(signal)] : [])]);
    if (epoch === undefined) {
      await close();
      return undefined;
    }

    const context = { clock, log };
    const jobs =
      config.ledger === undefined
        ? createFolderLedger(context)
        : await openSharedLedger(leadership.store, epoch, context);
    ledger = jobs;
    closers.push(() => jobs.close());
    const dispatcher = new Dispatcher({
      ledger: jobs,
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
    let grpc: GrpcServer | undefined;
    // Conversations end by the dispatcher's word, and the server waits for their ends.
    closers.push(async () => {
      await dispatcher.close();
      await grpc?.close();
    });
    exposeState(registry, dispatcher, jobs);
    await recoverJobs({ ledger: jobs, dispatcher, clock, log });
    grpc = await startGrpc(config.listen, {
      jobs: createJobsService({
        dispatcher,
        ledger: jobs,
        createJobId: () => createJobId(clock.wallMs(), Math.random()),
        resume:
          config.ledger === undefined
            ? (spec, nameOutByJob) => resumeInFolder(spec, nameOutByJob, { ...context, ledger: jobs, dispatcher })
            : undefined,
        log,
      }),
      nodes: createNodesService(dispatcher, config.nodeTimeoutMs),
    });
    api = createJsonApi(dispatcher, jobs, log);
    return { grpcPort: grpc.port, httpPort: http.port, lost: leadership.lost, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function ledgerFailure(ledger: DurableLedger | undefined): string | undefined {
  const { ms, failure } = ledger?.behind() ?? {};
  return failure && `The ledger cannot be written for ${(ms! / 1000).toFixed(1)} s: ${failure}`;
}

/** Tells people which process leads. */
function holderName({ host, port }: ListenAddress): string {
  return `the coordinator on ${machineName()} at ${host}:${port} (process ${process.pid})`;
}
