import { checkSources } from '@halogrid/jobs/check-sources';
import { createJobId } from '@halogrid/jobs/job-id';
import { SharedJobs } from '@halogrid/leadership';
import type { LogLedger, Registry } from '@halogrid/ledger';
import type { JobSpec } from '@halogrid/proto';
import { Retrieval, retrievalLimits } from '@halogrid/retrieval';
import {
  type Access,
  type Log,
  type Registry as MetricsRegistry,
  otherResultsSentence,
  type RulesOfOwners,
  type Tls,
} from '@halogrid/service';
import type { Clock } from '@halogrid/service/clock';
import { openSpanExport } from '@halogrid/service/span-export';
import type { CoordinatorConfig, PlansOnThread } from './config.ts';
import { Dispatcher } from './dispatch/dispatcher.ts';
import { drain } from './dispatch/drain.ts';
import { JobSpans } from './dispatch/job-spans.ts';
import type { JobWork } from './dispatch/job-work.ts';
import { LedJobs } from './dispatch/led-jobs.ts';
import { createFolderLedger, type LedgerContext, openSharedLedger } from './dispatch/open-ledger.ts';
import { ownerCredits } from './dispatch/owner-credits.ts';
import { realWork } from './dispatch/real-work.ts';
import { recoverJobs } from './dispatch/recover-jobs.ts';
import { removeJob } from './dispatch/remove-job.ts';
import { resumeHalfWay, resumeInFolder } from './dispatch/resume-in-folder.ts';
import { cancelEnded, resumeInLedger } from './dispatch/resume-in-ledger.ts';
import { Retention } from './dispatch/retention.ts';
import type { ResumeJob } from './dispatch/submit-job.ts';
import { tellOfSearch } from './dispatch/tell-of-search.ts';
import { createMetrics } from './dispatch/work-metrics.ts';
import { exposeState } from './expose-state.ts';
import { LiveCells } from './output/live-cells.ts';
import { otherResultsVersion } from './output/previous/other-results-version.ts';
import { PlanThreads } from './plan/plan-threads.ts';
import type { Audit } from './services/audit.ts';
import { type GrpcServer, startGrpc } from './services/grpc-server.ts';
import type { HandOver } from './services/hand-over.ts';
import { createApi } from './services/http/api.ts';
import { apiRoutes } from './services/http/api-routes.ts';
import { Intake } from './services/intake.ts';
import { JobAnswers } from './services/job-answers.ts';
import { JobCalls, type JobCallsOptions } from './services/job-calls.ts';
import { createJobsService } from './services/jobs-service.ts';
import { createNodesService } from './services/nodes-service.ts';
import { createSearchService } from './services/search-service.ts';
import { Searcher } from './services/searcher.ts';

interface Planner {
  plan: JobWork['plan'];
  check: typeof checkSources;
  survey: PlanThreads['survey'];
}

/** Whether a job is planned on another thread. Sources that a dependency lists are never listed on this one. */
const isForThread = {
  all: () => true,
  many: (uris: readonly string[]) => uris.length > 8 || !uris.every((uri) => isImageFile(uri)),
  foreign: (uris: readonly string[]) => uris.some((uri) => /\.parquet(\?|$)/i.test(uri)),
} satisfies Record<PlansOnThread, (uris: readonly string[]) => boolean>;

/** By its name; false for a glob, a list of files or a recording. */
const isImageFile = (uri: string): boolean => /^file:[^*?[\]{}]*\.(jpe?g|png|webp|tiff?|p[gnp]m)$/i.test(uri);

/**
 * If plans are made on threads, only the threads load the planner and the readers of images: 90 files that a start does
 * not need.
 */
async function choosePlanner({ config, onClose }: LeaderOptions): Promise<Planner> {
  const threads = new PlanThreads();
  onClose(() => threads.close());
  const graceOf = ({ waitForNode }: JobSpec): number => (waitForNode ? Number.POSITIVE_INFINITY : config.sourceGraceMs);
  const onThreads: Planner = {
    plan: (spec, _pipeline, signal) => threads.plan(spec, signal, graceOf(spec)),
    check: (uris, videoField, options) => threads.check(uris, videoField, options),
    survey: (spec, signal) => threads.survey(spec, signal),
  };
  if (config.plansOnThread === 'all') {
    threads.prepare();
    return onThreads;
  }
  const isOther = isForThread[config.plansOnThread];
  const [{ planJob }, { planPatiently }] = await Promise.all([
    import('./plan/planner.ts'),
    import('./plan/plan-patiently.ts'),
  ]);
  return {
    ...onThreads,
    plan: (spec, pipeline, signal) =>
      isOther(spec.sources)
        ? onThreads.plan(spec, pipeline, signal)
        : planPatiently(planJob(spec, pipeline, signal), graceOf(spec), signal),
    check: (uris, ...rest) => (isOther(uris) ? onThreads : { check: checkSources }).check(uris, ...rest),
  };
}

/** Logs it if a job keeps nothing of an earlier output because another results version wrote that. */
function tellOfEarlierOutput(plan: JobWork['plan'], log: Log): JobWork['plan'] {
  return async function* (spec, pipeline, signal) {
    const version = await otherResultsVersion(spec);
    if (version !== undefined) log.info({ out: spec.out }, otherResultsSentence(version));
    yield* plan(spec, pipeline, signal);
  };
}

/** Jobs of the registry's other coordinators; undefined if the registry has only one. */
function openSharedJobs({ registry, epoch, log, clock, ledgerLost: lost }: LeaderOptions): SharedJobs | undefined {
  const { shares } = registry;
  return shares && new SharedJobs({ registry, shares, epoch, log, nowMs: clock.monotonicMs, lost });
}

/** Ended jobs whose results are to be removed are remembered until then: at two kilobytes each. */
const mostEndedIfRetained = 10_000;

/** A caller that takes nothing for this long hangs or is gone, even if nodes must report more often. */
const leastUntakenMs = 10_000;

export interface LeaderOptions {
  config: CoordinatorConfig;
  clock: Clock;
  log: Log;
  metricsRegistry: MetricsRegistry;
  /** The registry of the jobs, which this process leads. */
  registry: Registry;
  epoch: number;
  /** Rejects if this process must end. */
  lost: Promise<never>;
  /** Called if the ledger is lost; makes `lost` reject. */
  ledgerLost: LedgerContext['lost'];
  access: Access;
  audit: Audit;
  owners: () => RulesOfOwners;
  /** Undefined: without TLS. */
  tls: (() => Tls) | undefined;
  handOver: HandOver;
  httpPort: number;
  /** Called with the ledger as soon as it is open: it may be behind before anything is served. */
  opened: (ledger: LogLedger) => void;
  /** Adds a function to be called at the end, the last one first. */
  onClose: (closer: () => Promise<void>) => void;
}

export interface LeaderServer {
  grpcPort: number;
  /** Takes no new jobs, and resolves when the coordinator may end: see `drain`. */
  drain: () => Promise<void>;
  api: ReturnType<typeof createApi>;
}

/**
 * What a coordinator does once it leads: goes on with the jobs of the ledger, and serves nodes and clients. Rejects
 * with one sentence if the ledger is damaged or the address is taken, and with the reason of `lost`.
 */
export async function startLeader(options: LeaderOptions): Promise<LeaderServer> {
  const { config, clock, log, metricsRegistry, registry, epoch, handOver, httpPort, onClose } = options;
  const context = { clock, log, lost: options.ledgerLost };
  const shared = openSharedJobs(options);
  const isShared = shared !== undefined;
  const mostEnded = config.retentionMs === undefined ? undefined : mostEndedIfRetained;
  const inRegistry =
    config.ledger === undefined
      ? undefined
      : await openSharedLedger(registry, epoch, context, { others: shared, mostEnded });
  const ledger = inRegistry?.ledger ?? createFolderLedger(context);
  options.opened(ledger);
  onClose(() => ledger.close());
  const { plan: makePlan, check, survey } = await choosePlanner(options);
  const plan = tellOfEarlierOutput(makePlan, log);
  const metrics = createMetrics(metricsRegistry);
  const spans = await openSpanExport();
  if (spans) onClose(() => spans.close());
  const dispatcher = new Dispatcher({
    ledger,
    work: realWork(plan, ledger, isShared),
    clock,
    reportWithinMs: config.nodeTimeoutMs,
    graceMs: config.nodeGraceMs,
    sourceGraceMs: config.sourceGraceMs,
    spaceGraceMs: config.spaceGraceMs,
    cancelEnded: (jobId) => cancelEnded(recovery, jobId),
    metrics,
    log,
    credits: ownerCredits(options.owners),
    others: shared,
    spans: spans && new JobSpans(spans, clock),
  });
  let grpc: GrpcServer | undefined;
  // The dispatcher ends conversations, and the server waits for their ends.
  onClose(async () => {
    // Otherwise a job that waits for a registry or a folder that is away would keep the process from ending.
    ledger.stopRetrying();
    await dispatcher.close();
    await grpc?.close();
  });
  const { jobs, nodes, view } = dispatcher;
  exposeState(metricsRegistry, view, ledger);
  const cells = new LiveCells(ledger);
  onClose(() => cells.close());
  const known = new JobAnswers({ view, jobs, ledger, cells, questions: shared?.questions });
  const recovery = { ledger, jobs, clock, log, isShared };
  if (shared && inRegistry) {
    await Promise.race([shared.start(new LedJobs(recovery, inRegistry.home, view)), options.lost]);
    onClose(() => shared.close());
  } else await Promise.race([recoverJobs(recovery), options.lost]);
  const retrieval = new Retrieval(retrievalLimits, {
    searchNodes: () => view.searchNodes(),
    searchPart: (session, part) => nodes.searchPart(session, part),
  });
  onClose(() => retrieval.close());
  const searcher = new Searcher(retrieval, ledger, config.indexes, (searched) => tellOfSearch(searched, metrics, log));
  const inFolder = { ...context, ledger, jobs };
  const resume: ResumeJob = (spec, nameOutByJob) =>
    resumeHalfWay(spec, nameOutByJob, (job) =>
      config.ledger === undefined ? resumeInFolder(job, inFolder) : resumeInLedger(job, recovery),
    );
  const remove: JobCallsOptions['remove'] = (jobId, choice) =>
    removeJob({ ledger, indexes: config.indexes }, jobId, choice);
  if (config.retentionMs !== undefined) {
    const { retentionMs } = config;
    const retention = new Retention({ ledger, retentionMs, clock, log, remove: (jobId) => remove(jobId, {}) });
    onClose(() => retention.close());
  }
  const intake = new Intake();
  const { access, audit, tls } = options;
  const calls = new JobCalls({
    jobs,
    intake,
    owners: options.owners,
    audit,
    nowMs: clock.wallMs,
    view,
    ledger,
    known,
    resume,
    takesShares: config.ledger === undefined,
    claims: { isShared, warn: (sentence) => log.warn({ notice: true }, sentence) },
    check,
    remove,
    survey,
    createJobId: () => createJobId(clock.wallMs(), Math.random()),
    pages: { host: config.http.host, port: httpPort, tls: options.tls !== undefined },
  });
  const services = {
    jobs: createJobsService(calls, access, log),
    nodes: createNodesService(dispatcher, config.nodeTimeoutMs, { handOver, httpPort }),
    search: createSearchService(searcher, log),
  };
  const { connections: limits, introspection } = config;
  grpc = await startGrpc(config.listen, services, {
    tls,
    access,
    audit,
    limits,
    introspection,
    untakenMs: Math.max(config.nodeTimeoutMs, leastUntakenMs),
    warn: (sentence) => log.warn(sentence),
  });
  const routes = apiRoutes({ calls, known, view, ledger, searcher, retrieval, access, grpcPort: grpc.port });
  const drainJobs = (): Promise<void> => {
    intake.close();
    return drain({ jobs, isAlone: () => shared?.isAlone ?? true, log });
  };
  return {
    grpcPort: grpc.port,
    drain: drainJobs,
    api: createApi({ routes, access, audit, allowedOrigins: config.allowedOrigins, log }),
  };
}
