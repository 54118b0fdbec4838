/** A series in an answer of Prometheus: its labels, and its samples as seconds and value. */
export interface Series {
  metric: Record<string, string>;
  samples: [number, number][];
}

export interface Rule {
  name: string;
  type: 'alerting' | 'recording';
  query: string;
  health: string;
  lastError?: string;
  /** The state of an alert: inactive, pending or firing. */
  state?: string;
}

interface RawSeries {
  metric: Record<string, string>;
  value?: [number, string];
  values?: [number, string][];
}

/** Asks one Prometheus over HTTP. Every method rejects with Prometheus' own sentence if it refuses. */
export class PrometheusClient {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  /** The series of `expr` now, or at `time` in seconds since 1970, with one sample each. */
  async query(expr: string, time?: number): Promise<Series[]> {
    const at: Record<string, string> = time === undefined ? {} : { time: String(time) };
    const { result } = await this.#get<{ result: RawSeries[] }>('query', { query: expr, ...at });
    return result.map(toSeries);
  }

  /** The series of `expr` with a sample every `step` seconds between two times, in seconds since 1970. */
  async queryRange(expr: string, start: number, end: number, step = 1): Promise<Series[]> {
    const parameters = { query: expr, start: String(start), end: String(end), step: String(step) };
    const { result } = await this.#get<{ result: RawSeries[] }>('query_range', parameters);
    return result.map(toSeries);
  }

  /** Labels of the exemplars of an expression between two times, in seconds since 1970. */
  async exemplars(expr: string, start: number, end: number): Promise<Record<string, string>[]> {
    const parameters = { query: expr, start: String(start), end: String(end) };
    const series = await this.#get<{ exemplars: { labels: Record<string, string> }[] }[]>(
      'query_exemplars',
      parameters,
    );
    return series.flatMap(({ exemplars }) => exemplars.map(({ labels }) => labels));
  }

  async rules(): Promise<Rule[]> {
    const { groups } = await this.#get<{ groups: { rules: Rule[] }[] }>('rules', {});
    return groups.flatMap(({ rules }) => rules);
  }

  async #get<T>(path: string, parameters: Record<string, string>): Promise<T> {
    const response = await fetch(`${this.#url}/api/v1/${path}?${new URLSearchParams(parameters)}`);
    const body = (await response.json()) as { status: string; error?: string; data: T };
    if (body.status !== 'success') throw new Error(`${parameters.query ?? path}: ${body.error}`);
    return body.data;
  }
}

function toSeries({ metric, value, values }: RawSeries): Series {
  return { metric, samples: (values ?? [value!]).map(([seconds, text]) => [seconds, Number(text)]) };
}
