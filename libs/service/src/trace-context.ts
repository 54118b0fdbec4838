import { hash } from 'node:crypto';

/**
 * The trace of a job: 32 hexadecimal digits that follow from its id. So every process that knows the job knows its
 * trace, and a new coordinator of the job continues the same one.
 */
export const traceIdOf = (jobId: string): string => digest(jobId).slice(0, 32);

/** The span of a lease in the trace of its job, 16 hexadecimal digits; without a shard the span of the job itself. */
export const spanIdOf = (jobId: string, shard?: number, attempt?: number): string =>
  digest([jobId, shard ?? '', attempt ?? ''].join('/')).slice(0, 16);

/**
 * The id of a child span of a lease, by its ordinal, 1 to 255. It differs from the lease's span and from the other
 * children. No other process computes it, so it needs no digest: seven digests a shard would take a quarter of the time
 * that the spans of a job cost (profile of a coordinator).
 */
export const childSpanId = (leaseSpanId: string, ordinal: number): string => {
  const last = Number.parseInt(leaseSpanId.slice(-2), 16) ^ ordinal;
  return leaseSpanId.slice(0, -2) + last.toString(16).padStart(2, '0');
};

/** The trace and span of a lease as a W3C traceparent. `isSampled`: spans are collected. */
export const traceparentOf = (jobId: string, shard: number, attempt: number, isSampled: boolean): string =>
  `00-${traceIdOf(jobId)}-${spanIdOf(jobId, shard, attempt)}-${isSampled ? '01' : '00'}`;

/**
 * The exemplar labels of a histogram's bucket for the job that it last counted. Series have no such labels, because
 * there would be a series for each job. OpenMetrics allows 128 characters of names and values, so a long id is left
 * out.
 */
export function exemplarOf(jobId: string): Record<string, string> {
  return { trace_id: traceIdOf(jobId), ...(jobId.length <= 64 && { job_id: jobId }) };
}

/** Whether spans are collected: a variable of OpenTelemetry names an endpoint. */
export const isTraced = (env: Readonly<Record<string, string | undefined>> = process.env): boolean =>
  Boolean(env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT);

/**
 * A line of the log with the trace of its job, under OpenTelemetry's name for it; unchanged if the line names no job.
 */
export function traced(line: Record<string, unknown>): Record<string, unknown> {
  const { jobId } = line;
  return typeof jobId === 'string' ? { ...line, trace_id: traceIdOf(jobId) } : line;
}

const digest = (text: string): string => hash('sha256', text);
