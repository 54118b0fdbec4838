import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { JobStatus } from '@halogrid/proto';
import { eventually, programLimitMs, within } from '@halogrid/testing';
import { x as extract } from 'tar';
import { openBrowser, openPage } from './browser.ts';
import { get } from './get.ts';
import { Halogrid } from './halogrid.ts';
import { makeArtefact } from './make-tarball.ts';
import { processesWith } from './process-list.ts';
import { readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { runUndisturbed, sharedCluster } from './shared-cluster.ts';

// The npm package as 'npm install --global' installs it, with the checkout's dependencies.

const checkout = fileURLToPath(new URL('..', import.meta.url));
const scratch = scratchFolder();
const installed = join(scratch, 'a prefix/lib/node_modules/halogrid');
const photographs = join(scratch, 'my photographs');

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the program of the package in the folder of photographs, without a home. */
async function halogrid(args: string[], options: string[] = [], more: Record<string, string> = {}): Promise<Ended> {
  const words = [...options, join(installed, 'bin/halogrid.mjs'), ...args];
  const env = { PATH: process.env.PATH, XDG_CACHE_HOME: join(scratch, 'cache'), ...more };
  const ended = promisify(execFile)(process.execPath, words, { cwd: photographs, env }).then(
    (said) => ({ code: 0, ...said }),
    (error: Ended) => error,
  );
  return await within(`halogrid ${args.join(' ')} to end`, ended, programLimitMs);
}

/** Installs the packages as npm does, over an earlier installation, with the checkout's dependencies. */
async function installPackage(): Promise<void> {
  for (const name of ['halogrid', '@halogrid/client']) {
    const [tarball] = globSync(`${name.replace('@', '').replace('/', '-')}-[0-9]*.tgz`, { cwd: scratch });
    const folder = join(installed, '..', name);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    await extract({ file: join(scratch, tarball!), cwd: folder, strip: 1 });
  }
  const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) {
    const link = join(installed, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(checkout, 'node_modules', name), link);
  }
}

before(async () => {
  await makeArtefact('any', scratch);
  await installPackage();
  // The types that users of TypeScript on Node have.
  for (const name of ['@types', 'undici-types'])
    symlinkSync(join(checkout, 'node_modules', name), join(installed, '..', name));
  cpSync(join(checkout, 'samples/images'), photographs, { recursive: true });
});

test('its version is the same as in the checkout, and it prints nothing else', async () => {
  const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
  const { code, stdout, stderr } = await halogrid(['--version']);
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, new RegExp(`^${version} \\(results version \\d+\\)\\n$`));
});

test('it has the benchmarks of the program, and nothing of the lab or of tests', () => {
  const files = globSync('**/*', { cwd: installed, exclude: (path) => path.includes('node_modules') });
  assert.deepEqual(
    files.filter((path) => /(^|\/)(lab|test|oracle)(\/|$)|\.(cu|py)$/.test(path)),
    [],
  );
  const texts = globSync('program/*.js', { cwd: installed }).map((path) => readFileSync(join(installed, path), 'utf8'));
  // Sentences of `bench kernels`, and of the lab.
  assert.ok(texts.some((text) => text.includes('LBP map, 8 images a dispatch')));
  for (const ofLab of ['CUDA is left out', 'R1 · LBP Parallelization', 'OpenCV and NumPy, ']) {
    assert.ok(!texts.some((text) => text.includes(ofLab)), ofLab);
  }
});

for (const device of ['cpu', 'software']) {
  test(`a job in a folder with a space gives the same on ${device} as in the checkout`, async () => {
    const plain = join(scratch, 'plain');
    await runUndisturbed([photographs, '--out', plain]);
    const { code, stderr } = await halogrid(['run', '.', '--device', device, '--out', join(scratch, device)]);
    assert.equal(code, 0, stderr);
    assert.equal(readJson(join(scratch, device), 'job.json').digest, readJson(plain, 'job.json').digest);
  });
}

test('a run of one image loads a few dozen files of the bundle, and starts no thread', async () => {
  const loaded = join(scratch, 'loaded');
  const look = `
    import { appendFileSync } from 'node:fs';
    import { registerHooks } from 'node:module';
    const told = (line) => appendFileSync(process.env.HALOGRID_TEST_LOADED, line + '\\n');
    registerHooks({ load(url, context, next) { told(url); return next(url, context); } });
    process.on('worker', () => told('thread'));`;
  const looking = ['--import', `data:text/javascript,${encodeURIComponent(look)}`];
  const { code, stderr } = await halogrid(['run', 'grass.png', '--device', 'cpu', '--out', 'loaded'], looking, {
    HALOGRID_TEST_LOADED: loaded,
  });
  assert.equal(code, 0, stderr);
  const lines = readFileSync(loaded, 'utf8').trimEnd().split('\n');
  const ofBundle = lines.filter((line) => line.includes('/halogrid/program/'));
  assert.ok(ofBundle.length > 5 && ofBundle.length < 60, ofBundle.join('\n'));
  assert.ok(!lines.includes('thread'));
});

test('a package that replaces an earlier one continues with its ledger and its outputs', async (t) => {
  const kept = join(scratch, 'kept');
  const anyPort = '127.0.0.1:0';
  const options = ['--ledger', join(kept, 'ledger.sqlite'), '--listen', anyPort, '--http', anyPort];

  /** Starts a coordinator, calls `act` with its address, and resolves with the ids of its jobs afterwards. */
  async function jobsAfter(act: (grpc: unknown) => Promise<void>): Promise<string[]> {
    const coordinator = new Halogrid(['coordinator', ...options], { installed: join(installed, 'bin/halogrid.mjs') });
    t.after(() => coordinator.kill());
    const { grpc, http } = await coordinator.firstLine;
    await act(grpc);
    const { jobs } = (await (await get(`http://127.0.0.1:${http}/api/v1/jobs`)).json()) as { jobs: JobStatus[] };
    coordinator.signal('SIGTERM');
    assert.equal((await coordinator.ended).code, 0);
    return jobs.map(({ jobId }) => jobId);
  }

  const run = ['run', '.', '--device', 'cpu', '--out', join(kept, 'out')];
  const first = await halogrid(run);
  assert.equal(first.code, 0, first.stderr);
  const jobs = await jobsAfter(async (grpc) => {
    const submit = ['submit', photographs, '--out', join(kept, 'waiting'), '--coordinator', `127.0.0.1:${grpc}`];
    const { code, stderr } = await halogrid(submit);
    assert.equal(code, 0, stderr);
  });
  assert.equal(jobs.length, 1);

  await installPackage();
  assert.deepEqual(await jobsAfter(async () => {}), jobs);
  const { code, stdout } = await halogrid(run);
  assert.equal(code, 0);
  assert.match(stdout, /^ +skipped +\d+ unchanged since the last run; nothing is new$/m);
});

test('a program beside it can import its kernels', async () => {
  const program = join(installed, '../../program.mjs');
  writeFileSync(
    program,
    `import { lbp } from 'halogrid/kernels';
const { histogram } = await lbp({ data: new Uint8Array(25), width: 5, height: 5 });
console.log(histogram[255]);`,
  );
  const ended = promisify(execFile)(process.execPath, [program]);
  // The 9 pixels of a flat picture without its border.
  assert.equal((await within('the program', ended, programLimitMs)).stdout, '9\n');
});

test('the package writes a page about the job, with its style', async () => {
  const page = join(scratch, 'page.html');
  const { code, stdout } = await halogrid(['show', join(scratch, 'cpu'), '--out', page]);
  assert.deepEqual([code, stdout], [0, `${page}\n`]);
  assert.match(readFileSync(page, 'utf8'), /--accent: #/);
});

test('an older Node is refused before anything else is loaded', async () => {
  const older = "Object.defineProperty(process.versions, 'node', { value: '22.17.1' })";
  const { code, stdout, stderr } = await halogrid(['--version'], ['--import', `data:text/javascript,${older}`]);
  assert.deepEqual([code, stdout, stderr], [1, '', 'halogrid: Node 22.18 or newer is needed; this is 22.17.1\n']);
});

const pages = ['library', 'api'].map((name) => readFileSync(join(checkout, `docs/${name}.md`), 'utf8'));
const programs = pages.flatMap((page) => [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map((match) => match[1]!));
const user = join(installed, '../..');

/** Writes programs to a place where they can import the package, and returns their paths. */
function written(sources: readonly string[], name: string): string[] {
  return sources.map((source, i) => {
    const path = join(user, `${name}-${i}.mts`);
    writeFileSync(path, source);
    return path;
  });
}

test('programs of docs/library.md and docs/api.md compile strictly, with only its types', async () => {
  const words = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'esnext', '--types', 'node'];
  const browser =
    "import { connect, type Job } from '@halogrid/client';\nexport const job: Promise<Job> = connect('http://h').job('x');\n";
  const files = written([...programs, browser], 'compiled');
  const tsc = join(checkout, 'node_modules/.bin/tsc');
  await promisify(execFile)(tsc, [...words, ...files], { cwd: user }).catch(({ stdout }) => assert.fail(stdout));
});

test('programs of docs/library.md and docs/api.md run, and print exactly the shown output', async (t) => {
  const cluster = await sharedCluster();
  t.after(() => cluster.stop());
  const folder = join(scratch, 'documented');
  cpSync(join(checkout, 'samples/frames'), join(folder, 'samples/frames'), { recursive: true });
  const files = written(
    programs.map((program) =>
      program
        .replaceAll('http://127.0.0.1:9464', cluster.http)
        .replaceAll('/data/frames', join(folder, 'samples/frames'))
        .replaceAll('/data/out', join(folder, 'out')),
    ),
    'documented',
  );
  const env = { PATH: process.env.PATH, XDG_CACHE_HOME: join(scratch, 'cache') };
  const quiet = '--disable-warning=ExperimentalWarning';
  const said = [];
  for (const file of files) {
    const ended = promisify(execFile)(process.execPath, [quiet, file], { cwd: folder, env, maxBuffer: 2 ** 26 });
    said.push(await within(`${file} to end`, ended, programLimitMs));
  }
  const [onHere, onCluster, wrong, stopped, byHttp] = said;
  const { digest } = readJson(folder, 'halogrid-out/library/job.json');
  assert.ok(onHere!.stdout.includes(`${digest} `), onHere!.stdout.slice(0, 500));
  assert.match(onCluster!.stdout, /^[0-9a-f]{64} /);
  assert.match(
    wrong!.stderr,
    /^INVALID_ARGUMENT tile Expected a whole number from 1 to \d+ for tile but received '0'\n$/,
  );
  assert.equal(stopped!.stdout, 'AbortError\n');
  assert.match(byHttp!.stdout, /^[0-9a-f]{64} 24$/m);
  for (const { stderr } of [onHere!, onCluster!, stopped!, byHttp!]) assert.equal(stderr, '');
});

test('if the program that runs a job is killed, its processes end', async () => {
  const [file] = written(
    [
      `import { run } from 'halogrid';
      const sources = ${JSON.stringify(join(checkout, 'samples/images'))};
      const job = await run({ sources, device: 'cpu', out: ${JSON.stringify(join(scratch, 'killed'))} });
      console.log(job.id);
      await job.result();`,
    ],
    'killed',
  );
  const setting = `HALOGRID_TEST_KILLED=${randomUUID()}`;
  const [name, value] = setting.split('=');
  const host = spawn(process.execPath, [file!], {
    env: { ...process.env, [name!]: value },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await within('the job', once(host.stdout, 'data'), programLimitMs);
  host.kill('SIGKILL');
  await eventually('no process is left', () => processesWith(setting).length === 0);
});

test('a page submits a job by @halogrid/client, follows it and reads its rows', async (t) => {
  const cluster = await sharedCluster();
  const browser = await openBrowser();
  t.after(async () => {
    await browser.close();
    await cluster.stop();
  });
  const { page, complaints } = await openPage(browser, cluster.http);
  await page.route('**/client.js', (route) => route.fulfill({ path: join(installed, '../@halogrid/client/index.js') }));
  const frames = JSON.stringify(join(checkout, 'samples/frames'));
  const out = JSON.stringify(join(scratch, 'by a page'));
  const found = (await page.evaluate(`import('/client.js').then(async ({ connect }) => {
    const client = connect(location.origin);
    const job = await client.submit({ sources: [${frames}], out: ${out} });
    const result = await job.result();
    const rows = [];
    for await (const row of result.rows()) rows.push(row.counted);
    const refusal = await client.submit({ sources: [${frames}], grid: { rows: -1, columns: 1 } }).catch(({ code, field }) => [code, field]);
    return { digest: result.digest, rows, refusal };
  })`)) as { digest: string; rows: number[]; refusal: string[] };
  // The browser reports the answer with status 400.
  assert.equal(complaints.length, 1, complaints.join());
  assert.equal(found.digest, readJson(join(scratch, 'by a page'), 'job.json').digest);
  assert.equal(found.rows.length, globSync('*', { cwd: join(checkout, 'samples/frames') }).length);
  assert.deepEqual(found.refusal, ['INVALID_ARGUMENT', 'grid.rows']);
});
