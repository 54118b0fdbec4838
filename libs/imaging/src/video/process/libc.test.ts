import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';

const module = new URL('./libc.ts', import.meta.url).href;

test('missing memory of the system gives an error, and no process dies of it', async () => {
  const create = `import { createMemory } from '${module}';
    try { createMemory(2 ** 20) } catch (error) { console.log(error.message) }`;
  // Files of this process end at 512 KiB, and memory with a descriptor is one.
  const limited = ['-c', 'ulimit -f 512 && exec "$0" --input-type=module --eval "$1"', process.execPath, create];
  const { stdout } = await promisify(execFile)('bash', limited);
  assert.equal(stdout, 'the system has no 1048576 bytes (error 27)\n');
});
