import { hash } from 'node:crypto';

/**
 * The trace of a job, 32 hexadecimal digits that follow from its id: every process that knows the job knows its trace,
 * and a coordinator that goes on with it goes on with the same one.
 */
export const traceIdOf = (jobId: string): string => digest(jobId).slice(0, 32);

/** The span of a lease in the trace of its job, 16 hexadecimal digits; without a shard that of the job itself. */
export const spanIdOf = (jobId: string, shard?: number, attempt?: number): string =>
  digest([jobId, shard ?? '', attempt ?? ''].join('/')).slice(0, 16);

/**
 * A span of a lease's own, the `ordinal`th, 1 to 255: none has the lease's id or that of another ordinal. Nobody else
 * names it, so it needs no digest, of which a shard would take seven: a quarter of what the spans of a job cost
 * (profile of a coordinator).
 */
export const childSpanId = (leaseSpanId: string, ordinal: number): string => {
  const last = Number.parseInt(leaseSpanId.slice(-2), 16) ^ ordinal;
  return leaseSpanId.slice(0, -2) + last.toString(16).padStart(2, '0');
};

/** What a lease has of them, as W3C Trace Context words it. `isSampled`: somebody collects spans. */
export const traceparentOf = (jobId: string, shard: number, attempt: number, isSampled: boolean): string =>
  `00-${traceIdOf(jobId)}-${spanIdOf(jobId, shard, attempt)}-${isSampled ? '01' : '00'}`;

/**
 * What a bucket of a histogram has of the job that was last counted in it. No series has such labels, which would be
 * one for each job. OpenMetrics allows 128 characters of names and values: an id that is too long for them stays out.
 */
export function exemplarOf(jobId: string): Record<string, string> {
  return { trace_id: traceIdOf(jobId), ...(jobId.length <= 64 && { job_id: jobId }) };
}

/** Whether somebody collects spans, by the variables of OpenTelemetry that say where. */
export const isTraced = (env: Readonly<Record<string, string | undefined>> = process.env): boolean =>
  Boolean(env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT);

/**
 * What a line of the log says, with the trace of its job as OpenTelemetry names it in logs; as it is where it names no
 * job.
 */
export function traced(line: Record<string, unknown>): Record<string, unknown> {
  const { jobId } = line;
  return typeof jobId === 'string' ? { ...line, trace_id: traceIdOf(jobId) } : line;
}

const digest = (text: string): string => hash('sha256', text);
