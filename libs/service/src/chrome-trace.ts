import { hasEnded, type TraceResponse } from '@halogrid/proto';

/** An event of the Trace Event Format, which Perfetto and chrome://tracing read; times are microseconds. */
interface TraceEvent {
  /** X: an event with a duration; M: the name of a process or a thread. */
  ph: 'X' | 'M';
  name: string;
  pid: number;
  tid: number;
  ts?: number;
  dur?: number;
  args: Record<string, string | number>;
}

/** A span of time, in seconds since the job began. */
interface Span {
  name: string;
  from: number;
  to: number;
  args: Record<string, number>;
}

/** Rows of a node, in order of the stages. */
const rows = ['shard', 'read', 'decode', 'device', 'encode'];

/**
 * A job as a file for Perfetto. The job and the coordinator's work come first, then a process for each node with one
 * row per stage. If spans of a row overlap, there are further rows of that name.
 */
export function chromeTrace(trace: TraceResponse): object {
  const { job, traceId, sinceMs, nodes, shards, every } = trace;
  const label = ({ shard, attempt }: { shard: number; attempt: number }): Span['args'] => ({ shard, attempt });
  const merges = shards.map((one) => ({ name: 'merge', from: one.answered, to: one.merged, args: label(one) }));
  const coordinator = [...process(0, 'coordinator', 0), ...row(0, 'job', 0, partsOf(trace))];
  const events = [...coordinator, ...row(0, 'merge', 1, merges)];
  for (const [node, name] of nodes.entries()) {
    const own = shards.filter((shard) => shard.node === node);
    const pid = node + 1;
    events.push(...process(pid, name, pid));
    events.push(
      ...row(
        pid,
        'leased',
        0,
        own.map((one) => ({ name: `shard ${one.shard}`, from: one.leased, to: one.answered, args: label(one) })),
      ),
    );
    for (const [at, stage] of rows.entries()) {
      const spans = own.flatMap((one) =>
        one.spans
          .filter((span) => span.stage === stage)
          .map(({ from, to }) => ({ name: stage, from: one.begun + from, to: one.begun + to, args: label(one) })),
      );
      events.push(...row(pid, stage, at + 1, spans));
    }
  }
  const otherData = { job: job?.jobId ?? '', trace: traceId, since: new Date(sinceMs).toISOString(), every };
  return { displayTimeUnit: 'ms', otherData, traceEvents: events };
}

/** The phases of the job, as far as they are known. */
function partsOf({ job, sinceMs }: TraceResponse): Span[] {
  const { leasedMs = 0, computedMs = 0 } = job?.times ?? {};
  const endMs = job && hasEnded(job) ? job.finishedMs : 0;
  const moments: [name: string, fromMs: number, toMs: number][] = [
    ['starting', job?.submittedMs ?? 0, leasedMs],
    ['computing', leasedMs, computedMs],
    ['writing', computedMs, endMs],
  ];
  const known = moments.filter(([, fromMs, toMs]) => fromMs > 0 && toMs >= fromMs);
  return known.map(([name, fromMs, toMs]) => {
    return { name, from: Math.max(0, fromMs - sinceMs) / 1000, to: Math.max(0, toMs - sinceMs) / 1000, args: {} };
  });
}

function process(pid: number, name: string, order: number): TraceEvent[] {
  return [
    { ph: 'M', name: 'process_name', pid, tid: 0, args: { name } },
    { ph: 'M', name: 'process_sort_index', pid, tid: 0, args: { sort_index: order } },
  ];
}

/** Rows of one name: as few as are needed so that no spans overlap on a row. */
function row(pid: number, name: string, place: number, spans: readonly Span[]): TraceEvent[] {
  const lanes: Span[][] = [];
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const lane = lanes.find((one) => one.at(-1)!.to <= span.from);
    if (lane) lane.push(span);
    else lanes.push([span]);
  }
  return lanes.flatMap((lane, i) => {
    const tid = place * 1000 + i;
    const named: TraceEvent = { ph: 'M', name: 'thread_name', pid, tid, args: { name } };
    const ordered: TraceEvent = { ph: 'M', name: 'thread_sort_index', pid, tid, args: { sort_index: tid } };
    return [named, ordered, ...lane.map((span): TraceEvent => toEvent(span, pid, tid))];
  });
}

function toEvent({ name, from, to, args }: Span, pid: number, tid: number): TraceEvent {
  const us = (seconds: number) => Math.round(seconds * 1e6);
  return { ph: 'X', name, pid, tid, ts: us(from), dur: us(to) - us(from), args };
}
