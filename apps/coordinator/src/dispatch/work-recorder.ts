import type { AcceptedJob } from '@halogrid/jobs/accepted-job';
import { indexesOf, readSources } from '@halogrid/jobs/planned-sources';
import { type PlannedStep, type SourceResult, stageLabel } from '@halogrid/jobs/shard';
import { isEnd, type LedgerState } from '@halogrid/ledger';
import { type Hello, needInWords } from '@halogrid/proto';
import type { Log } from '@halogrid/service';
import type { Clock } from '@halogrid/service/clock';
import { exemplarOf } from '@halogrid/service/trace-context';
import type { Command } from '../scheduler/commands.ts';
import type { ComparableAnswer } from './answer-digest.ts';
import { JobHistories } from './history/job-histories.ts';
import type { MergedShard } from './history/job-history.ts';
import type { StoredHistory } from './history/stored-history.ts';
import type { JobSpans } from './job-spans.ts';
import { LostLeases } from './lost-leases.ts';
import type { Metrics } from './work-metrics.ts';

interface RecordedJob {
  kernel: string;
  /** Its exemplar for histograms; see exemplarOf. */
  exemplar: Record<string, string>;
  /** Sources that were counted as quarantined; tiles of one image may each report it. */
  quarantined: Set<number>;
}

/** Turns the dispatcher's actions into metrics, log lines and histories of jobs; decides nothing. */
export class WorkRecorder {
  readonly histories = new JobHistories();
  readonly #metrics: Metrics;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #spans: JobSpans | undefined;
  readonly #jobs = new Map<string, RecordedJob>();
  /** Names of the attached nodes, by id. */
  readonly #nodeNames = new Map<string, string>();
  /** Names of nodes that ever answered wrongly: their metric series stay when they leave. */
  readonly #wrongNames = new Set<string>();
  readonly #lostLeases = new LostLeases();

  /** `spans`: absent if no collector is configured. */
  constructor(metrics: Metrics, clock: Clock, log: Log, spans?: JobSpans) {
    this.#spans = spans;
    this.#metrics = metrics;
    this.#clock = clock;
    this.#log = log;
  }

  /** `earlier`: what earlier leaders of the job saw of it. */
  jobSubmitted({ jobId, pipeline }: AcceptedJob, earlier?: StoredHistory): void {
    const kernel = pipeline.operations.map((operation) => operation.kernel).join('+');
    this.#jobs.set(jobId, { kernel, exemplar: exemplarOf(jobId), quarantined: new Set() });
    this.#spans?.jobStarted(jobId);
    this.histories.begin(jobId, this.#clock.monotonicMs(), this.#clock.wallMs(), earlier);
  }

  /** Returns the history of the job. */
  jobEnded(jobId: string): StoredHistory | undefined {
    this.#metrics.leaseExpirations.inc(this.#lostLeases.expireJob(jobId));
    this.#jobs.delete(jobId);
    return this.histories.end(jobId, this.#clock.monotonicMs());
  }

  /** A job has reached this state. */
  jobIs(jobId: string, state: LedgerState): void {
    this.#spans?.jobIs(jobId, state);
    if (isEnd(state)) this.#metrics.jobsEnded.inc({ state });
  }

  planned(jobId: string, steps: PlannedStep[]): void {
    for (const step of steps) {
      if (step.kind === 'sources' && !step.sources.isPlain) {
        for (const { index, error } of readSources(step.sources)) {
          if (error) this.#quarantined(jobId, index, error.stage);
        }
      } else if (step.kind === 'note') this.#log.info({ jobId }, step.text);
    }
  }

  nodeAttached({ nodeId, name, device, creditBytes }: Hello): void {
    this.#nodeNames.set(nodeId, name);
    // The series starts at 0, so that a rate sees the first wrong answer.
    this.#metrics.wrongAnswers.inc({ node: name }, 0);
    this.#log.info({ nodeId, node: name, device: device?.name, creditBytes }, 'A node is attached');
  }

  /** `lostBecause` is undefined for a node that left in order. */
  nodeLeft({ nodeId, name }: Hello, lostBecause: string | undefined): void {
    this.#nodeNames.delete(nodeId);
    if (!this.#wrongNames.has(name)) this.#metrics.wrongAnswers.remove({ node: name });
    if (lostBecause === undefined) this.#log.info({ nodeId, node: name }, 'A node has left');
    else {
      this.#metrics.nodesLost.inc();
      this.#log.warn({ nodeId, node: name }, `A node is lost: ${lostBecause}`);
    }
  }

  record(command: Command<ComparableAnswer>): void {
    const metrics = this.#metrics;
    switch (command.kind) {
      case 'AssignShard':
        metrics.shardAttempts.inc({ reason: command.reason });
        this.#shardMoved(command.lease.jobId, command.lease.shard);
        metrics.shardQueueSeconds.observe({
          value: command.waitedMs / 1000,
          exemplarLabels: this.#exemplar(command.lease.jobId),
        });
        this.histories.get(command.lease.jobId)?.leased(command.waitedMs);
        if (command.verify) metrics.checkedShards.inc();
        break;
      case 'AdoptShard':
        this.#lostLeases.broughtBack(command.lease);
        this.#log.info(command.lease, 'A node has brought along a shard that it was leased, and goes on with it');
        break;
      case 'QuarantineShard': {
        const { jobId, shard, error, attempts } = command;
        this.#shardMoved(jobId, shard.shard);
        metrics.shardsFinished.inc({ kernel: this.#kernel(jobId), outcome: 'quarantined' });
        for (const index of indexesOf(shard.work)) this.#quarantined(jobId, index, 'compute');
        this.#log.error({ jobId, shard: shard.shard, attempts }, `A shard is given up: ${error}`);
        break;
      }
      case 'SkipShard':
        metrics.shardsSkipped.inc();
        break;
      case 'RecordLack': {
        const { nodeId, need, reason } = command;
        const node = this.#nodeNames.get(nodeId) ?? nodeId;
        if (reason !== undefined) metrics.lacksFound.inc();
        const facts = { nodeId, node, need };
        if (reason === undefined) this.#log.info(facts, `Node '${node}' can ${needInWords(need)} again`);
        else
          this.#log.warn(
            facts,
            `Node '${node}' cannot ${needInWords(need)}, and gets no work that needs it: ${reason}`,
          );
        break;
      }
      case 'RecordSetback': {
        const { nodeId, lease, setback, error } = command;
        const { jobId, shard, attempt } = lease;
        // Nodes do not bring back leases of ended jobs.
        if (setback === 'lost' && this.#jobs.has(jobId)) this.#lostLeases.lost(lease);
        else if (setback === 'lost') metrics.leaseExpirations.inc();
        else {
          const outcome = setback === 'failed' ? 'retry' : setback;
          metrics.shardsFinished.inc({ kernel: this.#kernel(jobId), outcome });
        }
        this.#log.warn({ jobId, shard, attempt, nodeId, setback }, error);
        break;
      }
      case 'RecordMismatch':
        metrics.mismatches.inc();
        this.#log.error(command, 'Answers for a shard differ: the reference decides, and none is believed until then');
        break;
      case 'RecordWrongAnswer': {
        const { nodeId, lease } = command;
        const node = this.#nodeNames.get(nodeId) ?? nodeId;
        this.#wrongNames.add(node);
        metrics.wrongAnswers.inc({ node });
        this.#log.error(
          { ...lease, nodeId, node },
          'A node answered wrongly and is not given shards until it is restarted',
        );
        break;
      }
      case 'RecordSetAside': {
        const { nodeId, forMs, failures, of } = command;
        metrics.nodesSetAside.inc();
        this.#log.warn({ nodeId, forMs }, `A node is set aside: it failed ${failures} of its last ${of} shards`);
        break;
      }
    }
  }

  /** Returns the pixels that were merged. */
  committed(
    { lease, leasedAtMs, answer }: Extract<Command<ComparableAnswer>, { kind: 'CommitShard' }>,
    outcome: 'committed' | 'duplicate' | 'stale',
    commitStartMs: number,
  ): number {
    const metrics = this.#metrics;
    const kernel = this.#kernel(lease.jobId);
    const nowMs = this.#clock.monotonicMs();
    const exemplarLabels = this.#exemplar(lease.jobId);
    metrics.mergeSeconds.observe({ value: (nowMs - commitStartMs) / 1000, exemplarLabels });
    metrics.shardsFinished.inc({ kernel, outcome: outcome === 'committed' ? 'ok' : outcome });
    this.#shardMoved(lease.jobId, lease.shard);
    if (outcome !== 'committed') return 0;

    const { errors, stageSeconds, inputBytes, spans = [] } = answer.content;
    const { found: frames, pixels } = answer.content.found ?? outlineOf(answer.content.results);
    metrics.shardSeconds.observe({ labels: { kernel }, value: (nowMs - leasedAtMs) / 1000, exemplarLabels });
    metrics.inputPixels.inc({ kernel }, pixels);
    metrics.inputFrames.inc({ kernel }, frames);
    metrics.inputBytes.inc(inputBytes);
    const merged: MergedShard = {
      leasedAtMs,
      answeredMs: commitStartMs,
      mergedMs: nowMs,
      pixels,
      stageSeconds,
      spans,
      shard: lease.shard,
      attempt: lease.attempt,
      node: answer.node.name,
      mergeSeconds: (nowMs - commitStartMs) / 1000,
    };
    this.histories.get(lease.jobId)?.merged(merged);
    this.#spans?.merged(lease.jobId, merged);
    for (const [stage, seconds] of Object.entries(stageSeconds)) {
      if (Number.isFinite(seconds) && seconds > 0) metrics.stageSeconds.inc({ stage: stageLabel(stage) }, seconds);
    }
    for (const { source, stage } of errors) this.#quarantined(lease.jobId, source, stage);
    metrics.lastResult.set(this.#clock.wallMs() / 1000);
    return pixels;
  }

  /** The shard was leased to another node or is over: its lost leases have expired. */
  #shardMoved(jobId: string, shard: number): void {
    this.#metrics.leaseExpirations.inc(this.#lostLeases.expire(jobId, shard));
  }

  #quarantined(jobId: string, source: number, stage: string): void {
    const seen = this.#jobs.get(jobId)?.quarantined;
    if (!seen || seen.has(source)) return;
    seen.add(source);
    this.#metrics.quarantined.inc({ stage: stageLabel(stage) });
  }

  #exemplar(jobId: string): Record<string, string> {
    return this.#jobs.get(jobId)?.exemplar ?? {};
  }

  #kernel(jobId: string): string {
    return this.#jobs.get(jobId)?.kernel ?? 'unknown';
  }
}

/** Totals of the first pipeline's results of tiles; an image counts as one frame with its last tile. */
function outlineOf(results: readonly SourceResult[]): { found: number; pixels: number } {
  const read = results.filter(({ pipeline = 0 }) => pipeline === 0);
  const pixels = read.reduce((sum, { rect }) => sum + rect.width * rect.height, 0);
  return { found: read.filter(isLastPart).length, pixels };
}

/** Whether the part holds the image's last pixel, as exactly one part of every image does. */
function isLastPart({ size, rect }: SourceResult): boolean {
  return rect.x + rect.width === size.width && rect.y + rect.height === size.height;
}
