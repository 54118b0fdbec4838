import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { createCoordinatorConfig } from '../../apps/coordinator/src/config.ts';
import { defaultHttp } from '../../apps/gpu-node/src/config.ts';

interface Service {
  image: string;
  build?: { context: string; dockerfile: string };
  command: string[];
  networks: string[];
  volumes: string[];
  ports?: string[];
  user?: string;
  read_only?: boolean;
  cap_drop?: string[];
  deploy?: { replicas?: number; resources?: { reservations: { devices: object[] } } };
}

const load = (path: string) => parse(readFileSync(new URL(path, import.meta.url), 'utf8'), { merge: true });
const compose = load('compose.yaml');
const gpu = load('compose.gpu.yaml');
const services: Record<string, Service> = compose.services;
const { coordinator, node, prometheus, grafana } = services as Record<string, Service>;
const scrapes = load('../prometheus/prometheus.yml');
const datasource = load('../grafana/provisioning/datasources/prometheus.yaml').datasources[0];
const provider = load('../grafana/provisioning/dashboards/halogrid.yaml').providers[0];

test('every process of ours sees the data under the same path', () => {
  for (const service of [coordinator, node]) assert.deepEqual(service!.volumes, ['$' + '{HALOGRID_DATA:-data}:/data']);
});

test('our processes have no privileges', () => {
  for (const service of [coordinator, node]) {
    assert.equal(service!.user, '$' + '{HALOGRID_USER:-65532:65532}');
    assert.equal(service!.read_only, true);
    assert.deepEqual(service!.cap_drop, ['ALL']);
  }
});

test('the cluster is not reachable from outside, and only this machine sees Prometheus and Grafana', () => {
  assert.equal(compose.networks.cluster.internal, true);
  for (const service of [coordinator, node]) {
    assert.deepEqual(service!.networks, ['cluster']);
    assert.equal(service!.ports, undefined);
  }
  for (const service of [prometheus, grafana]) for (const port of service!.ports!) assert.match(port, /^127\.0\.0\.1:/);
});

test('every image has a version', () => {
  for (const [name, { image, build }] of Object.entries(services)) {
    if (build) assert.ok(existsSync(new URL(`${build.context}/${build.dockerfile}`, import.meta.url)), name);
    else assert.match(image, /:v?\d+\.\d+\.\d+$/, name);
  }
});

test('every folder that is mounted exists', () => {
  for (const { volumes } of Object.values(services)) {
    for (const volume of volumes) {
      const [from] = volume.split(':');
      if (from!.startsWith('.')) assert.ok(existsSync(new URL(from!, import.meta.url)), volume);
    }
  }
});

test('Prometheus scrapes the coordinator and every node, under the names the alerts use', () => {
  const scrape = (job: string) => scrapes.scrape_configs.find(({ job_name }: { job_name: string }) => job_name === job);
  const targets = [`coordinator:${port(coordinator!, '--http')}`];
  assert.deepEqual(scrape('halogrid-coordinator').static_configs, [{ targets }]);
  const [discovery] = scrape('halogrid-node').dns_sd_configs;
  assert.deepEqual([discovery.names, discovery.port], [['node'], port(node!, '--http')]);
});

test('the commands of the containers are commands of the program, with its own ports', () => {
  for (const { command } of [coordinator!, node!, gpu.services.node]) {
    const program = fileURLToPath(new URL('../../apps/cli/src/main.ts', import.meta.url));
    const help = execFileSync(process.execPath, [program, command[0]!, '--help'], { encoding: 'utf8' });
    for (const word of command.filter((word: string) => word.startsWith('--')))
      assert.match(help, new RegExp(`${word}\\b`));
  }
  const config = createCoordinatorConfig({
    listen: option(coordinator!, '--listen'),
    http: option(coordinator!, '--http'),
    insecureNetwork: coordinator!.command.includes('--insecure-network'),
  });
  const defaults = createCoordinatorConfig();
  assert.deepEqual([config.listen.port, config.http.port], [defaults.listen.port, defaults.http.port]);
  assert.equal(port(node!, '--http'), defaultHttp.port);
});

test('nodes dial the coordinator where it listens', () => {
  for (const service of [node!, gpu.services.node]) {
    assert.equal(option(service, '--coordinator'), `coordinator:${port(coordinator!, '--listen')}`);
    assert.equal(port(service, '--http'), port(node!, '--http'));
  }
});

test('Grafana reads the Prometheus beside it and derives its intervals from the scrape interval', () => {
  assert.equal(datasource.url, `http://prometheus:${prometheus!.ports![0]!.split(':').at(-1)}`);
  assert.equal(datasource.jsonData.timeInterval, scrapes.global.scrape_interval);
  assert.ok(grafana!.volumes.some((volume) => volume.split(':')[1] === provider.options.path));
});

test('with a GPU there is one node, because replicas would share the card', () => {
  assert.equal(node!.deploy!.replicas, 2);
  const { deploy, command } = gpu.services.node as Service;
  assert.equal(deploy!.replicas, 1);
  assert.deepEqual(deploy!.resources!.reservations.devices, [{ driver: 'nvidia', count: 1, capabilities: ['gpu'] }]);
  assert.equal(option({ command } as Service, '--device'), 'gpu');
});

function option({ command }: Service, name: string): string {
  const value = command[command.indexOf(name) + 1];
  assert.ok(command.includes(name) && value, `${name} is not in ${command.join(' ')}`);
  return value;
}

function port(service: Service, name: string): number {
  return Number(option(service, name).split(':')[1]);
}
