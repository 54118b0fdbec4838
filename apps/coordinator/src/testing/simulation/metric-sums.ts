import type { Metrics } from '../../dispatch/work-metrics.ts';

/** The sums of a coordinator's metrics over all labels. */
export interface MetricSums {
  committed: number;
  quarantined: number;
  leases: number;
  mismatches: number;
  wrongAnswers: number;
  setAside: number;
  lacksFound: number;
  copies: number;
}

export async function sumMetrics(metrics: Metrics): Promise<MetricSums> {
  const sum = async (
    metric: { get(): Promise<{ values: { value: number; labels: object }[] }> },
    labels: Record<string, string> = {},
  ): Promise<number> => {
    const { values } = await metric.get();
    const meant = values.filter((value) => Object.entries(labels).every(([k, v]) => Object(value.labels)[k] === v));
    return meant.reduce((total, { value }) => total + value, 0);
  };
  return {
    committed: await sum(metrics.shardsFinished, { outcome: 'ok' }),
    quarantined: await sum(metrics.shardsFinished, { outcome: 'quarantined' }),
    leases: await sum(metrics.shardAttempts),
    mismatches: await sum(metrics.mismatches),
    wrongAnswers: await sum(metrics.wrongAnswers),
    setAside: await sum(metrics.nodesSetAside),
    lacksFound: await sum(metrics.lacksFound),
    copies: await sum(metrics.shardAttempts, { reason: 'straggler' }),
  };
}
