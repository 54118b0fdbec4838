import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, freePort } from '@halogrid/testing';
import { scratchFolder } from './scratch-folder.ts';

export const hasPrometheus = spawnSync('prometheus', ['--version']).status === 0;

export interface Alert {
  labels: Record<string, string>;
  annotations: Record<string, string>;
  state: 'pending' | 'firing';
}
/** A target: HOST:PORT, or http://HOST:PORT. */
export type Targets = Record<'halogrid-coordinator' | 'halogrid-node', readonly string[]>;

/** Numbers of seconds in rules: how old the last result may be, and how long the ledger may be behind. */
const seconds: Record<string, RegExp> = {
  lastResult: /(?<=<= )300\b/,
  ledgerBehind: /(?<=halogrid_ledger_behind_seconds\) > )30\b/,
};
const unitSeconds: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

const rulesOf = (name: string): string =>
  readFileSync(new URL(`../deploy/prometheus/${name}`, import.meta.url), 'utf8');

/**
 * A real Prometheus with our rules, but with shorter times. It scrapes and evaluates every second, and its targets can
 * change.
 */
export class WatchingPrometheus {
  /** HOST:PORT. */
  readonly address: string;
  readonly #folder: string;
  readonly #stop: () => Promise<unknown>;

  private constructor(address: string, folder: string, stop: () => Promise<unknown>) {
    this.address = address;
    this.#folder = folder;
    this.#stop = stop;
  }

  /** `by`: the factor by which times in rules are divided. */
  static async start(by: number): Promise<WatchingPrometheus> {
    const folder = scratchFolder();
    const address = `127.0.0.1:${await freePort()}`;
    mkdirSync(join(folder, 'targets'));
    const rules = ['recording.rules.yml', 'alerts.rules.yml'];
    for (const name of rules) writeFileSync(join(folder, name), shortenedRules(rulesOf(name), by));
    const jobs = ['halogrid-coordinator', 'halogrid-node'].map((job) => ({
      job_name: job,
      file_sd_configs: [{ files: [join(folder, 'targets', `${job}.*.json`)], refresh_interval: '1s' }],
    }));
    const config = {
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: rules,
      scrape_configs: jobs,
    };
    // JSON is YAML.
    writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config));
    const where = [`--storage.tsdb.path=${join(folder, 'data')}`, `--web.listen-address=${address}`];
    const options = [`--config.file=${join(folder, 'prometheus.yml')}`, ...where, '--log.level=error'];
    const child = spawn('prometheus', [...options, '--enable-feature=exemplar-storage'], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const prometheus = new WatchingPrometheus(address, folder, async () => {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    });
    await eventually('Prometheus to be ready', async () => {
      return (await fetch(`http://${address}/-/ready`).catch(() => undefined))?.ok;
    });
    return prometheus;
  }

  /** Sets all targets of a cluster from now on. */
  watch(cluster: string, targets: Targets): void {
    for (const [job, addresses] of Object.entries(targets)) {
      const group = { targets: addresses.map((address) => address.replace('http://', '')), labels: { cluster } };
      // Renamed into place, so that Prometheus never reads half of it.
      writeFileSync(join(this.#folder, 'next-targets'), JSON.stringify([group]));
      renameSync(join(this.#folder, 'next-targets'), join(this.#folder, 'targets', `${job}.${cluster}.json`));
    }
  }

  /** Alerts of a cluster that fire now. */
  async firing(cluster: string): Promise<Alert[]> {
    const { alerts } = await this.ask<{ alerts: Alert[] }>('alerts');
    return alerts.filter(({ labels, state }) => state === 'firing' && labels.cluster === cluster);
  }

  /** Names of the alerts of a cluster that ever fired. */
  async everFired(cluster: string): Promise<string[]> {
    const fired = `count by (alertname) (count_over_time(ALERTS{alertstate="firing", cluster="${cluster}"}[1h]))`;
    return (await this.query(fired)).map(({ metric }) => metric.alertname!);
  }

  /** Series of an expression and their values now. */
  async query(expr: string): Promise<{ metric: Record<string, string>; value: number }[]> {
    type Result = { result: { metric: Record<string, string>; value: [number, string] }[] };
    const { result } = await this.ask<Result>('query', { query: expr });
    return result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
  }

  /** Asks its API. Rejects with Prometheus' own sentence if it refuses. */
  async ask<T>(path: string, parameters: Record<string, string> = {}): Promise<T> {
    const response = await fetch(`http://${this.address}/api/v1/${path}?${new URLSearchParams(parameters)}`);
    const { status, error, data } = (await response.json()) as { status: string; error?: string; data: T };
    if (status !== 'success') throw new Error(`${path}: ${error}`);
    return data;
  }

  stop(): Promise<unknown> {
    return this.#stop();
  }
}

/**
 * The text of a Prometheus rules file with every time divided by `by`: the waits of alerts, ranges, offsets, and the
 * seconds that alerts compare with. Everything else stays. Throws if a pattern of `seconds` is not found in a file
 * of alerts.
 */
function shortenedRules(text: string, by: number): string {
  const isOfAlerts = text.includes('alert:');
  const divide = (amount: string, unit: string): string => `${(Number(amount) * unitSeconds[unit]!) / by}s`;
  let shortened = text
    .replaceAll(/(?<=\bfor: )(\d+)([smhd])$/gm, (_, amount, unit) => divide(amount, unit))
    .replaceAll(/(?<=\[)(\d+)([smhd])(?=\])/g, (_, amount, unit) => divide(amount, unit))
    .replaceAll(/(?<=\boffset )(\d+)([smhd])\b/g, (_, amount, unit) => divide(amount, unit));
  for (const [name, pattern] of Object.entries(isOfAlerts ? seconds : {})) {
    if (!pattern.test(shortened)) throw new Error(`No rule has the seconds of ${name}`);
    shortened = shortened.replace(pattern, (amount) => String(Number(amount) / by));
  }
  return shortened;
}
