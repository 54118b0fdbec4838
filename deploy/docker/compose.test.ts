import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { secretFolder } from '@halogrid/service/testing';
import { parse } from 'yaml';
import { createCoordinatorConfig } from '../../apps/coordinator/src/config.ts';
import { defaultHttp } from '../../apps/gpu-node/src/config.ts';
import { findToken, parseTokens } from '../../libs/service/src/security/tokens.ts';

interface Service {
  image: string;
  build?: { context: string; dockerfile: string; args: Record<string, string> };
  command: string[];
  networks: string[];
  volumes: string[];
  ports?: string[];
  user?: string;
  read_only?: boolean;
  cap_drop?: string[];
  deploy?: { replicas?: number; resources?: { reservations: { devices: object[] } } };
}

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const load = (path: string) => parse(read(path), { merge: true });
const compose = load('compose.yaml');
const gpu = load('compose.gpu.yaml');
const twoGpus = load('compose.two-gpus.yaml');
const secure = load('compose.secure.yaml');
const two = load('compose.two-coordinators.yaml');
const withGpus: Service[] = [gpu.services.node, ...Object.values<Service>(twoGpus.services)];
const dialOne: Service[] = [compose.services.node, secure.services.node, ...withGpus];
const nodes: Service[] = [...dialOne, two.services.node];
const coordinators: Service[] = [compose.services.coordinator, secure.services.coordinator];
const services: Record<string, Service> = compose.services;
const { coordinator, node, prometheus, grafana } = services as Record<string, Service>;
const scrapes = load('../prometheus/prometheus.yml');
const datasource = load('../grafana/provisioning/datasources/prometheus.yaml').datasources[0];
const provider = load('../grafana/provisioning/dashboards/halogrid.yaml').providers[0];

test('all processes of halogrid see the data under the same path', () => {
  const data = '$' + '{HALOGRID_DATA:-data}:/data';
  assert.deepEqual(node!.volumes, [data]);
  assert.deepEqual(coordinator!.volumes, [data, 'ledger:/ledger']);
});

test('processes of halogrid have no privileges', () => {
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

test('images have no FFmpeg unless that is asked for', () => {
  const asked = '$' + '{HALOGRID_FFMPEG:-no}';
  for (const { build } of [coordinator!, node!]) assert.deepEqual(build!.args, { FFMPEG: asked });
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
  const labels = { cluster: 'halogrid' };
  assert.deepEqual(scrape('halogrid-coordinator').static_configs, [{ targets, labels }]);
  const [discovery] = scrape('halogrid-node').dns_sd_configs;
  assert.deepEqual([discovery.names, discovery.port], [['node'], port(node!, '--http')]);
  const [{ regex, target_label, replacement }] = scrape('halogrid-node').relabel_configs;
  assert.deepEqual([regex, target_label, replacement], ['node', 'cluster', labels.cluster]);
});

test('the commands of the containers are commands of the program, with its own ports', () => {
  const program = fileURLToPath(new URL('../../apps/cli/src/main.ts', import.meta.url));
  for (const group of [coordinators, nodes]) {
    const name = group[0]!.command[0]!;
    const help = execFileSync(process.execPath, [program, name, '--help'], { encoding: 'utf8' });
    for (const { command } of group) {
      assert.equal(command[0], name);
      for (const flag of command.filter((word) => word.startsWith('--'))) assert.match(help, new RegExp(`${flag}\\b`));
    }
  }
  const config = createCoordinatorConfig({
    listen: option(coordinator!, '--listen'),
    http: option(coordinator!, '--http'),
    insecureNetwork: coordinator!.command.includes('--insecure-network'),
    // Any folder, because the real ones exist only in the container.
    data: { dataRoot: ['/'] },
  });
  const defaults = createCoordinatorConfig();
  assert.deepEqual([config.listen.port, config.http.port], [defaults.listen.port, defaults.http.port]);
  assert.equal(port(node!, '--http'), defaultHttp.port);
});

test('nodes dial the coordinator where it listens', () => {
  for (const service of dialOne) {
    assert.equal(option(service, '--coordinator'), `coordinator:${port(coordinator!, '--listen')}`);
    assert.equal(port(service, '--http'), port(node!, '--http'));
  }
});

test('Grafana reads the Prometheus beside it and derives its intervals from the scrape interval', () => {
  assert.equal(datasource.url, `http://prometheus:${prometheus!.ports![0]!.split(':').at(-1)}`);
  assert.equal(datasource.jsonData.timeInterval, scrapes.global.scrape_interval);
  assert.ok(grafana!.volumes.some((volume) => volume.split(':')[1] === provider.options.path));
});

test('jobs are kept to the data and the samples everywhere', () => {
  for (const { command } of [...coordinators, ...nodes]) {
    const roots = command.filter((_, index) => command[index - 1] === '--data-root');
    assert.deepEqual(roots, ['/data', '/app/samples']);
  }
});

test('with tokens no process needs --insecure-network, and each has only its own token', (t) => {
  const folder = secretFolder(t);
  execFileSync('bash', [fileURLToPath(new URL('make-secrets.sh', import.meta.url)), folder]);
  const tokens = parseTokens(readFileSync(join(folder, 'tokens'), 'utf8'), 'tokens');
  for (const [service, roles] of Object.entries({ coordinator: ['submit'], node: ['node'], prometheus: ['read'] })) {
    const { command, secrets, environment } = secure.services[service];
    assert.ok(!command.includes('--insecure-network'));
    assert.deepEqual(
      secrets.filter((name: string) => name !== 'tokens'),
      roles.map((role) => `${role}-token`),
    );
    for (const name of secrets) assert.ok(existsSync(join(folder, basename(secure.secrets[name].file))), name);
    for (const role of roles) {
      const token = readFileSync(join(folder, `${role}-token`), 'utf8').trim();
      assert.equal(findToken(tokens, token)?.role, role);
      if (environment) assert.equal(environment.HALOGRID_TOKEN_FILE, `/run/secrets/${role}-token`);
    }
    if (service !== 'prometheus') assert.equal(option(secure.services[service], '--tokens'), '/run/secrets/tokens');
  }
  for (const name of Object.keys(secure.secrets)) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600);
});

test('Prometheus scrapes a cluster with tokens like one without, and sends its token', () => {
  const authorization = { credentials_file: '/run/secrets/read-token' };
  const expected = structuredClone(scrapes);
  for (const scrape of expected.scrape_configs) {
    if (scrape.job_name.startsWith('halogrid-')) scrape.authorization = authorization;
  }
  assert.deepEqual(load('../prometheus/prometheus.secure.yml'), expected);
  const config = '--config.file=/etc/prometheus/prometheus.secure.yml';
  assert.deepEqual(
    secure.services.prometheus.command,
    prometheus!.command.map((word) => (word.startsWith('--config.file=') ? config : word)),
  );
});

test('Prometheus scrapes nodes that a coordinator names as it does in Compose', () => {
  const expected = load('../prometheus/prometheus.secure.yml');
  const { authorization, ...node } = expected.scrape_configs[1];
  const [coordinatorAt] = expected.scrape_configs[0].static_configs[0].targets;
  const [{ target_label, replacement }] = node.relabel_configs;
  expected.scrape_configs[1] = {
    job_name: node.job_name,
    authorization,
    http_sd_configs: [{ url: `http://${coordinatorAt}/api/v1/targets`, authorization, refresh_interval: '15s' }],
    relabel_configs: [{ target_label, replacement }],
  };
  assert.deepEqual(load('../prometheus/prometheus.machines.yml'), expected);
});

test('Prometheus of one machine scrapes its cluster as on several machines, without tokens', () => {
  const text = read('../prometheus/prometheus.machines.yml');
  const expected = parse(text.replaceAll('//coordinator:', '//localhost:').replaceAll('[coordinator:', '[localhost:'));
  for (const scrape of expected.scrape_configs) {
    delete scrape.authorization;
    for (const found of scrape.http_sd_configs ?? []) delete found.authorization;
  }
  assert.deepEqual(load('../prometheus/prometheus.one-machine.yml'), expected);
});

test('two coordinators lead by the same PostgreSQL, which only they can reach, and nodes dial both', () => {
  const { postgres, coordinator: first, 'coordinator-b': second, node: both } = two.services;
  const url = new URL(first.environment.HALOGRID_LEDGER);
  const { POSTGRES_USER, POSTGRES_DB } = postgres.environment;
  assert.deepEqual([url.protocol, url.hostname, url.username], ['postgres:', 'postgres', POSTGRES_USER]);
  assert.equal(url.pathname, `/${POSTGRES_DB}`);
  assert.match(postgres.image, /:\d+\.\d+$/);
  assert.equal(two.networks.ledger.internal, true);
  assert.deepEqual(postgres.networks, ['ledger']);
  assert.equal(postgres.ports, undefined);
  const { extends: base, ...ofSecond } = second;
  assert.deepEqual(base, { file: 'compose.yaml', service: 'coordinator' });
  assert.deepEqual(ofSecond, first);
  assert.deepEqual(first.networks, ['cluster', 'ledger']);
  assert.equal(both.networks, undefined);
  const listen = port(coordinator!, '--listen');
  assert.equal(option(both, '--coordinator'), `coordinator:${listen},coordinator-b:${listen}`);
  const words = (service: Service) => service.command.filter((_, i) => service.command[i - 1] !== '--coordinator');
  assert.deepEqual(words(both), words(node!));
});

test('Prometheus scrapes two coordinators as it does one', () => {
  const expected = structuredClone(scrapes);
  const [{ targets }] = expected.scrape_configs[0].static_configs;
  targets.push(`coordinator-b:${port(coordinator!, '--http')}`);
  assert.deepEqual(load('../prometheus/prometheus.two-coordinators.yml'), expected);
  const config = '--config.file=/etc/prometheus/prometheus.two-coordinators.yml';
  assert.deepEqual(
    two.services.prometheus.command,
    prometheus!.command.map((word) => (word.startsWith('--config.file=') ? config : word)),
  );
});

test('with GPUs there is one node per card, because replicas would share it', () => {
  assert.equal(node!.deploy!.replicas, 2);
  const reserved = withGpus.map(({ deploy, command }) => {
    assert.equal(deploy!.replicas, 1);
    assert.match(command.join(' '), / (--device gpu|--gpu all)$/);
    return deploy!.resources!.reservations.devices;
  });
  const card = { driver: 'nvidia', capabilities: ['gpu'] };
  assert.deepEqual(reserved, [
    [{ ...card, count: 1 }],
    [{ ...card, device_ids: ['0'] }],
    [{ ...card, device_ids: ['1'] }],
  ]);
});

function option({ command }: Service, name: string): string {
  const value = command[command.indexOf(name) + 1];
  assert.ok(command.includes(name) && value, `${name} is not in ${command.join(' ')}`);
  return value;
}

function port(service: Service, name: string): number {
  return Number(option(service, name).split(':')[1]);
}
