import assert from 'node:assert/strict';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { JobState, JobStatus, NodeStatus } from '@halogrid/proto';
import { sendFile, startServer } from '@halogrid/sources/testing-servers';
import { isThorough, matched, pause, standStill } from '@halogrid/testing';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { emptyPages, openBrowser, openPage, seriousFindings } from './browser.ts';
import { Cluster } from './cluster.ts';
import { command } from './command.ts';
import { type Ended, Halogrid } from './halogrid.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { hashFiles } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { viewWithChange } from './view-with-change.ts';

// The coordinator's pages in a real browser, with real processes.

const folder = scratchFolder();
const source = join(folder, 'picture.pgm');
const index = join(folder, 'frames.index');
let browser: Browser;
let cluster: Cluster;
/** The link to the job's page that a command printed. */
const pageIn = ({ stderr }: Ended): string => matched(stderr, /^Page: (http:\S+)$/m)[1]!;

before(async () => {
  writePgm(source, drawPicture(200, 200));
  mkdirSync(index);
  [browser, cluster] = await Promise.all([openBrowser(), Cluster.start({ options: ['--index', index] })]);
});
afterEach(() => browser && emptyPages(browser));
after(() => Promise.all([browser?.close(), cluster?.stop()]));

test('the page shows nodes, and follows jobs to their end', async () => {
  const { page, complaints } = await openPage(browser, cluster.http);
  await page.getByText('Live').waitFor();
  await page.getByRole('cell', { name: 'n1' }).waitFor();
  await page.getByRole('img', { name: /^Throughput over the last/ }).waitFor();

  // Users choose the names of output folders, and a name must never become markup.
  const out = join(folder, '<img src=x onerror=alert(1)>');
  const { code, stderr } = await cluster.halogrid(['run', source, '--out', out, '--op', 'lbp:labels=uniform']);
  assert.equal(code, 0, stderr);
  const row = page.getByRole('row').filter({ hasText: out });
  await row.getByRole('cell', { name: 'complete' }).waitFor();
  assert.match(await row.innerText(), /lbp:.*labels=uniform/);
  assert.deepEqual(await seriousFindings(page), []);
  assert.equal(await page.locator('#jobs img').count(), 0);

  await row.getByRole('link').press('Enter');
  await page.getByText('100 %, 1 of 1 shard').waitFor();
  assert.match(page.url(), /\/jobs\/[^/]+$/);
  await page.getByText(/^Bound by .*\.$/).waitFor();
  await page.getByRole('img', { name: /^Throughput over/ }).waitFor();
  await page.getByRole('img', { name: 'When n1 held shards' }).waitFor();
  await page.getByRole('row', { name: /^computing .* 1$/ }).waitFor();
  await page.getByText(out).waitFor();
  assert.equal(await page.locator('img[src="x"]').count(), 0);
  // P + 2 labels (Ojala, Pietikäinen, Mäenpää 2002, equation 9). Without its border the picture has 198 x 198 codes.
  await page.getByText(`10 bins, ${(198 * 198).toLocaleString('en')} pixels counted`).waitFor();
  const bars = () =>
    page
      .getByRole('img', { name: /^Histogram of/ })
      .locator('.bins')
      .getAttribute('d');
  const linear = await bars();
  await page.getByRole('button', { name: 'log' }).press('Enter');
  assert.notEqual(await bars(), linear);
  // Pictures are loaded shortly before they come into view.
  await page.getByRole('heading', { name: 'Previews' }).scrollIntoViewIfNeeded();
  await page.getByRole('img', { name: 'Source picture' }).waitFor();
  await page.getByRole('img', { name: 'Map of picture' }).waitFor();
  assert.deepEqual(await seriousFindings(page), []);
  assert.deepEqual(complaints, []);

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'histogram.json' }).press('Enter'),
  ]);
  assert.equal(JSON.parse(readFileSync(await download.path(), 'utf8')).counted, 198 * 198);

  // The command on the page, exactly as it is shown, copies all files.
  const told = await page.locator('#results code').innerText();
  const copy = join(folder, 'copy');
  const copied = await command(
    told
      .split(' ')
      .slice(1)
      .map((word) => (word === 'FOLDER' ? copy : word)),
  );
  assert.equal(copied.code, 0, `${told}: ${copied.stderr}`);
  assert.deepEqual(hashFiles(copy), hashFiles(out));
  const [traced] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'trace', exact: true }).press('Enter'),
  ]);
  assert.match(traced.suggestedFilename(), /^halogrid-trace-.+\.json$/);
  assert.ok(JSON.parse(readFileSync(await traced.path(), 'utf8')).traceEvents.length > 0);
  const before = page.url();
  await page.getByRole('button', { name: 'Run again' }).press('Enter');
  await page.waitForURL((url) => url.href !== before && url.pathname.startsWith('/jobs/'));
  await page.getByText('100 %', { exact: false }).first().waitFor();
});

test('a job is composed on a page, planned, started and watched to its end', async () => {
  const sources = join(folder, 'a <b>folder');
  mkdirSync(sources);
  for (const name of ['1.pgm', '2.pgm']) await writePgm(join(sources, name), drawPicture(200, 200));
  const { page, complaints } = await openPage(browser, `${cluster.http}/console/submit.html`);
  await page.getByLabel('A path, a glob or a URI').fill(join(sources, '*.pgm'));
  await page.getByRole('button', { name: 'Add', exact: true }).press('Enter');
  await page.getByLabel('labels').selectOption('uniform');
  await page.getByLabel('Maps').selectOption('png');
  const out = join(folder, 'submitted');
  await page.getByLabel('Output folder').fill(out);
  await page.getByLabel('points').fill('3');
  await page.getByRole('button', { name: 'Show the plan' }).press('Enter');
  await page.getByText("Expected a whole number from 4 to 24 for lbp:points but received '3'").waitFor();
  await page.getByLabel('points').fill('8');
  // What of images is read: the texts of the command's options, checked by the page or the coordinator.
  for (const [field, wrong, sentence] of [
    ['Bands', '1;2', "Expected numbers from 1, such as 1,2,4, or all, but received '1;2'"],
    ['Bands', '0', "Expected numbers from 1, such as 1,2,4, or all, but received '0'"],
    ['Bands', '70000', 'Expected numbers from 1 to 65535, each once and 1024 at most'],
    ['Scale', '5', "Expected two numbers and u8 or u16, as in -1,1 or 0,3000,u16, but received '5'"],
    ['Scale', '3,2', 'Expected two numbers, the lower one first'],
    ['Level', 'half', "'half'"],
    ['Page', 'one', "Expected the number of a page from 1 but received 'one'"],
  ] as const) {
    await page.getByRole('textbox', { name: field }).fill(wrong);
    await page.getByRole('button', { name: 'Show the plan' }).press('Enter');
    await page.getByText(sentence).waitFor();
    await page.getByRole('textbox', { name: field }).fill('');
  }
  await page.getByRole('textbox', { name: 'Level' }).fill('0');
  await page.getByRole('textbox', { name: 'Page' }).fill('1');
  await page.getByRole('button', { name: 'Show the plan' }).press('Enter');
  await page.getByText('80 kpx', { exact: true }).waitFor();
  assert.deepEqual(await seriousFindings(page), []);
  await page.getByRole('button', { name: 'Start the job' }).press('Enter');
  await page.getByText('complete', { exact: true }).waitFor();
  await page.getByText('lbp:labels=uniform').first().waitFor();
  assert.deepEqual(
    complaints.filter((one) => !one.includes('400 (Bad Request)')),
    [],
  );
  assert.equal(JSON.parse(readFileSync(join(out, 'job.json'), 'utf8')).counts.frames, 2);
});

test('single cells of a running job show the results so far, and all sources once it is complete', async (t) => {
  const frames = join(folder, 'celled');
  mkdirSync(frames);
  // A batch is planned only when the next frame comes.
  for (let i = 0; i < 8; i++) await writePgm(join(frames, `${i}.pgm`), drawPicture(64, 48, i));
  // The server of the last source answers when the job is submitted; its answer to the listing is held back.
  const held = Promise.withResolvers<void>();
  const bytes = readFileSync(join(frames, '0.pgm'));
  let isKnown = false;
  const web = await startServer(async (request, response) => {
    if (isKnown) await held.promise;
    isKnown = true;
    sendFile({ bytes }, request, response);
  });
  t.after(() => web.close());
  const sources = [frames, `${web.origin}/last.pgm`];
  const options = ['--out', join(folder, 'celled-out'), '--grid', '2x3', '--op', 'lbp', '--border', 'reflect'];
  const submitted = await cluster.halogrid(['submit', ...sources, ...options, '--batch', '1']);
  assert.equal(submitted.code, 0, submitted.stderr);
  const { page, complaints } = await openPage(browser, pageIn(submitted));
  const pixels = (count: number, width: number, height: number) => (count * width * height).toLocaleString('en');
  await page.getByText(`256 bins, ${pixels(7, 64, 48)} pixels counted`).waitFor();
  await page.getByRole('combobox', { name: 'Cell' }).selectOption('row 1, column 2');
  // 64 columns in three cells: the last one begins at column 42.
  await page.getByText(`256 bins, ${pixels(7, 22, 24)} counts in this cell of the first 7 sources`).waitFor();
  assert.deepEqual(await seriousFindings(page), []);
  held.resolve();
  await page.getByText('complete', { exact: true }).waitFor();
  await page.getByText(`256 bins, ${pixels(9, 22, 24)} counts in this cell`, { exact: true }).waitFor();
  assert.equal(await page.getByRole('combobox', { name: 'Cell' }).inputValue(), 'row 1, column 2');
  assert.deepEqual(complaints, []);
});

test('the viewer shows a source and its map side by side, and the map also from a disk', async () => {
  const large = join(folder, 'large.pgm');
  await writePgm(large, drawPicture(2500, 1400));
  const out = join(folder, 'large-out');
  const pipelines = ['--pipeline', 'codes=lbp', '--pipeline', 'uniform=lbp:labels=uniform'];
  const asked = [...pipelines, '--map', 'dzi', '--grid', '1x2', '--out', out];
  const ran = await cluster.halogrid(['run', large, source, ...asked]);
  assert.equal(ran.code, 0, ran.stderr);
  const link = pageIn(ran);
  const { page, complaints } = await openPage(browser, link);
  // The right halves of both, without the border, which has no codes.
  await page.getByRole('combobox', { name: 'Cell' }).selectOption('row 0, column 1');
  const inCell = 1249 * 1398 + 99 * 198;
  await page.getByText(`256 bins, ${inCell.toLocaleString('en')} counts in this cell`).waitFor();
  await page.getByRole('link', { name: 'open viewer' }).press('Enter');
  await page.getByText('Source, 2500 × 1400 pixels').waitFor();
  await page.getByText('1 of 2', { exact: true }).waitFor();
  // 256 bins. Without its border the picture has one code per pixel.
  await page.getByText(`256 bins, ${(2498 * 1398).toLocaleString('en')} pixels counted`).waitFor();
  await page.getByLabel('Cell').selectOption('row 0, column 1');
  await zoomToPixels(page, 'large', 12);
  await page.getByLabel('Pipeline').selectOption('uniform');
  await page.getByText(`10 bins, ${(1249 * 1398).toLocaleString('en')} counts in this cell`).waitFor();
  assert.deepEqual(await seriousFindings(page), []);
  await page.getByRole('button', { name: 'Next frame' }).press('Enter');
  await page.getByText('Source, 200 × 200 pixels').waitFor();
  assert.match(page.url(), /source=1$/);
  assert.deepEqual(complaints, []);

  const disk = await openPage(browser, pathToFileURL(join(out, 'pipelines', 'codes', 'maps', 'index.html')).href);
  await disk.page.getByText('2500 × 1400 pixels').waitFor();
  await disk.page.locator('#map canvas').first().waitFor();
  await disk.page.waitForFunction('document.readyState === "complete" && viewer.world.getItemCount() === 1');
  assert.deepEqual(disk.complaints, []);
});

/** HALOGRID_MAP_SIDE=30000 tests the documented size, which takes a minute. */
const side = Number(process.env.HALOGRID_MAP_SIDE ?? 12_000);

test(`a map of ${side} x ${side} pixels can be zoomed to single pixels`, { skip: !isThorough }, async () => {
  const huge = join(folder, 'huge.pgm');
  writeRepeated(huge, side);
  const ran = await cluster.halogrid(['run', huge, '--map', 'dzi', '--out', join(folder, 'huge-out')]);
  assert.equal(ran.code, 0, ran.stderr);
  const { page, complaints } = await openPage(browser, pageIn(ran));
  await page.getByRole('link', { name: 'open viewer' }).press('Enter');
  await page.getByText(`Source, ${side} × ${side} pixels`).waitFor();
  await page.getByText(`256 bins, ${((side - 2) ** 2).toLocaleString('en')} pixels counted`).waitFor();
  await zoomToPixels(page, 'huge', Math.ceil(Math.log2(side)));
  assert.deepEqual(complaints, []);
});

/** Zooms until the map shows its last level, and the source a part at full resolution. */
async function zoomToPixels(page: Page, name: string, level: number): Promise<void> {
  const asWhole = [
    page.waitForResponse((response) =>
      new RegExp(`/maps/${name}_files/${level}/\\d+_\\d+\\.png$`).test(response.url()),
    ),
    page.waitForResponse(/\/picture\?index=0&x=\d+&y=\d+&width=512&height=512&side=512$/),
  ];
  let isWhole = false;
  const whole = Promise.all(asWhole).then(() => {
    isWhole = true;
  });
  // Repeats, because zooming has an effect only once the pictures are loaded.
  while (!isWhole) {
    await page.getByRole('button', { name: 'Zoom in' }).press('Enter');
    await Promise.race([whole, pause(300)]);
  }
}

/** Writes a square picture with repeated lines: this takes only seconds, and each part shows something. */
function writeRepeated(path: string, side: number): void {
  const { pixels } = drawPicture(side, 16);
  const file = openSync(path, 'w');
  writeSync(file, `P5\n${side} ${side}\n255\n`);
  for (let row = 0; row < side; row += 16) writeSync(file, pixels, 0, Math.min(16, side - row) * side);
  closeSync(file);
}

test('a job is cancelled from its page after a question, and an unknown job is reported as text', async (t) => {
  // With the node stopped, the job cannot end before it is cancelled.
  t.after(standStill(cluster.nodes[0]!.pid));
  const submitted = await cluster.halogrid(['submit', source, '--out', join(folder, 'cancelled')]);
  const link = pageIn(submitted);
  const { page, complaints } = await openPage(browser, link);
  await page.getByRole('button', { name: 'Cancel' }).press('Enter');
  assert.deepEqual(await seriousFindings(page), []);
  await page.getByRole('button', { name: 'Cancel the job' }).press('Enter');
  await page.getByText(/^ended at \d+ %/).waitFor();
  assert.equal((await cluster.job(submitted.stdout.trim())).state, JobState.CANCELLED);
  assert.deepEqual(complaints, []);

  await page.goto(`${cluster.http}/jobs/${encodeURIComponent('<img src=x onerror=alert(1)>')}`);
  await page.getByText("There is no job '<img src=x onerror=alert(1)>'").waitFor();
  assert.equal(await page.locator('main img').count(), 0);
});

test('the page of nodes lists attached nodes, and nodes that are gone with the reason, and their job goes on', async (t) => {
  const { page, complaints } = await openPage(browser, `${cluster.http}/console/nodes.html`);
  // By the exact name, because a card also shows paths with any letters.
  const cardOf = (name: string) =>
    page.getByRole('listitem').filter({ has: page.getByRole('heading').getByText(name, { exact: true }) });
  const card = cardOf('n1');
  await card.getByText(/for reading and decoding$/).waitFor();
  const shared = join(folder, 'shared');
  mkdirSync(shared);
  for (let i = 0; i < 8; i++) await writePgm(join(shared, `${i}.pgm`), drawPicture(200, 200, i));
  const job = [shared, '--batch', '1', '--out', join(folder, 'shared-out')];
  // The node shows that it can do this job, so that it is leased shards of it at once the next time.
  assert.equal((await cluster.halogrid(['run', ...job])).code, 0);
  const killed = await cluster.startNode('doomed');
  await cardOf('doomed').waitFor();
  assert.deepEqual(await seriousFindings(page), []);
  // The other node is stopped, and so the job that both work on cannot end.
  const goOn = standStill(cluster.nodes[0]!.pid);
  t.after(goOn);
  const submitted = await cluster.halogrid(['submit', ...job, '--fresh']);
  await card.getByText(/^[1-8] shards?, .* of /).waitFor();
  process.kill(killed.pid, 'SIGKILL');
  await killed.program.ended;
  cluster.nodes.pop();
  await page.getByRole('row', { name: /^doomed .* Its connection broke/ }).waitFor();
  assert.deepEqual(await seriousFindings(page), []);
  goOn();
  await page.goto(pageIn(submitted));
  await page.getByText('100 %, 8 of 8 shards').waitFor();
  await page.getByText('complete', { exact: true }).waitFor();
  await page.goto(`${cluster.http}/console/nodes.html`);
  const back = await cluster.startNode('doomed');
  await cardOf('doomed').waitFor();
  back.program.signal('SIGTERM');
  await back.program.ended;
  cluster.nodes.pop();
  assert.deepEqual(complaints, []);
});

test('the page shows why inputs are quarantined, and marks a job that merged nothing as bad', async () => {
  for (const name of ['empty-1.png', 'empty-2.png']) writeFileSync(join(folder, name), '');
  const bad = join(folder, 'empty-*.png');
  const some = await cluster.halogrid(['run', source, bad, '--out', join(folder, 'some')]);
  const none = await cluster.halogrid(['run', bad, '--out', join(folder, 'none')]);
  assert.deepEqual([some.code, none.code], [3, 3], none.stderr);
  const { page, complaints } = await openPage(browser, cluster.http);
  const reason = /^2 × decode: .*empty.*, e\.g\. .*empty-1\.png$/;
  await page.getByRole('cell', { name: reason }).first().waitFor();
  assert.equal(await page.getByRole('cell', { name: reason }).count(), 2);
  const rowOf = (out: string) => page.getByRole('row').filter({ hasText: join(folder, out) });
  const complete = rowOf('some').getByRole('cell', { name: 'complete', exact: true });
  assert.equal(await complete.getAttribute('class'), 'good');
  const nothing = rowOf('none').getByRole('cell', {
    name: 'complete, but the results are empty: all 2 inputs are quarantined',
  });
  assert.equal(await nothing.getAttribute('class'), 'bad');

  await rowOf('some').getByRole('link').first().press('Enter');
  await page.getByText(/^2 × decode: .*empty/).press('Enter');
  await page.getByText(join(folder, 'empty-2.png'), { exact: true }).waitFor();
  const [errors] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'errors.jsonl' }).first().press('Enter'),
  ]);
  assert.equal(
    readFileSync(await errors.path(), 'utf8')
      .trim()
      .split('\n').length,
    2,
  );
  assert.deepEqual(complaints, []);
});

test('the page shows what nodes lack and what jobs wait for', async () => {
  const { page } = await openPage(browser, 'about:blank');
  const answer = (path: string, body: object) =>
    page.route(`**/api/v1/${path}*`, (route) => route.fulfill({ json: body }));
  const lacks = [{ need: 'read file:///data/archive', reason: 'EACCES: permission denied', sinceMs: 1 }];
  const waiting = 'No attached node can read /data/archive';
  const spec = { pipeline: { operations: [] }, out: 'file:///out' };
  const job = JobStatus.fromPartial({ jobId: 'j', state: JobState.RUNNING, waiting, spec });
  await answer('nodes', { nodes: [NodeStatus.fromPartial({ nodeId: 'n', name: 'left', lacks })] });
  await answer('jobs', { jobs: [{ ...job, asked: [] }] });
  await page.goto(cluster.http);
  await page.getByRole('cell', { name: 'left cannot read /data/archive: EACCES: permission denied' }).waitFor();
  await page.getByRole('cell', { name: waiting }).waitFor();
  assert.equal(await page.getByRole('cell', { name: 'waiting', exact: true }).getAttribute('class'), 'wait');
});

test('a part of a dropped picture is found in its cell and shown beside the map, and changes are shown before and after', async () => {
  const [frames, out] = [join(folder, 'frames'), join(folder, 'frames-out')];
  mkdirSync(frames);
  for (let i = 0; i < 80; i++) await writePgm(join(frames, `${String(i).padStart(2, '0')}.pgm`), viewWithChange(i));
  // A wide picture that Exif asks to rotate: pixels count as they are stored.
  const { pixels, ...size } = drawPicture(96, 64);
  const gray = sharp(pixels, { raw: { ...size, channels: 1 } });
  const turned = await gray.jpeg({ quality: 95 }).withMetadata({ orientation: 6 }).toBuffer();
  writeFileSync(join(frames, 'turned.jpg'), turned);
  const ran = await cluster.halogrid(['run', frames, '--grid', '2x2', '--map', 'png', '--out', out]);
  const indexed = await command(['index', out, '--to', index]);
  assert.deepEqual([ran.code, indexed.code], [0, 0], ran.stderr + indexed.stderr);

  const { page, complaints } = await openPage(browser, `${cluster.http}/console/search.html`);
  await page.getByText('81 frames, lbp:').waitFor();
  // As text, because these tests have no DOM types.
  const dropped = await page.evaluateHandle(`(() => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array([${turned.join()}])], 'query.jpg', { type: 'image/jpeg' }));
    return data;
  })()`);
  await page.dispatchEvent('#drop', 'drop', { dataTransfer: dropped });
  const picture = (await page.locator('#picture img').boundingBox())!;
  assert.deepEqual([picture.width, picture.height], [size.width, size.height]);
  // Draws a region over the lower right cell and past the edge.
  await page.mouse.move(picture.x + size.width / 2, picture.y + size.height / 2);
  await page.mouse.down();
  await page.mouse.move(picture.x + 2 * size.width, picture.y + 2 * size.height);
  await page.mouse.up();
  const region = ['X', 'Y', 'Width', 'Height'].map((label) => page.getByLabel(label, { exact: true }).inputValue());
  assert.deepEqual(await Promise.all(region), ['48', '32', '48', '32']);
  await page.getByLabel('Find it anywhere in a frame').check();
  await page.getByRole('button', { name: 'Search', exact: true }).press('Enter');
  const best = page.locator('#results li').first();
  await best.getByText('1. 1.0000 · cell 1,1').waitFor();
  assert.match(await best.innerText(), /turned\.jpg/);
  assert.deepEqual(await seriousFindings(page), []);
  await best.getByRole('button').first().press('Enter');
  await page.getByRole('img', { name: 'Frame turned.jpg' }).waitFor();
  await page.getByRole('img', { name: 'Map of turned.jpg' }).waitFor();
  await page.getByRole('button', { name: 'Close' }).press('Enter');

  await page.getByLabel('X', { exact: true }).fill('90');
  await page.getByRole('button', { name: 'Search', exact: true }).press('Enter');
  await page.getByText('Expected X, Y, width and height of a region inside the 96 x 64 pixels of the image').waitFor();
  assert.deepEqual(complaints, []);

  await page.goto(cluster.http);
  await page.getByRole('row').filter({ hasText: out }).getByRole('link').press('Enter');
  await page.getByRole('link', { name: 'show changes' }).press('Enter');
  const left = page.getByRole('button', { name: /^left, frame 50 to frame \d+, strength 0\.\d+, 1 of 4 cells$/ });
  // Both in the timeline and in the list.
  assert.equal(
    await left
      .first()
      .waitFor()
      .then(() => left.count()),
    2,
  );
  assert.deepEqual(await seriousFindings(page), []);
  await left.first().press('Enter');
  await page.getByRole('img', { name: 'Before: 49.pgm' }).waitFor();
  await page.getByRole('img', { name: /^After: [5-7]\d\.pgm$/ }).waitFor();

  // From a change to its frame in the viewer, along the archive, and on to similar frames.
  await page.getByRole('button', { name: /^After: [5-7]\d\.pgm$/ }).press('Enter');
  await page.getByRole('link', { name: 'open viewer' }).press('Enter');
  await page.getByText(/^[5-7]\d of 81$/).waitFor();
  await page.getByRole('button', { name: 'Frame 1, 00.pgm' }).press('Enter');
  await page.getByText('1 of 81', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'near this frame' }).press('Enter');
  await page.getByRole('button', { name: 'Frame 2, 01.pgm' }).waitFor();
  await page.getByRole('button', { name: 'Show changes' }).press('Enter');
  await left.first().press('Enter');
  await page.getByText(/^[5-7]\d of 81$/).waitFor();
  const cell = page.getByRole('combobox', { name: 'Cell' });
  const source = page.locator('#source');
  await source.locator('canvas').first().waitFor();
  await page.getByText(/pixels counted/).waitFor();
  // Pointing works only once the picture is loaded.
  await page.locator('#connection:empty').waitFor({ state: 'attached' });
  await source.hover({ position: { x: 3 * ((await source.boundingBox())!.width / 4), y: 200 } });
  assert.match(await cell.inputValue(), /^row [01], column 1$/);
  await page.locator('#source .cell').waitFor();
  await cell.hover();
  assert.equal(await cell.inputValue(), 'all cells');
  assert.deepEqual(await seriousFindings(page), []);
  await page.getByRole('link', { name: 'Search for similar frames' }).press('Enter');
  await page.locator('#results li').first().getByText('1. 1.0000').waitFor();
  assert.deepEqual(complaints, []);
});

test('if the coordinator needs tokens, the page asks for one, and again after a wrong one; it says that there is no job yet, and that the coordinator is gone', async () => {
  const tokens = join(folder, 'tokens');
  const token = 'a-token-that-may-read';
  writeFileSync(tokens, `read watcher ${token}\n`, { mode: 0o600 });
  const anyPort = '127.0.0.1:0';
  const options = ['--listen', anyPort, '--http', anyPort, '--ledger', join(folder, 'ledger.sqlite')];
  const coordinator = new Halogrid(['coordinator', ...options, '--tokens', tokens, '--log-level', 'warn']);
  const { http } = await coordinator.firstLine;
  const end = async () => {
    coordinator.signal('SIGTERM');
    await coordinator.ended;
  };
  try {
    const { page } = await openPage(browser, `http://127.0.0.1:${http}`);
    await page.getByLabel('Token', { exact: true }).waitFor();
    assert.deepEqual(await seriousFindings(page), []);
    for (const given of ['not-the-token-at-all', token]) {
      await page.getByLabel('Token', { exact: true }).fill(given);
      await page.getByRole('button', { name: 'Continue' }).click();
    }
    await page.getByText('Live').waitFor();
    await page.getByText('No jobs yet').waitFor();
    await end();
    await page.getByText('No answer from the coordinator').waitFor();
  } finally {
    await end();
  }
});
