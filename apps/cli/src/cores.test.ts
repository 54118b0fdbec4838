import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { cores, whyNotCores } from '../bin/cores.mjs';

const scratch = mkdtempSync(join(tmpdir(), 'halogrid-cores-'));
after(() => rmSync(scratch, { recursive: true }));

/** A folder with these files under /proc and /sys. */
function machine(files: Record<string, string>): string {
  const root = mkdtempSync(join(scratch, 'root-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
}

const group = 'proc/self/cgroup';
const v1 = (folder: string, quota: string) => ({
  [`sys/fs/cgroup/${folder}/cpu.cfs_quota_us`]: `${quota}\n`,
  [`sys/fs/cgroup/${folder}/cpu.cfs_period_us`]: '100000\n',
});
const v2 = (folder: string, max: string) => ({ [`sys/fs/cgroup${folder}/cpu.max`]: `${max}\n` });

const table: [what: string, files: Record<string, string>, cores: number][] = [
  ['no control groups', {}, 128],
  ['version 2 without a quota', { [group]: '0::/\n', ...v2('', 'max 100000') }, 128],
  ['version 2, a container of 8 cores', { [group]: '0::/\n', ...v2('', '800000 100000') }, 8],
  ['version 2, half a core', { [group]: '0::/\n', ...v2('', '50000 100000') }, 1],
  ['version 2, one and a half cores', { [group]: '0::/\n', ...v2('', '150000 100000') }, 2],
  ['version 2, more than the machine has', { [group]: '0::/\n', ...v2('', '99900000 100000') }, 128],
  [
    'version 2, the least quota of all groups around it',
    { [group]: '0::/a/b\n', ...v2('/a/b', '900000 100000'), ...v2('/a', '300000 100000'), ...v2('', 'max 100000') },
    3,
  ],
  ['version 1 without a quota', { [group]: '3:cpu,cpuacct:/\n', ...v1('cpu,cpuacct', '-1') }, 128],
  ['version 1', { [group]: '3:cpu,cpuacct:/x\n', ...v1('cpu,cpuacct/x', '400000') }, 4],
  ['version 1 with a mount for cpu', { [group]: '2:cpuacct:/\n1:cpu:/x\n', ...v1('cpu/x', '50000') }, 1],
  ['version 1, a path outside of the container', { [group]: '4:cpu:/docker/0a\n', ...v1('cpu', '200000') }, 2],
  ['a quota of another controller', { [group]: '5:cpuset:/x\n', ...v1('cpu/x', '100000') }, 128],
];

for (const [what, files, expected] of table) {
  test(`${what}: ${expected} of 128 processors`, () => assert.equal(cores({}, machine(files), 128), expected));
}

test('the variable decides, if it is a number', () => {
  const root = machine({ [group]: '0::/\n', ...v2('', '100000 100000') });
  assert.equal(cores({ HALOGRID_CORES: '6' }, root, 2), 6);
  for (const text of ['0', '-1', '1025', '1.5', 'all', ' 4']) {
    assert.equal(cores({ HALOGRID_CORES: text }, root, 128), 1);
    assert.equal(
      whyNotCores({ HALOGRID_CORES: text }),
      `HALOGRID_CORES: Expected a whole number from 1 to 1024 but received '${text}'`,
    );
  }
  for (const env of [{}, { HALOGRID_CORES: '' }, { HALOGRID_CORES: '1024' }]) assert.equal(whyNotCores(env), undefined);
});

test('whatever the system writes, there is at least one core, and there are not more than processors', () => {
  const text = fc.oneof(fc.string(), fc.constantFrom('0 0', '0', '-1', 'max', '1e9 1', '9'.repeat(400)));
  fc.assert(
    fc.property(text, text, fc.integer({ min: 1, max: 256 }), (line, limit, processors) => {
      const root = machine({ [group]: `${line}\n0::/\n1:cpu:/\n`, ...v2('', limit), ...v1('cpu', limit) });
      const found = cores({}, root, processors);
      assert.ok(Number.isInteger(found) && found >= 1 && found <= processors, String(found));
    }),
    { numRuns: 50 },
  );
});
