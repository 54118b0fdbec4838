import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { createCoordinatorConfig } from '../../apps/coordinator/src/config.ts';
import { defaultHttp } from '../../apps/gpu-node/src/config.ts';
import { render, template } from '../helm/chart.ts';
import { byName, type Folder, folders, type Manifest, parseManifests, printedBy } from './manifests.ts';
import { prometheusRule } from './prometheus-rule.ts';
import { typeErrors, whyInvalid } from './testing/schemas.ts';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;
const skip = hasKubectl ? false : 'kubectl is not installed (Debian package kubernetes-client)';
const printed = Object.fromEntries(
  folders.map((folder) => [folder, hasKubectl ? printedBy('kubectl', folder) : []]),
) as Record<Folder, Manifest[]>;
const all = Object.values(printed).flat();

interface Container {
  image: string;
  command?: string[];
  args: string[];
  env: { name: string; value: string }[];
  ports: { name: string; containerPort: number }[];
  securityContext: object;
  volumeMounts: { name: string; mountPath: string }[];
  resources: { limits: Record<string, string> };
  [probe: string]: unknown;
}
const podsOf = (manifests: Manifest[]) => manifests.filter(({ spec }) => spec?.template?.spec?.containers);
const containerOf = ({ spec }: Manifest): Container => spec.template.spec.containers[0];
const find = (folder: Folder, name: string): Manifest => byName(printed[folder])[name]!;
const coordinator = () => containerOf(find('sqlite', 'StatefulSet halogrid-coordinator'));
const gpuNode = () => containerOf(find('sqlite', 'Deployment halogrid-node-gpu'));
const option = ({ args }: Container, name: string): string => args[args.indexOf(name) + 1]!;

test('every manifest is what the API of its kind takes, and has no field that does not exist', { skip }, async () => {
  for (const manifest of all) assert.equal(await whyInvalid(manifest), undefined, manifest.metadata.name);
  assert.equal(typeErrors(all), '');
  const [first] = podsOf(all);
  const wrong = structuredClone(first!);
  wrong.spec.template.spec.containers[0].lifecyle = {};
  assert.match(typeErrors([wrong]), /lifecyle.* does not exist/);
  wrong.spec.replicas = 'two';
  assert.match((await whyInvalid(wrong))!, /replicas/);
});

test('overlays hold the same objects but for what makes them different', { skip }, () => {
  const named = (folder: Folder) => printed[folder].map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort();
  const base = [...named('base'), ...named('gpu-nodes')].sort();
  assert.deepEqual(named('sqlite'), base);
  assert.deepEqual(named('postgres'), base);
  assert.deepEqual(named('cpu'), base.map((name) => name.replace('-gpu', '-cpu')).sort());
  for (const folder of ['sqlite', 'postgres', 'buckets', 'cpu', 'monitoring', 'keda'] as const) {
    for (const { metadata } of printed[folder]) assert.equal(metadata.namespace, 'halogrid', metadata.name);
  }
});

test('pods have no privileges, write only to their volumes, and know nothing of the cluster', { skip }, () => {
  for (const pod of podsOf(all)) {
    const { spec } = pod.spec.template;
    const { name } = pod.metadata;
    assert.partialDeepStrictEqual(
      spec,
      {
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: {
          runAsNonRoot: true,
          runAsUser: 65532,
          fsGroup: 65532,
          seccompProfile: { type: 'RuntimeDefault' },
        },
      },
      name,
    );
    assert.deepEqual(
      containerOf(pod).securityContext,
      { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
      name,
    );
    const volumes = spec.volumes.map((volume: { name: string }) => volume.name);
    const claims = (pod.spec.volumeClaimTemplates ?? []).map(({ metadata }: Manifest) => metadata.name);
    const mounted = containerOf(pod).volumeMounts.map((mount) => mount.name);
    assert.deepEqual([...volumes, ...claims].sort(), mounted.sort(), name);
  }
});

test('images have the version of the program, and the names that Compose gives them', { skip }, () => {
  const { version } = JSON.parse(read('../../package.json'));
  const compose = parse(read('../docker/compose.yaml'), { merge: true }).services;
  for (const pod of podsOf(all)) {
    const service = pod.kind === 'StatefulSet' ? 'coordinator' : 'node';
    assert.equal(containerOf(pod).image, `${compose[service].image}:${version}`);
  }
  const chart = parse(read('../helm/halogrid/Chart.yaml'));
  assert.deepEqual([chart.version, chart.appVersion], [version, version]);
});

test('the arguments are options of the program, as in Compose but for what Kubernetes knows better', { skip }, () => {
  const program = fileURLToPath(new URL('../../apps/cli/src/main.ts', import.meta.url));
  const secure = parse(read('../docker/compose.secure.yaml')).services;
  const services = { coordinator: [coordinator()], node: podsOf(all).filter(({ kind }) => kind === 'Deployment') };
  const nodes = services.node.map(containerOf);
  for (const [name, containers] of Object.entries({ coordinator: services.coordinator, node: nodes })) {
    const help = execFileSync(process.execPath, [program, name, '--help'], { encoding: 'utf8' });
    for (const container of containers) {
      assert.equal(container.args[0], name);
      for (const word of container.args.filter((arg) => arg.startsWith('--'))) {
        assert.match(help, new RegExp(`${word}\\b`));
      }
      const { command } = secure[name];
      assert.equal(option(container, '--http'), command[command.indexOf('--http') + 1]);
    }
  }
  const { listen, http } = createCoordinatorConfig();
  assert.deepEqual(
    [coordinator().ports, gpuNode().ports].map((ports) =>
      ports.map(({ name, containerPort }) => [name, containerPort]),
    ),
    [
      [
        ['grpc', listen.port],
        ['http', http.port],
      ],
      [['http', defaultHttp.port]],
    ],
  );
  assert.deepEqual(
    [option(coordinator(), '--listen'), option(gpuNode(), '--coordinator')],
    [`0.0.0.0:${listen.port}`, `halogrid-coordinators:${listen.port}`],
  );
});

test('a node has one GPU and proves that, or none', { skip }, () => {
  const limits = (folder: Folder, name: string) => containerOf(find(folder, name)).resources.limits['nvidia.com/gpu'];
  assert.equal(limits('sqlite', 'Deployment halogrid-node-gpu'), '1');
  assert.equal(option(gpuNode(), '--gpu'), 'all');
  assert.equal(limits('cpu', 'Deployment halogrid-node-cpu'), undefined);
  assert.equal(option(containerOf(find('cpu', 'Deployment halogrid-node-cpu')), '--device'), 'cpu');
  assert.equal(limits('parts/run', 'Job halogrid-run'), '1');
});

test('coordinators have their ledger on a volume, or in the database that a secret names', { skip }, () => {
  const ledgers = (folder: Folder) =>
    containerOf(find(folder, 'StatefulSet halogrid-coordinator'))
      .env.slice(0, 2)
      .map(({ value }) => value);
  assert.deepEqual(ledgers('sqlite'), ['/ledger/ledger.sqlite', '']);
  assert.deepEqual(ledgers('postgres'), ['', '/run/secrets/ledger/url']);
  const claims = (folder: Folder) =>
    find(folder, 'StatefulSet halogrid-coordinator').spec.volumeClaimTemplates.map(
      ({ metadata }: Manifest) => metadata.name,
    );
  assert.deepEqual([claims('sqlite'), claims('postgres')], [['ledger', 'scratch'], ['scratch']]);
  assert.equal(find('postgres', 'StatefulSet halogrid-coordinator').spec.replicas, 2);
});

test('a coordinator keeps unfinished outputs of buckets on a volume', { skip }, () => {
  for (const folder of ['sqlite', 'postgres'] as const) {
    const { env, volumeMounts } = containerOf(find(folder, 'StatefulSet halogrid-coordinator'));
    const { value } = env.find(({ name }) => name === 'HALOGRID_SCRATCH')!;
    assert.equal(volumeMounts.find(({ name }) => name === 'scratch')!.mountPath, value);
  }
});

test('a cluster whose sources and outputs are in buckets shares no storage', { skip }, () => {
  const claims = printed.buckets.filter(({ kind }) => kind === 'PersistentVolumeClaim');
  assert.deepEqual(claims, []);
  const pods = podsOf(printed.buckets);
  assert.deepEqual(pods.map(({ kind }) => kind).sort(), ['Deployment', 'StatefulSet']);
  for (const pod of pods) {
    const names = ({ name }: { name: string }) => name;
    assert.ok(!containerOf(pod).volumeMounts.map(names).includes('data'), pod.metadata.name);
    assert.ok(!pod.spec.template.spec.volumes.map(names).includes('data'), pod.metadata.name);
    assert.ok(!JSON.stringify(pod).includes('ReadWriteMany'));
  }
  assert.equal(find('buckets', 'ConfigMap halogrid-settings').data.HALOGRID_STORAGE, 'remote');
});

/** The files of the secret halogrid-tls that a pod's settings name; it has no others. */
const tls = {
  scheme: 'HTTPS',
  cert: '/run/secrets/tls/tls.crt',
  key: '/run/secrets/tls/tls.key',
  ca: '/run/secrets/tls/ca.crt',
};

test('with TLS the coordinator has the key, nodes the authority alone, and probes ask by HTTPS', { skip }, () => {
  const settings = (name: string) =>
    Object.fromEntries(containerOf(find('tls', name)).env.map((each) => [each.name, each.value]));
  const leader = find('tls', 'StatefulSet halogrid-coordinator');
  const node = find('tls', 'Deployment halogrid-node-gpu');
  assert.partialDeepStrictEqual(settings('StatefulSet halogrid-coordinator'), {
    HALOGRID_TLS_CERT: tls.cert,
    HALOGRID_TLS_KEY: tls.key,
  });
  assert.equal(settings('Deployment halogrid-node-gpu').HALOGRID_TLS_CA, tls.ca);
  const secret = ({ spec }: Manifest) =>
    spec.template.spec.volumes.find(({ name }: { name: string }) => name === 'tls').secret;
  assert.deepEqual(secret(node).items, [{ key: 'ca.crt', path: 'ca.crt' }]);
  assert.equal(secret(leader).items, undefined);
  for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
    const schemes = [leader, node].map(
      (pod) => (containerOf(pod)[probe] as { httpGet: { scheme?: string } }).httpGet.scheme,
    );
    assert.deepEqual(schemes, ['HTTPS', undefined], 'a node without a certificate serves HTTP');
  }
  const without = byName(printed.sqlite);
  for (const [name, manifest] of Object.entries(byName(printed.tls))) {
    if (![leader, node].includes(manifest)) assert.deepEqual(manifest, without[name]);
  }
});

test('probes ask a port of their pod, without a token', { skip }, () => {
  for (const pod of podsOf(all).filter(({ kind }) => kind !== 'Job')) {
    const { startupProbe, livenessProbe, readinessProbe } = containerOf(pod);
    const asked = [startupProbe, livenessProbe, readinessProbe].map((probe) => {
      const { path, port } = (probe as { httpGet: { path: string; port: string } }).httpGet;
      return { path, port };
    });
    assert.deepEqual(
      asked,
      ['/healthz', '/healthz', '/readyz'].map((path) => ({ path, port: 'http' })),
    );
  }
});

test('each process gets only its own token, by a secret that make-secrets.sh fills', { skip }, () => {
  const made = read('../docker/make-secrets.sh');
  assert.match(made, /for role in submit node read; do/);
  const keys = (container: Manifest) =>
    container.spec.template.spec.volumes
      .filter(({ name }: { name: string }) => name === 'secrets')
      .flatMap(({ secret }: { secret: { items: { key: string }[] } }) => secret.items)
      .map(({ key }: { key: string }) => key);
  assert.deepEqual(keys(find('sqlite', 'StatefulSet halogrid-coordinator')), ['tokens', 'submit-token']);
  assert.deepEqual(keys(find('sqlite', 'Deployment halogrid-node-gpu')), ['tokens', 'node-token']);
  for (const container of [coordinator(), gpuNode()]) {
    const { mountPath } = container.volumeMounts.find(({ name }) => name === 'secrets')!;
    const [, file] = keys(podsOf(all).find((pod) => containerOf(pod).image === container.image)!);
    const { value } = container.env.find(({ name }) => name === 'HALOGRID_TOKEN_FILE')!;
    assert.deepEqual([value, option(container, '--tokens')], [`${mountPath}/${file}`, `${mountPath}/tokens`]);
  }
});

test('a node that is stopped has more time than it takes', { skip }, () => {
  for (const folder of ['sqlite', 'cpu'] as const) {
    for (const pod of podsOf(printed[folder]).filter(({ kind }) => kind === 'Deployment')) {
      const drains = Number.parseInt(option(containerOf(pod), '--drain-timeout'), 10);
      assert.ok(pod.spec.template.spec.terminationGracePeriodSeconds >= drains + 10, `${drains} s`);
    }
  }
});

test('services, budgets and network rules select pods, and name ports that these have', { skip }, () => {
  const overlays = ['sqlite', 'postgres', 'cpu'] as const;
  for (const folder of overlays) {
    const pods = podsOf(printed[folder]);
    const select = (labels: Record<string, string>) =>
      pods.filter(({ spec }) =>
        Object.entries(labels).every(([key, value]) => spec.template.metadata.labels[key] === value),
      );
    for (const { kind, metadata, spec } of printed[folder]) {
      const labels = { Service: spec?.selector, PodDisruptionBudget: spec?.selector?.matchLabels }[kind];
      const selected = select(labels ?? spec?.podSelector?.matchLabels ?? {});
      if (labels || spec?.podSelector) assert.equal(selected.length, 1, `${kind} ${metadata.name}`);
      const ports = new Set(selected.flatMap((pod) => containerOf(pod).ports.map(({ name }) => name)));
      const named: string[] = [
        ...(kind === 'Service' ? spec.ports.map(({ targetPort }: { targetPort: string }) => targetPort) : []),
        ...(kind === 'NetworkPolicy'
          ? spec.ingress.flatMap((rule: { ports: { port: string }[] }) => rule.ports.map(({ port }) => port))
          : []),
      ];
      for (const port of named) assert.ok(ports.has(port), `${kind} ${metadata.name}: ${port}`);
    }
  }
  for (const { spec } of printed.monitoring.filter(({ kind }) => kind === 'PodMonitor')) {
    const pods = podsOf(printed.sqlite).filter(
      (pod) =>
        pod.spec.template.metadata.labels['app.kubernetes.io/name'] ===
        spec.selector.matchLabels['app.kubernetes.io/name'],
    );
    assert.deepEqual(
      pods.map((pod) => containerOf(pod).ports.some(({ name }) => name === spec.podMetricsEndpoints[0].port)),
      [true],
    );
  }
});

test('series get the job and the cluster that alerts go by', { skip }, () => {
  const jobs = printed.monitoring
    .filter(({ kind }) => kind === 'PodMonitor')
    .map(({ spec }) => {
      const { relabelings, authorization } = spec.podMetricsEndpoints[0];
      assert.deepEqual(authorization.credentials, { name: 'halogrid', key: 'read-token' });
      assert.partialDeepStrictEqual(relabelings, [
        { sourceLabels: ['__meta_kubernetes_namespace'], targetLabel: 'cluster' },
        { sourceLabels: ['__meta_kubernetes_pod_label_app_kubernetes_io_name'], targetLabel: 'job' },
      ]);
      return spec.selector.matchLabels['app.kubernetes.io/name'];
    });
  const scraped = parse(read('../prometheus/prometheus.yml')).scrape_configs;
  assert.deepEqual(jobs, scraped.map(({ job_name }: { job_name: string }) => job_name).slice(0, 2));
});

test('boards and rules are the files of Grafana and Prometheus', { skip }, () => {
  const files = (name: string) => Object.entries<string>(find('monitoring', `ConfigMap ${name}`).data);
  for (const [file, text] of files('halogrid-boards')) assert.equal(text, read(`../grafana/dashboards/${file}`));
  for (const [file, text] of files('halogrid-rules')) assert.equal(text, read(`../prometheus/${file}`));
  const { boards } = { boards: parse(read('../grafana/kustomization.yaml')).configMapGenerator[0].files };
  assert.equal(boards.length, files('halogrid-boards').length);
  const { metadata, ...rule } = find('monitoring', 'PrometheusRule halogrid');
  const { metadata: made, ...expected } = prometheusRule();
  assert.deepEqual(rule, expected, 'out of date: npm run generate -w @halogrid/deploy');
  assert.equal(metadata.name, made.name);
});

test("the chart's templates are up to date, and give the same objects with its values", { skip }, () => {
  const values = parse(read('../helm/halogrid/values.yaml'));
  values.cpuNodes.replicas = 1;
  for (const folder of ['base', 'gpu-nodes', 'cpu-nodes'] as const) {
    const text = read(`../helm/halogrid/templates/${folder}.yaml`);
    const [, ...lines] = text.split('\n');
    assert.equal(lines.join('\n'), template(printed[folder]), 'out of date: npm run generate -w @halogrid/deploy');
    assert.deepEqual(byName(parseManifests(render(text, values))), byName(printed[folder]));
    assert.doesNotMatch(render(text, values), /\{\{/);
  }
  // With TLS they equal the overlay, which puts variables that it changes first.
  const rendered = (['base', 'gpu-nodes'] as const).flatMap((folder) =>
    parseManifests(render(read(`../helm/halogrid/templates/${folder}.yaml`), { ...values, tls })),
  );
  const inNamespace = rendered.map((each) => ({ ...each, metadata: { ...each.metadata, namespace: 'halogrid' } }));
  const inOrder = (manifests: Manifest[]) => {
    const copies = structuredClone(manifests);
    for (const pod of podsOf(copies)) containerOf(pod).env.sort((a, b) => a.name.localeCompare(b.name));
    return byName(copies);
  };
  assert.deepEqual(inOrder(inNamespace), inOrder(printed.tls));
});
