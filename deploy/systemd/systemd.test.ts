import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
const read = (name: string) => readFileSync(join(folder, name), 'utf8');
const units = globSync('*.service', { cwd: folder }).sort();
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
const skip = hasSystemd ? false : 'systemd-analyze is not installed (Debian package systemd)';
const program = '/usr/local/bin/halogrid';

test('systemd finds no fault in the units', { skip }, (t) => {
  const copies = mkdtempSync(join(tmpdir(), 'halogrid-units-'));
  t.after(() => rmSync(copies, { recursive: true }));
  // The program need not be installed here.
  for (const unit of units) writeFileSync(join(copies, unit), read(unit).replaceAll(program, process.execPath));
  const instances = units.map((unit) => join(copies, unit.replace('@.', '@0.')));
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...instances], { encoding: 'utf8' });
  assert.deepEqual([status, stderr.split('\n').filter((line) => line.includes('halogrid'))], [0, []]);
  const wrong = join(copies, 'halogrid-wrong.service');
  writeFileSync(wrong, read('halogrid-node.service').replace('RestartSec=5', 'RestartSecs=5'));
  const { stderr: found } = spawnSync('systemd-analyze', ['verify', '--man=no', wrong], { encoding: 'utf8' });
  assert.match(found, /RestartSecs/);
});

test('units start commands of the program, with options and settings that these have', () => {
  const main = fileURLToPath(new URL('../../apps/cli/src/main.ts', import.meta.url));
  for (const unit of units) {
    const [, line] = /^ExecStart=(.+)$/m.exec(read(unit))!;
    const [path, command, ...options] = line!.split(' ');
    assert.equal(path, program);
    const help = execFileSync(process.execPath, [main, command!, '--help'], { encoding: 'utf8' });
    const [, settings] = /^EnvironmentFile=\/etc\/halogrid\/(.+)$/m.exec(read(unit))!;
    const named = [...read(settings!).matchAll(/^#?HALOGRID_([A-Z_]+)=/gm)].map(
      ([, name]) => `--${name!.toLowerCase().replaceAll('_', '-')}`,
    );
    for (const option of [...options.filter((word) => word.startsWith('--')), ...named]) {
      assert.match(help, new RegExp(`${option}\\b`), `${unit} ${option}`);
    }
  }
});

test('a service is started again unless its options are wrong', () => {
  for (const unit of units) {
    assert.match(read(unit), /^Restart=on-failure\nRestartPreventExitStatus=2$/m);
    assert.match(read(unit), /^KillMode=mixed$/m);
    // A node that was stopped while it had work did not fail, and goes on.
    const stopped = /^RestartForceExitStatus=75\nSuccessExitStatus=75$/m.test(read(unit));
    assert.equal(stopped, unit.startsWith('halogrid-node'), unit);
    const drains = / HALOGRID_DRAIN_TIMEOUT=(\d+)s$/m.exec(read(unit))?.[1] ?? 0;
    assert.ok(Number(/^TimeoutStopSec=(\d+)$/m.exec(read(unit))![1]) >= Number(drains) + 10, unit);
  }
});
