// A coordinator in a process of its own, over real gRPC. Its ledger is in a file, or in the database of HALOGRID_LEDGER
// beside other coordinators. It plans frames that do not exist. Arguments: all frames, nodes to wait for, jobs that
// share the frames, and a folder. It runs the jobs at once, or goes on with those that another such process left in the
// folder, prints what that took, and ends.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { scratchUri } from '@halogrid/jobs/output-paths';
import { createPipeline } from '@halogrid/kernels';
import { SharedJobs } from '@halogrid/leadership';
import { openRegistry } from '@halogrid/ledger';
import { JobSpec } from '@halogrid/proto';
import { defaultConnectionLimits, openAccess } from '@halogrid/service';
import { systemClock } from '@halogrid/service/clock';
import { createLog } from '@halogrid/service/log';
import { createRegistry } from '@halogrid/service/metrics';
import { Dispatcher } from '../../../apps/coordinator/src/dispatch/dispatcher.ts';
import { createFolderLedger, openSharedLedger } from '../../../apps/coordinator/src/dispatch/open-ledger.ts';
import { resumeHalfWay, resumeInFolder } from '../../../apps/coordinator/src/dispatch/resume-in-folder.ts';
import { createMetrics } from '../../../apps/coordinator/src/dispatch/work-metrics.ts';
import { finaliseJob } from '../../../apps/coordinator/src/output/finalise.ts';
import { claimOutputFolder, releaseOutputFolder } from '../../../apps/coordinator/src/output/output-folder.ts';
import { openPictures } from '../../../apps/coordinator/src/output/pictures-ahead.ts';
import { openTables } from '../../../apps/coordinator/src/output/tables-file.ts';
import { PlanThreads } from '../../../apps/coordinator/src/plan/plan-threads.ts';
import { Audit } from '../../../apps/coordinator/src/services/audit.ts';
import { startGrpc } from '../../../apps/coordinator/src/services/grpc-server.ts';
import { HandOver } from '../../../apps/coordinator/src/services/hand-over.ts';
import { createNodesService } from '../../../apps/coordinator/src/services/nodes-service.ts';

const [frames = 0, nodes, jobs = 1] = process.argv.slice(2).map(Number);
const folder = process.argv[5]!;
/** The process reports its memory each time this many frames are done. */
const reportedFrames = Math.min(1_000_000, frames / 10);
const log = createLog('bench', 'warn');
const operations = [{ kernel: 'lbp', parameters: {}, border: '' }];
const specs = Array.from({ length: jobs }, (_, job) =>
  JobSpec.fromPartial({
    sources: [`file:///archive/${frames / jobs}`],
    pipeline: { operations },
    out: pathToFileURL(join(folder, `out-${job}`)).href,
    mapFormat: 'none',
    grid: { rows: 1, columns: 1 },
  }),
);
const ended = Promise.withResolvers<void>();
const lost = (error: Error) => ended.reject(error);
const planThreads = new PlanThreads(new URL('./plan-worker.ts', import.meta.url));
planThreads.prepare();
const newId = `bench-${process.pid}`;
const context = { clock: systemClock, log, lost };
const { ledger, closeRegistry } = await openLedger(process.env.HALOGRID_LEDGER);

async function openLedger(url: string | undefined) {
  if (url === undefined) return { ledger: createFolderLedger(context), closeRegistry: async () => {} };
  const registry = await openRegistry(url);
  const epoch = (await registry.acquire(newId, 600_000))!;
  const shared = new SharedJobs({
    registry,
    shares: registry.shares!,
    epoch,
    log,
    nowMs: systemClock.monotonicMs,
    lost,
  });
  const { ledger } = await openSharedLedger(registry, epoch, context, { others: shared });
  return { ledger, closeRegistry: () => registry.close() };
}

/** Processor time so far in microseconds, of all threads and of the main thread. */
const used = () => {
  const [all, main] = [process.cpuUsage(), process.threadCpuUsage()];
  return { all: all.user + all.system, main: main.user + main.system };
};
/** Frames of the jobs that an earlier process did. */
let doneBefore = 0;
const since = (before: ReturnType<typeof used>) => {
  const now = used();
  const own = frames - doneBefore;
  return { frames: own, all: (now.all - before.all) / own, main: (now.main - before.main) / own };
};

let leased: ReturnType<typeof used> | undefined;
let startMs = 0;
let computed: object = {};
const dispatcher = new Dispatcher({
  ledger,
  work: {
    plan: (spec, _pipeline, signal) => planThreads.plan(spec, signal),
    tables: openTables,
    pictures: openPictures,
    finalise: async (...results) => {
      computed = { ...since(leased!), seconds: (performance.now() - startMs) / 1000 };
      return finaliseJob(...results);
    },
    abandon: async (_job, end) => {
      ended.reject(new Error(JSON.stringify(end)));
      return false;
    },
    release: releaseOutputFolder,
  },
  clock: systemClock,
  reportWithinMs: 60_000,
  metrics: createMetrics(createRegistry('coordinator')),
  log,
  eyes: {
    see: async () => ({ kind: 'there', file: { version: 'x', sizeBytes: 20_000, sha256: new Uint8Array(32) } }),
    identify: async () => undefined,
    free: async () => undefined,
    whyNotWritten: async () => undefined,
  },
});
const files = { handOver: new HandOver(), httpPort: 0 };
const unused = {} as never;
const grpc = await startGrpc(
  { host: '127.0.0.1', port: 0 },
  { nodes: createNodesService(dispatcher, 60_000, files), jobs: unused, search: unused },
  {
    tls: undefined,
    access: openAccess,
    audit: new Audit(log),
    limits: defaultConnectionLimits,
    untakenMs: 60_000,
    warn: (line) => log.warn(line),
    introspection: false,
  },
);
process.stdout.write(`${JSON.stringify({ port: grpc.port })}\n`);
while (dispatcher.view.nodes().length < nodes!) await new Promise((resolve) => setTimeout(resolve, 20));
leased = used();
startMs = performance.now();
const inFolder = { ...context, ledger, jobs: dispatcher.jobs };
const jobIds: string[] = [];
for (const [job, spec] of specs.entries()) {
  const resumed = await resumeHalfWay(spec, false, (job) => resumeInFolder(job, inFolder));
  jobIds.push(resumed ?? (await submit(spec, `${newId}-${job}`)));
}
doneBefore = await framesDone();

async function submit(spec: JobSpec, jobId: string): Promise<string> {
  await claimOutputFolder(spec.out, { jobId, spec });
  const pipeline = createPipeline(operations);
  await dispatcher.jobs.submit({ jobId, spec, pipeline, scratch: scratchUri(spec.out) });
  return jobId;
}

async function framesDone(): Promise<number> {
  let done = 0;
  for (const jobId of jobIds) done += (await ledger.getJob(jobId))?.counts.frames ?? 0;
  return done;
}

let told = 0;
const memory = setInterval(async () => {
  const done = await framesDone();
  if (done < told + reportedFrames) return;
  told = done - (done % reportedFrames);
  process.stdout.write(`${JSON.stringify({ done, rss: process.memoryUsage.rss() })}\n`);
}, 100);
await Promise.race([Promise.all(jobIds.map((jobId) => dispatcher.jobs.ended(jobId))), ended.promise]);
clearInterval(memory);
const whole = { ...since(leased), seconds: (performance.now() - startMs) / 1000 };
const { state, digest } = (await ledger.getJob(jobIds[0]!))!;
process.stdout.write(`${JSON.stringify({ state, digest, computed, whole, rss: process.resourceUsage().maxRSS })}\n`);
await dispatcher.close();
await grpc.close();
await ledger.close();
await closeRegistry();
await planThreads.close();
