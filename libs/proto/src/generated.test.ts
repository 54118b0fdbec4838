import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { JobStatus, protoFiles, protoRoot } from './index.ts';

const tools = fileURLToPath(new URL('../../../node_modules/.bin', import.meta.url));
const env = { ...process.env, PATH: `${tools}${delimiter}${process.env.PATH}` };
const folder = mkdtempSync(join(tmpdir(), 'halogrid-proto-'));
after(() => rmSync(folder, { recursive: true }));

test('the .proto files pass the lint', () => {
  execFileSync('buf', ['lint'], { cwd: protoRoot, env });
});

test('the committed stubs and descriptors are the same as newly generated ones', () => {
  execFileSync('bash', ['generate.sh', folder], { cwd: protoRoot, env });
  for (const name of [...protoFiles.map((file) => file.replace('.proto', '.ts')), 'descriptor-set.ts']) {
    const stub = join('src/gen', name);
    assert.equal(readFileSync(join(protoRoot, stub), 'utf8'), readFileSync(join(folder, stub), 'utf8'), stub);
  }
});

test('a 64-bit field that a number cannot hold is refused, not rounded', () => {
  // Field 6 of JobStatus, submitted_ms, as a varint of 2^53.
  const bytes = Uint8Array.from([0x30, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10]);
  assert.throws(() => JobStatus.decode(bytes), /MAX_SAFE_INTEGER/);
});
