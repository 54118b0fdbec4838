import type { Registry } from 'prom-client';

interface Exemplar {
  labelSet: Record<string, string>;
  value: number;
  /** Seconds since 1970. */
  timestamp: number;
}
interface Sample {
  value: number;
  labels: Record<string, string | number>;
  metricName?: string;
  exemplar?: Exemplar | null;
}

/** The media type of OpenMetrics 1.0. */
export const openMetricsType = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

/**
 * All metrics in the format of OpenMetrics 1.0 (openmetrics.io), the only one with exemplars. prom-client can write it
 * too, but then removes `_total` from the names of counters for good, so that a registry cannot be written in both
 * formats.
 */
export async function openMetrics(registry: Pick<Registry, 'getMetricsAsJSON'>): Promise<string> {
  const lines: string[] = [];
  for (const { name, help, type, values } of await registry.getMetricsAsJSON()) {
    // prom-client declares the types as numbers, but they are words at run time.
    const word = String(type);
    const family = word === 'counter' ? name.replace(/_total$/, '') : name;
    lines.push(`# HELP ${family} ${escaped(help, specialInHelp)}`, `# TYPE ${family} ${word}`);
    for (const sample of values as Sample[]) lines.push(lineOf(name, sample));
  }
  return `${lines.join('\n')}\n# EOF\n`;
}

function lineOf(name: string, { metricName = name, labels, value, exemplar }: Sample): string {
  const line = `${metricName}${labelsOf(labels)} ${number(value)}`;
  if (!exemplar) return line;
  return `${line} # ${labelsOf(exemplar.labelSet) || '{}'} ${number(exemplar.value)} ${exemplar.timestamp}`;
}

function labelsOf(labels: Record<string, string | number>): string {
  let list = '';
  for (const label in labels) list += `${list ? ',' : '{'}${label}="${escaped(String(labels[label]), specialInLabel)}"`;
  return list && `${list}}`;
}

const specialInHelp = /[\\\n]/g;
const specialInLabel = /[\\\n"]/g;

function escaped(text: string, special: RegExp): string {
  return text.replace(special, (character) => (character === '\n' ? '\\n' : `\\${character}`));
}

function number(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}
