import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Manifest } from './manifests.ts';

/** The rules of deploy/prometheus, as Prometheus' operator takes them. */
export function prometheusRule(): Manifest {
  const files = ['recording.rules.yml', 'alerts.rules.yml'];
  const groups = files.flatMap((file) => {
    const text = readFileSync(new URL(`../prometheus/${file}`, import.meta.url), 'utf8');
    return (parse(text) as { groups: object[] }).groups;
  });
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'halogrid', labels: { 'app.kubernetes.io/part-of': 'halogrid' } },
    spec: { groups },
  };
}
