// node scripts/console-pictures.mjs [FOLDER]: the pictures of docs/console.md, of a cluster that does jobs on samples and on frames that are
// made here; each page in light and dark, 1280 and 390 pixels wide. Those that docs shows go to docs/images, all of them to FOLDER.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import chromium from '@sparticuz/chromium';
import { chromium as driver } from 'playwright-core';
import sharp from 'sharp';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const all = process.argv[2] ?? mkdtempSync(join(tmpdir(), 'halogrid-console-'));
const scratch = mkdtempSync(join(tmpdir(), 'halogrid-pictures-'));
const archive = join(scratch, 'archive');
const main = at('apps/cli/bin/halogrid.mjs');
/** Where pictures of docs/images come from: page, width and theme. */
const shown = {
  'console-job.png': 'job-1280-light',
  'console-viewer.png': 'viewer-1280-light',
  'console-phone.png': 'running-390-dark',
};

const children = [];
/** A process that prints a line of JSON once it serves. */
async function serve(...args) {
  const child = spawn(process.execPath, [main, ...args, '--http', '127.0.0.1:0', '--log-level', 'error'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return { child, ...JSON.parse(line) };
}

/** A command that is waited for; what it printed. */
async function halogrid(...args) {
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text));
  const [code] = await once(child, 'close');
  if (code !== 0 && code !== 3) throw new Error(`halogrid ${args.join(' ')}: ${said}`);
  return said;
}

/** Frames of a camera that looks at the photograph, and some files that are none. */
async function writeArchive() {
  mkdirSync(archive);
  const photograph = sharp(at('libs/kernels/oracle/images/camera.png')).greyscale();
  const frames = Array.from({ length: 400 }, async (_, i) => {
    const left = 60 + Math.round(60 * Math.sin(i / 40));
    const view = photograph.clone().extract({ left, top: 40, width: 384, height: 288 });
    const name = `2026-03-01T06-${String(Math.floor(i / 60)).padStart(2, '0')}-${String(i % 60).padStart(2, '0')}.jpg`;
    await view.resize(960).jpeg({ quality: 85 }).toFile(join(archive, name));
  });
  await Promise.all(frames);
  for (const name of ['2026-03-01T06-09-01.jpg', '2026-03-01T06-09-02.jpg']) writeFileSync(join(archive, name), '');
  writeFileSync(join(archive, '2026-03-01T06-09-03.png'), 'not a picture');
}

/** A page in both themes and both widths. `ready` waits until it shows what it is about. */
async function take(browser, name, url, ready) {
  for (const width of [1280, 390]) {
    for (const colorScheme of ['light', 'dark']) {
      const page = await browser.newPage({ viewport: { width, height: width === 390 ? 844 : 900 }, colorScheme });
      await page.goto(url);
      await ready(page);
      // Pictures below are loaded when they are about to be seen.
      for (let y = 0; y < 4000; y += 600) await page.evaluate(`scrollTo(0, ${y})`);
      await page.evaluate('scrollTo(0, 0)');
      await delay(400);
      const file = join(all, `${name}-${width}-${colorScheme}.png`);
      await page.screenshot({ path: file, fullPage: true });
      for (const [picture, from] of Object.entries(shown)) {
        if (from === `${name}-${width}-${colorScheme}`)
          await sharp(file)
            .png({ palette: true, effort: 10 })
            .toFile(at(`docs/images/${picture}`));
      }
      await page.goto('about:blank');
    }
  }
}

mkdirSync(all, { recursive: true });
let browser;
try {
  await writeArchive();
  const index = join(scratch, 'frames.index');
  const where = ['--listen', '127.0.0.1:0', '--ledger', join(scratch, 'ledger.sqlite'), '--index', index];
  const coordinator = await serve('coordinator', ...where, '--node-grace', '600000');
  const to = ['--coordinator', `127.0.0.1:${coordinator.grpc}`];
  const http = `http://127.0.0.1:${coordinator.http}`;
  const nodes = [];
  for (const name of ['north', 'south', 'west'])
    nodes.push(await serve('node', ...to, '--name', name, '--device', 'cpu'));
  const idOf = (said) => /jobs\/(\S+)/.exec(said)[1];

  const lbp = ['--op', 'lbp:points=16,radius=2,labels=uniform'];
  const out = join(scratch, 'archive-out');
  const done = idOf(await halogrid('run', archive, ...lbp, '--grid', '2x2', '--batch', '8', '--out', out, ...to));
  const survey = at('samples/images/survey.tif');
  const zoomed = ['run', survey, '--map', 'dzi', '--tile', '512', '--out', join(scratch, 'survey-out')];
  const map = idOf(await halogrid(...zoomed, ...to));
  await halogrid('index', out, '--to', index);
  nodes[2].child.kill('SIGKILL');
  const more = ['submit', archive, '--op', 'ldp:order=4', '--pipeline', 'codes=lbp'];
  const long = idOf(
    await halogrid(
      ...more.slice(0, 2),
      '--op',
      'conv:kernel=gaussian-21,as=u8',
      '--op',
      'ldp:order=4',
      '--batch',
      '2',
      '--out',
      join(scratch, 'long-out'),
      ...to,
    ),
  );
  const unseen = await halogrid(
    'submit',
    archive,
    '--wait-for-node',
    '--map',
    'png',
    '--priority',
    '-5',
    '--out',
    join(scratch, 'next-out'),
    ...to,
  );

  chromium.setGraphicsMode = false;
  browser = await driver.launch({ executablePath: await chromium.executablePath(), args: chromium.args });
  const text = (words) => (page) => page.getByText(words).first().waitFor();
  await take(browser, 'running', `${http}/jobs/${long}`, text('Bound by'));
  await take(browser, 'cluster', http, text('Live'));
  await take(browser, 'nodes', `${http}/console/nodes.html`, text('north'));
  await take(browser, 'job', `${http}/jobs/${done}`, async (page) => {
    await page.getByRole('heading', { name: 'Previews' }).waitFor();
    await page.getByRole('img', { name: /^Histogram of/ }).waitFor();
  });
  await take(browser, 'viewer', `${http}/console/viewer.html?job=${map}`, async (page) => {
    await page.getByText(/pixels counted/).waitFor();
    await delay(1500);
  });
  await take(browser, 'frames', `${http}/console/viewer.html?job=${done}`, async (page) => {
    await page.getByText(/pixels counted/).waitFor();
    await delay(1500);
  });
  await take(browser, 'search', `${http}/console/search.html`, text(/frames, lbp/));
  await take(browser, 'changes', `${http}/console/changes.html?job=${done}`, () => delay(2500));
  await take(browser, 'submit', `${http}/console/submit.html`, async (page) => {
    await page.getByLabel('A path, a glob or a URI').fill(survey);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByLabel('Output folder').fill(join(scratch, 'submitted'));
    await page.getByRole('button', { name: 'Show the plan' }).click();
    await page.getByRole('button', { name: 'Start the job' }).waitFor();
  });
  console.log(all, unseen);
} finally {
  await browser?.close();
  for (const child of children) child.kill('SIGTERM');
  await Promise.all(children.map((child) => child.exitCode ?? child.signalCode ?? once(child, 'exit')));
  rmSync(scratch, { recursive: true });
}
