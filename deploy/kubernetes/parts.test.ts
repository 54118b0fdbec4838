import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { main as program } from '../../apps/cli/bin/program.mjs';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const load = (name: string) => parse(readFileSync(path(`parts/${name}`), 'utf8'));
const parts = 2;

/** The script of a step, on cores in place of a card. */
function scriptOf(step: 'plan' | 'run' | 'merge'): string {
  const [script] = load(`${step}/${step}.yaml`).spec.template.spec.containers[0].args;
  return script.replace('--gpu all', '--device cpu');
}

test('the scripts of the Jobs plan, compute and merge the parts of a job with the digest of one run', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'halogrid-parts-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'halogrid'), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
  chmodSync(join(bin, 'halogrid'), 0o755);
  const { data } = load('job/settings.yaml');
  // A frame is damaged: 'run' of its part and 'merge' end with 3.
  const sources = join(folder, 'sources');
  mkdirSync(sources);
  for (const name of ['street-00.jpg', 'street-01.jpg', 'street-02.jpg']) {
    copyFileSync(path(`../../samples/frames/${name}`), join(sources, name));
  }
  writeFileSync(join(sources, 'damaged.jpg'), 'no picture');
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` };
  const settings = { ...data, SOURCES: sources, FOLDER: folder, PARTS: String(parts) };
  const run = (script: string, more = {}) => {
    const { status, stderr } = spawnSync('sh', ['-c', script], {
      env: { ...env, ...settings, ...more },
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
  };
  run(scriptOf('plan'));
  for (let index = 0; index < parts; index++) run(scriptOf('run'), { JOB_COMPLETION_INDEX: String(index) });
  run(scriptOf('merge'));
  run(`halogrid run $SOURCES $OPTIONS --out "$FOLDER/one" --device cpu --quiet || [ $? = 3 ]`);
  const [all, one] = ['all', 'one'].map((name) => JSON.parse(readFileSync(join(folder, name, 'job.json'), 'utf8')));
  assert.deepEqual([all.digest, all.counts.quarantined], [one.digest, 1]);
});

test('there are as many Jobs as parts', () => {
  const { completions, parallelism } = load('run/run.yaml').spec;
  assert.deepEqual([completions, parallelism], [Number(load('job/settings.yaml').data.PARTS), completions]);
});
