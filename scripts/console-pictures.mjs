// node scripts/console-pictures.mjs [FOLDER]: makes the pictures of docs/console.md, with a cluster that runs jobs on
// samples and on frames that are drawn here. Takes each page in light and dark, 1280 and 390 pixels wide. The pictures
// that docs shows go to docs/images, all of them to FOLDER.
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
/** The pictures in docs/images, and which page, width and theme each shows. */
const shown = {
  'console-job.webp': 'job-1280-light',
  'console-viewer.webp': 'viewer-1280-light',
  'console-frames.webp': 'frames-1280-light',
  'console-nodes.webp': 'nodes-1280-dark',
  'console-phone.webp': 'running-390-dark',
  'console-phone-cluster.webp': 'cluster-390-light',
};

const children = [];
/** Starts a process; resolves with the line of JSON that it prints once it serves. */
async function serve(...args) {
  const child = spawn(process.execPath, [main, ...args, '--http', '127.0.0.1:0', '--log-level', 'error'], {
    cwd: scratch,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return { child, ...JSON.parse(line) };
}

/** Runs a command to its end; resolves with its output. */
async function halogrid(...args) {
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text));
  const [code] = await once(child, 'close');
  if (code !== 0 && code !== 3) throw new Error(`halogrid ${args.join(' ')}: ${said}`);
  return said;
}

/** Makes frames of a camera that looks at the photograph, and some files that are not images. */
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

/** Waits until an expression is true on a page. Playwright's own wait does not work with the policy of our pages. */
async function until(page, expression) {
  while (!(await page.evaluate(expression))) await delay(100);
}

const widths = [1280, 390];
const themes = ['light', 'dark'];
const webp = { quality: 75, effort: 6 };
/**
 * A sheet of pictures: their scale, the height that is shown of each, and the gap between them, in pixels of the page.
 */
const sheet = { scale: 0.75, height: 1500, gap: 24 };

/** Writes a sheet with all pictures of a page side by side. */
async function writeSheet(name) {
  const parts = widths.flatMap((width) =>
    themes.map((theme) => ({ width, file: join(all, `${name}-${width}-${theme}.png`) })),
  );
  let left = 0;
  let height = 0;
  const placed = [];
  for (const { width, file } of parts) {
    const whole = await sharp(file).metadata();
    const shown = Math.min(whole.height, sheet.height);
    const input = await sharp(file).extract({ left: 0, top: 0, width, height: shown }).png().toBuffer();
    placed.push({ input, left, top: 0 });
    left += width + sheet.gap;
    height = Math.max(height, shown);
  }
  const size = { width: left - sheet.gap, height };
  const background = '#8a949e';
  const large = await sharp({ create: { ...size, channels: 3, background } })
    .composite(placed)
    .png()
    .toBuffer();
  await sharp(large)
    .resize({ width: Math.round(size.width * sheet.scale) })
    .webp(webp)
    .toFile(at(`docs/images/console-pages/${name}.webp`));
}

/** Takes pictures of a page in both themes and both widths. `ready` waits until the page shows its content. */
async function take(browser, name, url, ready) {
  for (const width of widths) {
    for (const colorScheme of themes) {
      const page = await browser.newPage({ viewport: { width, height: width === 390 ? 844 : 900 }, colorScheme });
      await page.goto(url);
      await ready(page);
      // Scrolls down, because pictures are loaded shortly before they come into view.
      for (let y = 0; y < 6000; y += 500) {
        await page.evaluate(`scrollTo(0, ${y})`);
        await delay(30);
      }
      await until(page, '[...document.images].every((image) => image.complete && image.naturalWidth > 0)');
      await page.evaluate('scrollTo(0, 0)');
      await delay(400);
      const file = join(all, `${name}-${width}-${colorScheme}.png`);
      await page.screenshot({ path: file, fullPage: true });
      for (const [picture, from] of Object.entries(shown)) {
        if (from === `${name}-${width}-${colorScheme}`)
          await sharp(file)
            .webp(webp)
            .toFile(at(`docs/images/${picture}`));
      }
      await page.goto('about:blank');
    }
  }
  await writeSheet(name);
}

mkdirSync(all, { recursive: true });
mkdirSync(at('docs/images/console-pages'), { recursive: true });
let browser;
try {
  await writeArchive();
  const index = join(scratch, 'frames.index');
  mkdirSync(index);
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
  const done = idOf(
    await halogrid('run', archive, ...lbp, '--grid', '2x2', '--map', 'png', '--batch', '8', '--out', out, ...to),
  );
  const survey = join(scratch, 'gravel.tif');
  const gravel = sharp(at('libs/kernels/oracle/images/gravel.png')).greyscale().resize(3000, 3000);
  await gravel.tiff({ tile: true, compression: 'none' }).toFile(survey);
  const zoomed = ['run', survey, '--map', 'dzi', '--tile', '512', '--out', join(scratch, 'survey-out')];
  const map = idOf(await halogrid(...zoomed, ...to));
  await halogrid('index', out, '--to', index);
  nodes[2].child.kill('SIGKILL');
  const long = ['submit', archive, '--op', 'conv:kernel=gaussian-21,as=u8', '--op', 'ldp:order=4', '--batch', '2'];
  const running = idOf(await halogrid(...long, '--out', join(scratch, 'long-out'), ...to));
  await halogrid('submit', archive, '--map', 'png', '--priority', '-5', '--out', join(scratch, 'next-out'), ...to);

  chromium.setGraphicsMode = false;
  browser = await driver.launch({ executablePath: await chromium.executablePath(), args: chromium.args });
  const text = (words) => (page) => page.getByText(words).first().waitFor();
  await take(browser, 'running', `${http}/jobs/${running}`, text('Bound by'));
  await take(browser, 'cluster', http, async (page) => {
    await page.getByText('Live').waitFor();
    // The page knows the throughput from its second answer on.
    await delay(2500);
  });
  await take(browser, 'nodes', `${http}/console/nodes.html`, text('north'));
  await take(browser, 'job', `${http}/jobs/${done}`, async (page) => {
    await page.getByRole('heading', { name: 'Previews' }).waitFor();
    await page.getByRole('img', { name: /^Histogram of/ }).waitFor();
  });
  await take(browser, 'viewer', `${http}/console/viewer.html?job=${map}`, async (page) => {
    await page.getByText(/pixels counted/).waitFor();
    await until(page, "document.getElementById('connection').textContent === ''");
    await delay(500);
  });
  await take(browser, 'frames', `${http}/console/viewer.html?job=${done}&source=150`, async (page) => {
    await page.getByText(/pixels counted/).waitFor();
    await page.getByRole('button', { name: 'Show changes' }).click();
    await page.getByRole('link', { name: 'All details' }).waitFor();
    await until(page, "document.getElementById('connection').textContent === ''");
    await delay(500);
  });
  await take(browser, 'search', `${http}/console/search.html?job=${done}&source=150`, text(/^1\. 1\.0000/));
  await take(browser, 'changes', `${http}/console/changes.html?job=${done}`, () => delay(2500));
  await take(browser, 'submit', `${http}/console/submit.html`, async (page) => {
    await page.getByLabel('A path, a glob or a URI').fill(survey);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByLabel('Output folder').fill(join(scratch, 'submitted'));
    await page.getByRole('button', { name: 'Show the plan' }).click();
    await page.getByRole('button', { name: 'Start the job' }).waitFor();
  });
  console.log(all);
} finally {
  await browser?.close();
  for (const child of children) child.kill('SIGTERM');
  await Promise.all(children.map((child) => child.exitCode ?? child.signalCode ?? once(child, 'exit')));
  rmSync(scratch, { recursive: true });
}
