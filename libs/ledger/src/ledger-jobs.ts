import { jobGrid, jobPipelines } from '@halogrid/jobs/accepted-job';
import type { JobSpec } from '@halogrid/proto';
import { histogramShape } from '@halogrid/results/histogram-shape';
import { LoggedJob, type WritePart } from './job/logged-job.ts';
import type { JobRecord, NewJob } from './ledger/ledger.ts';
import { readRecord } from './ledger/registered-record.ts';
import { countLogs, JobLog, type JobLogOptions } from './log/job-log.ts';
import type { Journal } from './log/journal.ts';
import type { LogPlace } from './log/log-place.ts';
import type { LogMark, RegisteredJob, Registry } from './registry/registry.ts';

/** A place for jobs: a registry, or a folder with logs. */
export interface LogHome {
  journal: Journal;
  /** Absent if one process after another leads a job, and only its logs know of it. */
  registry?: Registry;
  /** The logs of a job. */
  logsOf: (jobId: string, spec: JobSpec) => LogPlace;
  /** Writes the parts of a job that no node writes. */
  partsOf: (spec: JobSpec, jobId: string) => WritePart;
  /** Leaves a home for a single job, after that has ended. May be called again. */
  leave?: () => Promise<void>;
}

interface Led {
  home: LogHome;
  epoch?: number;
}
export type OpenedJob = Led & { open: LoggedJob };
/** A job that has ended, or whose log is not read yet: then `marks` says how much of it counts. */
type ClosedJob = Led & { open?: undefined; record: JobRecord; marks?: readonly LogMark[] };
export type Job = OpenedJob | ClosedJob;

/**
 * The jobs of a ledger, in order of submission: new jobs, and jobs of earlier processes. The log of a job of an earlier
 * process is read on the first request for more than its row in the registry.
 */
export class LedgerJobs extends Map<string, Job> {
  /** The epoch of jobs without a separate one. */
  readonly #epoch: number;

  constructor(epoch: number) {
    super();
    this.#epoch = epoch;
  }

  /**
   * Loads the jobs of a home with a registry. Rejects with DamagedLedgerError if it is damaged, and then loads none.
   */
  async load(home: LogHome): Promise<JobRecord[]> {
    const jobs = await Array.fromAsync(home.registry!.jobs());
    const known = jobs
      .map((job) => this.#closed(home, job))
      .sort((a, b) => a.record.submittedMs - b.record.submittedMs);
    for (const job of known) this.set(job.record.jobId, job);
    return known.map(({ record }) => record);
  }

  /**
   * Loads the job whose logs are in its folder, and which is in no registry. Resolves with undefined if the logs do not
   * have it. Rejects with DamagedLogError. `torn` is called if the end of a log was cut off.
   */
  async loadFolder(
    home: LogHome,
    { jobId, spec }: { jobId: string; spec: JobSpec },
    torn?: (epoch: number, offset: number) => void,
  ): Promise<JobRecord | undefined> {
    const marks = await countLogs(home.logsOf(jobId, spec), torn);
    if (!marks) return undefined;
    const open = await this.takeOver(home, { jobId, spec }, marks);
    this.set(jobId, { home, open });
    return open.record;
  }

  /**
   * Takes over a job of a home that now belongs to this ledger, with a separate epoch. Resolves with undefined if the
   * job has ended, also if it may go on later. Rejects as `load`.
   */
  async adopt(home: LogHome, jobId: string, epoch: number): Promise<JobRecord | undefined> {
    for await (const job of home.registry!.jobs([jobId])) {
      if (job.leader === undefined) return undefined;
      const closed = { ...this.#closed(home, job), epoch };
      this.set(jobId, closed);
      return closed.record.canGoOn ? undefined : closed.record;
    }
    return undefined;
  }

  #closed(home: LogHome, { spec, status, leader, marks, epoch }: RegisteredJob): ClosedJob {
    const record = readRecord(status, JSON.parse(spec));
    return { home, record, ...(leader !== undefined && { marks }), ...(epoch !== this.#epoch && { epoch }) };
  }

  epochOf(jobId: string): number {
    return this.get(jobId)?.epoch ?? this.#epoch;
  }

  logEpochOf(jobId: string): number {
    return this.get(jobId)?.open?.log.epoch ?? this.epochOf(jobId);
  }

  /** Throws if there is no such job. */
  led(jobId: string): Job {
    const job = this.get(jobId);
    if (!job) throw new Error(`There is no job ${jobId}`);
    return job;
  }

  /**
   * The job if it is open. Changes of one turn are written before later ones, also if the ledger is about to be closed.
   */
  openNow(jobId: string): OpenedJob | undefined {
    const job = this.led(jobId);
    return job.open && job;
  }

  /** Opens the log of a job that has not ended. Rejects with one sentence if it is lost. */
  async opened(jobId: string): Promise<OpenedJob | undefined> {
    const job = this.led(jobId);
    if (job.open) return job;
    if (!job.marks || job.record.canGoOn) return undefined;
    const { record, marks, ...led } = job;
    const opened = { ...led, open: await this.takeOver(job.home, record, marks) };
    // It may have ended or been opened meanwhile.
    const now = this.led(jobId);
    if (now !== job) {
      await opened.open.close();
      return now.open ? now : undefined;
    }
    this.set(jobId, opened);
    return opened;
  }

  /** A new job, with an empty log; it is not yet one of these. */
  async start(home: LogHome, { jobId, spec, submittedMs, owner }: NewJob): Promise<LoggedJob> {
    const log = JobLog.create(await this.#logOptions(home, jobId, spec), submittedMs, owner);
    return new LoggedJob(jobId, spec, log, home.partsOf(spec, jobId), false);
  }

  /** A job as its log has it, as far as the marks count. Rejects with one sentence if the log is lost. */
  async takeOver(
    home: LogHome,
    { jobId, spec }: { jobId: string; spec: JobSpec },
    marks: readonly LogMark[],
  ): Promise<LoggedJob> {
    const options = await this.#logOptions(home, jobId, spec);
    const log = await JobLog.takeOver(options, marks).catch((error: Error) => {
      throw new Error(`The results so far of job ${jobId} are lost: ${error.message}`, { cause: error });
    });
    return new LoggedJob(jobId, spec, log, home.partsOf(spec, jobId), home.registry !== undefined);
  }

  async #logOptions(home: LogHome, jobId: string, spec: JobSpec): Promise<JobLogOptions> {
    const place = home.logsOf(jobId, spec);
    // Without a registry, the logs number the leaders.
    const epoch = home.registry ? this.epochOf(jobId) : ((await place.epochs()).at(-1) ?? 0) + 1;
    const shapes = jobPipelines(spec).map((pipeline) => histogramShape(pipeline, jobGrid(spec)));
    return { place, epoch, shapes };
  }
}
