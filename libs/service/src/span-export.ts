import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { isTraced } from './trace-context.ts';
import { softwareVersion } from './version.ts';

/** A finished span for OpenTelemetry collectors. */
export interface FinishedSpan {
  name: string;
  /** 32 and 16 hexadecimal digits. */
  traceId: string;
  spanId: string;
  parentId?: string;
  /** Milliseconds since 1970. */
  fromMs: number;
  toMs: number;
  attributes: Record<string, string | number>;
  /** Why it failed. */
  error?: string;
}

/**
 * Collects spans and sends them in groups. Spans that a collector does not accept are dropped, and nothing waits for
 * them.
 */
export interface SpanExport {
  add(span: FinishedSpan): void;
  /** Sends the rest. Never rejects. */
  close(): Promise<void>;
}

/** At most this many spans wait to be sent: the spans of several thousand shards. */
const mostWaiting = 2 ** 15;
/** The longest wait at the end for a collector that does not answer. */
const closeWithinMs = 5_000;

/**
 * Sends spans over OTLP (HTTP), as the variables OTEL_EXPORTER_OTLP_… say. If none of them names an endpoint, the
 * result is undefined and OpenTelemetry is not loaded.
 */
export async function openSpanExport(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<SpanExport | undefined> {
  if (!isTraced(env)) return undefined;
  const [{ OTLPTraceExporter }, { BatchSpanProcessor }, { resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
  ]);
  const processor = new BatchSpanProcessor({ exporter: new OTLPTraceExporter(), maxQueueSize: mostWaiting });
  const resource = resourceFromAttributes({
    'service.name': env.OTEL_SERVICE_NAME || 'halogrid',
    'service.version': softwareVersion,
  });
  return {
    add: (span) => processor.onEnd(toReadable(span, resource)),
    async close() {
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(late.resolve, closeWithinMs);
      await Promise.race([processor.shutdown().catch(() => {}), late.promise]);
      clearTimeout(timer);
    },
  };
}

function toReadable(span: FinishedSpan, resource: ReadableSpan['resource']): ReadableSpan {
  const { name, traceId, spanId, parentId, fromMs, toMs, attributes, error } = span;
  // Flag 1: the trace is sampled.
  const context = { traceId, spanId, traceFlags: 1 };
  return {
    name,
    // SpanKind.INTERNAL; the status code is ERROR or UNSET.
    kind: 0,
    spanContext: () => context,
    ...(parentId !== undefined && { parentSpanContext: { ...context, spanId: parentId } }),
    startTime: toHrTime(fromMs),
    endTime: toHrTime(toMs),
    duration: toHrTime(toMs - fromMs),
    status: error === undefined ? { code: 0 } : { code: 2, message: error },
    attributes,
    links: [],
    events: [],
    ended: true,
    resource,
    instrumentationScope: { name: 'halogrid', version: softwareVersion },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** Seconds and nanoseconds. */
function toHrTime(ms: number): [number, number] {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}
