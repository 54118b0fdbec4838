import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sendFile, startServer, type TestServer } from '@halogrid/sources/testing-servers';
import { eventually } from '@halogrid/testing';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { bundleDemo } from '../scripts/bundle-demo.mjs';
import { openBrowser, openPage, seriousFindings } from './browser.ts';
import { readChannels } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { runUndisturbed } from './shared-cluster.ts';

// The page of apps/demo on a host of static files, in a real browser with a software GPU and a simulated camera.

const folder = scratchFolder();
const site = join(folder, 'site');
const picture = fileURLToPath(new URL('../samples/images/grass.png', import.meta.url));
const types: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};
let browser: Browser;
let host: TestServer;

before(async () => {
  await bundleDemo(site);
  host = await startServer((request, response) => {
    const path = request.url === '/' ? 'index.html' : request.url!;
    response.setHeader('content-type', types[extname(path)] ?? 'application/octet-stream');
    sendFile({ bytes: readFileSync(join(site, path)) }, request, response);
  });
  const gpu = ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'];
  const camera = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'];
  browser = await openBrowser([...gpu, ...camera]);
});
after(() => Promise.all([browser?.close(), host?.close()]));

interface Saved {
  op: string;
  device: string;
  counted: number;
  channels: { name: string; bins: number[] }[];
}

async function save(page: Page): Promise<Saved> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save as JSON' }).click(),
  ]);
  return JSON.parse(await text(await download.createReadStream()));
}

/** Waits until the page has handled all requests. */
const idle = (page: Page): Promise<void> => page.locator('main[aria-busy=false]').waitFor();

async function drop(page: Page, name: string, bytes: Uint8Array): Promise<void> {
  // As text: these tests know no types of pages.
  const dataTransfer = await page.evaluateHandle(`(() => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array([${bytes.join()}])], '${name}'));
    return data;
  })()`);
  await page.dispatchEvent('main', 'drop', { dataTransfer });
}

test('a dropped picture gives the same histograms as the program, by WebAssembly and by WebGPU', async () => {
  const { page, complaints } = await openPage(browser, host.origin);
  await page.getByText(/^The only WebGPU adapter is software .* So WebAssembly computes\.$/).waitFor();
  assert.deepEqual(await seriousFindings(page), []);
  await drop(page, 'grass.png', readFileSync(picture));

  const works = [
    [
      'lbp:points=12,radius=2,labels=uniform',
      async () => {
        await page.getByLabel('points').fill('12');
        await page.getByLabel('radius').fill('2');
        // The form takes over values only at the end.
        await page.getByLabel('convention').selectOption('scikit-image');
        await page.getByLabel('labels').selectOption('uniform');
        return 'lbp:convention=scikit-image,points=12,radius=2,labels=uniform';
      },
    ],
    [
      'ldp',
      async () => {
        await page.getByLabel('Kernel').selectOption('ldp');
        return 'ldp';
      },
    ],
  ] as const;
  for (const [i, [op, choose]] of works.entries()) {
    const out = join(folder, String(i));
    await runUndisturbed([picture, '--op', op, '--out', out]);
    const { counted, channels } = readChannels(out);
    const asked = await choose();
    for (const [on, device] of [
      ['wasm', 'WebAssembly'],
      ['webgpu', 'google swiftshader'],
    ] as const) {
      await page.getByLabel('Runs on').selectOption(on);
      await idle(page);
      assert.deepEqual(await save(page), { op: asked, device, counted, channels });
      assert.equal(await page.locator('#device').innerText(), on === 'wasm' ? device : `WebGPU, ${device}`);
    }
  }
  assert.equal(await page.getByRole('img', { name: /^Map, direction \d+°$/ }).count(), 4);
  assert.equal(await page.getByRole('img', { name: /^Histogram of \d+°: 256 bins/ }).count(), 4);
  assert.deepEqual(await seriousFindings(page), []);
  assert.deepEqual(complaints, []);
  await page.goto('about:blank');
});

test('the camera is computed frame by frame, until it is stopped', async () => {
  const { page, complaints } = await openPage(browser, host.origin);
  await page.getByRole('button', { name: 'Use camera' }).click();
  await page.getByText('1280 x 720').waitFor();
  await page
    .locator('#rate')
    .filter({ hasText: /^[1-9]/ })
    .waitFor();
  const first = await save(page);
  await eventually('another frame', async () => {
    const other = await save(page);
    return JSON.stringify(other.channels) !== JSON.stringify(first.channels);
  });
  // All pixels without the border.
  assert.equal(first.counted, 1278 * 718);
  assert.deepEqual(await seriousFindings(page), []);
  await page.getByRole('button', { name: 'Stop camera' }).click();
  await page.getByRole('button', { name: 'Use camera' }).waitFor();
  assert.deepEqual(complaints, []);
  await page.goto('about:blank');
});

test('missing and wrong things are reported, and the page goes on', async () => {
  const context = await browser.newContext();
  await context.addInitScript("Object.defineProperty(navigator, 'gpu', { value: undefined })");
  const page = await context.newPage();
  await page.goto(host.origin);
  await page.getByText(/^WebGPU is missing here: .* So WebAssembly computes\.$/).waitFor();
  await page.getByText('640 x 360').waitFor();
  const alert = page.getByRole('alert');
  await page.getByLabel('Runs on').selectOption('webgpu');
  await alert.filter({ hasText: 'WebGPU is missing here' }).waitFor();
  await page.getByLabel('Runs on').selectOption('wasm');
  await page.getByLabel('radius').fill('99');
  await page.getByLabel('radius').press('Enter');
  await alert.filter({ hasText: "lbp:radius but received '99'" }).waitFor();
  await drop(page, 'notes.txt', Uint8Array.of(1, 2, 3));
  await alert.filter({ hasText: 'notes.txt is not a picture that this browser can read.' }).waitFor();
  const deep = await sharp(Buffer.alloc(36, 7), { raw: { width: 4, height: 3, channels: 3 } })
    .png()
    .toBuffer();
  await drop(page, 'small.png', deep);
  await page.getByText('4 x 3').waitFor();
  await page.goto('about:blank');
});
