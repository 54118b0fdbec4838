/** A series as Prometheus answers it: labels, and its samples as seconds and value. */
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

/** Asks one Prometheus over HTTP. Every method rejects with Prometheus' own sentence where it refuses. */
export class PrometheusClient {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  /** The series of `expr` now, with one sample each. */
  async query(expr: string): Promise<Series[]> {
    const { result } = await this.#get<{ result: RawSeries[] }>('query', { query: expr });
    return result.map(toSeries);
  }

  /** The series of `expr` with a sample a second between two times, in seconds since 1970. */
  async queryRange(expr: string, start: number, end: number): Promise<Series[]> {
    const parameters = { query: expr, start: String(start), end: String(end), step: '1' };
    const { result } = await this.#get<{ result: RawSeries[] }>('query_range', parameters);
    return result.map(toSeries);
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
