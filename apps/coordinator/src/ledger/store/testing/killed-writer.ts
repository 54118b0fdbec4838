// For tests, as a process of its own: writes one transaction after another and says how many are acknowledged, until killed.
import { SqliteStore } from '../sqlite-store.ts';

const [, , path, from] = process.argv;
const store = await SqliteStore.open(path!);
const epoch = await store.acquire('writer', 1);
const numbered = (kind: string, key: number, number: number) => {
  return { jobId: 'a', kind, key, value: Buffer.from(Float64Array.of(number).buffer) };
};
for (let key = Number(from); ; key++) {
  await store.write(epoch!, [numbered('double', key, 2 * key), numbered('a-number', key, key)]);
  // What waits in this process dies with it, so it is out before the next one is written.
  await new Promise((resolve) => process.send!(key + 1, resolve));
}
