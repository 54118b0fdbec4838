import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { printedBy } from '../kubernetes/manifests.ts';
import { prometheusRule } from '../kubernetes/prometheus-rule.ts';
import { template } from './chart.ts';

// Writes the rules of the Prometheus operator and the templates of the chart. Tests fail if they are outdated.
const write = (path: string, text: string) =>
  writeFileSync(new URL(path, import.meta.url), `# Made by: npm run generate -w @halogrid/deploy\n${text}`);
write('../kubernetes/monitoring/prometheus-rule.yaml', stringify(prometheusRule(), { lineWidth: 0 }));
for (const folder of ['base', 'gpu-nodes', 'cpu-nodes'] as const) {
  write(`halogrid/templates/${folder}.yaml`, template(printedBy('kubectl', folder)));
}
