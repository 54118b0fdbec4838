// For tests, as a process of its own: writes one transaction after another and says how many are acknowledged, until
// killed.
import { SqliteRegistry } from '../sqlite-registry.ts';

const [, , path, from] = process.argv;
const registry = await SqliteRegistry.open(path!);
const epoch = await registry.acquire('writer', 1);
const begin = (jobId: string, status: string) => ({ kind: 'begin' as const, jobId, spec: '', status, marks: [] });
for (let key = Number(from); ; key++) {
  await registry.write(epoch!, [begin(`double ${key}`, String(2 * key)), begin(`number ${key}`, String(key))]);
  // What waits in this process dies with it, so it is out before the next one is written.
  await new Promise((resolve) => process.send!(key + 1, resolve));
}
