import type { Series } from '../client.ts';

/** A time in which an alert fires, in seconds since 1970. */
export interface Firing {
  labels: Record<string, string>;
  from: number;
  to: number;
}

/**
 * When an alert fires, given the series of its expression, evaluated every `step` seconds. As in Prometheus, it fires
 * once a series existed at every evaluation for `forSeconds`, until the series ends.
 */
export function firings(series: Series[], forSeconds: number, step: number): Firing[] {
  return series.flatMap(({ metric: labels, samples }) => {
    const found: Firing[] = [];
    let since = 0;
    let last = Number.NEGATIVE_INFINITY;
    for (const [seconds] of samples) {
      if (seconds - last > step) since = seconds;
      last = seconds;
      if (seconds - since < forSeconds) continue;
      const current = found.at(-1);
      if (current && current.from === since + forSeconds) current.to = seconds;
      else found.push({ labels, from: since + forSeconds, to: seconds });
    }
    return found;
  });
}
