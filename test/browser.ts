import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitLimitMs } from '@halogrid/testing';
import chromium from '@sparticuz/chromium';
import { type Browser, chromium as driver, type Page } from 'playwright-core';

/**
 * The Chromium that comes with the software Vulkan: a real browser, wherever the tests run. The console draws without
 * WebGL, and a page that Chromium puts together by that Vulkan takes more processor time. `args` are further ones of
 * its own.
 */
export async function openBrowser(args: readonly string[] = []): Promise<Browser> {
  chromium.setGraphicsMode = false;
  return driver.launch({ executablePath: unpacked(), args: [...chromium.args, ...args], headless: true });
}

/**
 * The program of the browser. The package unpacks it among the temporary files, of which each run of all tests has a
 * folder of its own: that takes 2.3 s of processor time. So it is unpacked once, beside the packages.
 */
function unpacked(): string {
  const about = new URL('../node_modules/@sparticuz/chromium/package.json', import.meta.url);
  const { version } = JSON.parse(readFileSync(about, 'utf8'));
  const folder = fileURLToPath(new URL(`../node_modules/.cache/chromium-${version}`, import.meta.url));
  const program = join(folder, 'chromium');
  if (existsSync(program)) return program;
  mkdirSync(join(folder, '..'), { recursive: true });
  const unfinished = mkdtempSync(`${folder}.`);
  const unpack = "import chromium from '@sparticuz/chromium'; await chromium.executablePath();";
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  execFileSync(process.execPath, ['--input-type=module', '--eval', unpack], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    env: { ...env, TMPDIR: unfinished },
  });
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true });
    // Another process has been faster.
    if (!existsSync(program)) throw error;
  }
  return program;
}

/**
 * Empties every page: one that stays as it is follows the jobs of the tests after its own, and draws them. It is not
 * closed, because this Chromium, which is one process, ends with its last page.
 */
export async function emptyPages(browser: Browser): Promise<void> {
  const pages = browser.contexts().flatMap((context) => context.pages());
  await Promise.all(pages.map((page) => page.goto('about:blank')));
}

/** Opens a page, and keeps what goes wrong on it. */
export async function openPage(browser: Browser, url: string): Promise<{ page: Page; complaints: string[] }> {
  const page = await browser.newPage();
  page.setDefaultTimeout(waitLimitMs);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  // What a policy of the page keeps out is told there, too.
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  await page.goto(url);
  return { page, complaints };
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Finding {
  id: string;
  impact: string;
  nodes: { html: string; failureSummary: string }[];
}

/**
 * What axe-core finds on the page that keeps people out, in dark and in light, a line each: its serious and critical
 * findings. Nothing but colours differs between the two.
 */
export async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const lines: string[] = [];
  for (const [colorScheme, options] of [
    ['dark', '{}'],
    ['light', "{ runOnly: ['color-contrast'] }"],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    // As text: these tests know no types of pages.
    const { violations } = (await page.evaluate(`axe.run(${options})`)) as { violations: Finding[] };
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    for (const { id, nodes } of serious) {
      lines.push(...nodes.map(({ html, failureSummary }) => `${colorScheme}: ${id}: ${html} ${failureSummary}`));
    }
  }
  return lines;
}
