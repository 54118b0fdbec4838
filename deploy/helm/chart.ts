import { stringify } from 'yaml';
import type { Manifest } from '../kubernetes/manifests.ts';

/** A value of the chart, and the field that it sets. */
interface Replacement {
  value: string;
  /** `Kind name`, then the path to the field. */
  object: string;
  path: readonly (string | number)[];
}

const podOf = (object: string, name: string): Replacement[] => {
  const at = (value: string, ...path: (string | number)[]) => ({ value: `${name}.${value}`, object, path });
  const container = ['spec', 'template', 'spec', 'containers', 0] as const;
  return [
    at('replicas', 'spec', 'replicas'),
    at('graceSeconds', 'spec', 'template', 'spec', 'terminationGracePeriodSeconds'),
    at('image', ...container, 'image'),
    at('cpu', ...container, 'resources', 'requests', 'cpu'),
    at('memory', ...container, 'resources', 'requests', 'memory'),
    at('memoryLimit', ...container, 'resources', 'limits', 'memory'),
  ];
};
const coordinator = 'StatefulSet halogrid-coordinator';
const setting = (object: string, value: string, index: number): Replacement => ({
  value,
  object,
  path: ['spec', 'template', 'spec', 'containers', 0, 'env', index, 'value'],
});
const probeScheme = (probe: string): Replacement => ({
  value: 'tls.scheme',
  object: coordinator,
  path: ['spec', 'template', 'spec', 'containers', 0, probe, 'httpGet', 'scheme'],
});
const claim = (value: string, index: number): Replacement => ({
  value: `coordinator.${value}`,
  object: coordinator,
  path: ['spec', 'volumeClaimTemplates', index, 'spec', 'resources', 'requests', 'storage'],
});

const replacements: readonly Replacement[] = [
  ...podOf(coordinator, 'coordinator'),
  setting(coordinator, 'coordinator.ledger', 0),
  setting(coordinator, 'coordinator.ledgerFile', 1),
  setting(coordinator, 'tls.cert', 3),
  setting(coordinator, 'tls.key', 4),
  ...['startupProbe', 'livenessProbe', 'readinessProbe'].map(probeScheme),
  claim('ledgerSize', 0),
  claim('scratchSize', 1),
  ...podOf('Deployment halogrid-node-gpu', 'gpuNodes'),
  ...podOf('Deployment halogrid-node-cpu', 'cpuNodes'),
  ...['gpu', 'cpu'].map((kind) => setting(`Deployment halogrid-node-${kind}`, 'tls.ca', 0)),
  {
    value: 'data.size',
    object: 'PersistentVolumeClaim halogrid-data',
    path: ['spec', 'resources', 'requests', 'storage'],
  },
  ...['HALOGRID_DATA_ROOT', 'HALOGRID_ALLOW_HOST', 'HALOGRID_LOG_LEVEL'].map((name) => ({
    value: `settings.${name}`,
    object: 'ConfigMap halogrid-settings',
    path: ['data', name],
  })),
];

/** The template of the manifests: their text, with a value of the chart in place of each field that one sets. */
export function template(manifests: readonly Manifest[]): string {
  const texts = manifests.map((manifest) => {
    const copy = structuredClone(manifest);
    for (const { value, path } of replacements.filter(({ object }) => object === nameOf(manifest))) {
      const { parent, key } = find(copy, path);
      parent[key] = `<${typeof parent[key]}:${value}>`;
    }
    return stringify(copy, { lineWidth: 0 });
  });
  return texts
    .join('---\n')
    .replaceAll(/<number:([\w.]+)>/g, '{{ .Values.$1 }}')
    .replaceAll(/<string:([\w.]+)>/g, '"{{ .Values.$1 }}"');
}

/** A template with values, as Helm renders it. There are no other actions in our templates. */
export function render(text: string, values: object): string {
  return text.replaceAll(/\{\{ \.Values\.([\w.]+) \}\}/g, (_, value: string) => {
    const { parent, key } = find(values, value.split('.'));
    return String(parent[key]);
  });
}

const nameOf = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.name}`;

/** The object or list that holds the last step of a path. Throws if the path leads nowhere. */
function find(root: object, path: readonly (string | number)[]): { parent: Record<string, unknown>; key: string } {
  const steps = path.map(String);
  const key = steps.pop()!;
  const parent = steps.reduce<unknown>((at, step) => (at as Record<string, unknown>)?.[step], root);
  if (parent === null || typeof parent !== 'object' || !(key in parent)) {
    throw new Error(`There is no ${path.join('.')}`);
  }
  return { parent: parent as Record<string, unknown>, key };
}
