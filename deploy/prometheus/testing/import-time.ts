import { execFile } from 'node:child_process';
import { open, rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { beginsAt, type Incident, incidents } from './incidents.ts';
import { MadeUpCluster } from './made-up-cluster.ts';
import { scrape } from './open-metrics.ts';

/**
 * Blocks of Prometheus begin at multiples of two hours. promtool reads a file once for each block in it, so each file
 * has one block.
 */
const blockMinutes = 120;

export interface MadeUpTime {
  /** The data folder of a Prometheus. */
  folder: string;
  /** Number of periods, each with one job; see incidents.ts. */
  periods: number;
  minutes: number;
  /** Seconds since 1970, a multiple of two hours. */
  startSeconds: number;
}

/** Imports into a Prometheus the samples that it would have scraped from the made-up clusters every minute. */
export async function importTime(time: MadeUpTime): Promise<void> {
  const clusters = [new MadeUpCluster('lab'), new MadeUpCluster('archive')];
  const file = `${time.folder}.samples`;
  for (let first = 0; first < time.minutes; first += blockMinutes) {
    const samples = await open(file, 'w');
    for (let minute = first; minute < Math.min(first + blockMinutes, time.minutes); minute++) {
      for (const cluster of clusters) await samples.write(await liveMinute(cluster, minute, time));
    }
    await samples.write('# EOF\n');
    await samples.close();
    const create = ['tsdb', 'create-blocks-from', 'openmetrics', '--quiet', file, time.folder];
    await promisify(execFile)('promtool', create);
  }
  await rm(file);
}

/** Runs the cluster for this minute, and returns the samples that are scraped after it. */
async function liveMinute(cluster: MadeUpCluster, minute: number, time: MadeUpTime): Promise<string> {
  const seconds = time.startSeconds + 60 * minute;
  const kindsOf = (isMeant: (sinceBegin: number, incident: Incident) => boolean) =>
    incidents
      .filter((incident) => incident.cluster === cluster.name)
      .filter((incident) => isMeant(minute - beginsAt(incident, time.periods), incident))
      .map(({ kind }) => kind);
  cluster.step(minute, seconds, {
    now: kindsOf((since, { minutes }) => since >= 0 && since < minutes),
    begun: kindsOf((since) => since === 0),
    over: kindsOf((since, { minutes }) => since === minutes),
  });
  const scraped = await Promise.all(cluster.targets().map((target) => scrape(target, cluster.name, seconds)));
  return `${scraped.flat().join('\n')}\n`;
}
