// How many cores this process may use. It is plain JavaScript, because the launcher needs it under any Node.
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

/** The variable that sets the number of cores, and by which the launcher tells it to the program. */
export const coresVariable = 'HALOGRID_CORES';

const most = 1024;

/**
 * Why the variable cannot be used, in one sentence; undefined if it can.
 *
 * @param {NodeJS.ProcessEnv} env
 * @returns {string | undefined}
 */
export function whyNotCores(env = process.env) {
  const text = env[coresVariable];
  if (!text || (/^[1-9]\d{0,3}$/.test(text) && Number(text) <= most)) return undefined;
  return `${coresVariable}: Expected a whole number from 1 to ${most} but received '${text}'`;
}

/**
 * The number that the variable says; otherwise the processors on which this process may run, but no more than the
 * quota of its container allows, rounded up.
 *
 * @param {NodeJS.ProcessEnv} env
 * @param {string} root the folder in which /proc and /sys are
 * @param {number} processors
 * @returns {number}
 */
export function cores(env = process.env, root = '/', processors = availableParallelism()) {
  if (env[coresVariable] && !whyNotCores(env)) return Number(env[coresVariable]);
  return Math.max(1, Math.min(processors, Math.ceil(quota(root))));
}

/** Processors by the quotas of control groups (versions 1 and 2); Infinity if there are none. */
function quota(root) {
  const lines = readText(root, 'proc/self/cgroup').split('\n');
  return Math.min(...lines.flatMap((line) => quotasOf(root, line)), Number.POSITIVE_INFINITY);
}

/** The quotas of the group in a line `NUMBER:CONTROLLERS:PATH`, and of the groups around it. */
function quotasOf(root, line) {
  const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
  if (path === undefined) return [];
  const read = controllers === '' ? quotaOfVersion2 : quotaOfVersion1;
  if (controllers !== '' && !controllers.split(',').includes('cpu')) return [];
  const mounts = controllers === '' ? [''] : [controllers, 'cpu'];
  // In a container, the path may be that outside of it: then its group is at the root.
  return around(path).flatMap((group) => mounts.map((mount) => read(join(root, 'sys/fs/cgroup', mount, group))));
}

/** `/a/b`, `/a` and `/`. */
function around(path) {
  const names = path.split('/').filter((name) => name !== '');
  return Array.from({ length: names.length + 1 }, (_, i) => `/${names.slice(0, names.length - i).join('/')}`);
}

function quotaOfVersion2(group) {
  const [, used, period] = /^(\d+) (\d+)/.exec(readText(group, 'cpu.max')) ?? [];
  return ratio(used, period);
}

function quotaOfVersion1(group) {
  return ratio(readText(group, 'cpu.cfs_quota_us'), readText(group, 'cpu.cfs_period_us'));
}

/** Infinity if there is no limit: -1, `max` or no file. */
function ratio(used, period) {
  const value = Number.parseInt(used, 10) / Number.parseInt(period, 10);
  return value > 0 ? value : Number.POSITIVE_INFINITY;
}

/** Empty if it cannot be read. */
function readText(folder, name) {
  try {
    return readFileSync(join(folder, name), 'utf8');
  } catch {
    return '';
  }
}
