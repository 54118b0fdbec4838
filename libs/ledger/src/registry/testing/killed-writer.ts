// For tests, runs as a separate process: writes one transaction after another and reports how many are acknowledged,
// until it is killed.
import { SqliteRegistry } from '../sqlite-registry.ts';

const [, , path, from] = process.argv;
const registry = await SqliteRegistry.open(path!);
const epoch = await registry.acquire('writer', 1);
const begin = (jobId: string, status: string) => ({ kind: 'begin' as const, jobId, spec: '', status, marks: [] });
for (let key = Number(from); ; key++) {
  await registry.write(epoch!, [begin(`double ${key}`, String(2 * key)), begin(`number ${key}`, String(key))]);
  // The message must leave this process before the next transaction, because it would be lost when the process is
  // killed.
  await new Promise((resolve) => process.send!(key + 1, resolve));
}
