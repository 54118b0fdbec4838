import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitLimitMs } from '@halogrid/testing';
import chromium from '@sparticuz/chromium';
import { type Browser, chromium as driver, type Page } from 'playwright-core';

/**
 * Opens the Chromium that comes with the software Vulkan: a real browser on every test machine. WebGL is off, because
 * the console does not need it, and drawing pages with that Vulkan takes more processor time. `args` are additional
 * arguments of Chromium.
 */
export async function openBrowser(args: readonly string[] = []): Promise<Browser> {
  chromium.setGraphicsMode = false;
  return driver.launch({ executablePath: unpacked(), args: [...chromium.args, ...args], headless: true });
}

/**
 * The path of the browser's program. The package would unpack it into the folder of temporary files, which is new in
 * each run of the tests; that takes 2.3 s of processor time. So it is unpacked once, beside the packages.
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
    // Another process has unpacked it meanwhile.
    if (!existsSync(program)) throw error;
  }
  return program;
}

/**
 * Empties every page, because a page of an earlier test would go on drawing the jobs of later ones. Pages are not
 * closed, because this Chromium, which is a single process, ends with its last page.
 */
export async function emptyPages(browser: Browser): Promise<void> {
  const pages = browser.contexts().flatMap((context) => context.pages());
  await Promise.all(pages.map((page) => page.goto('about:blank')));
}

/** Opens a page, and collects the errors on it. */
export async function openPage(browser: Browser, url: string): Promise<{ page: Page; complaints: string[] }> {
  const page = await browser.newPage();
  page.setDefaultTimeout(waitLimitMs);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  // The console also reports content that the page's policy blocks.
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
 * The serious and critical accessibility findings of axe-core on the page, in the light and the dark theme, one per
 * line. The themes differ only in colours.
 */
export async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const lines: string[] = [];
  for (const [colorScheme, options] of [
    ['dark', '{}'],
    ['light', "{ runOnly: ['color-contrast'] }"],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    // As text, because these tests have no DOM types.
    const { violations } = (await page.evaluate(`axe.run(${options})`)) as { violations: Finding[] };
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    for (const { id, nodes } of serious) {
      lines.push(...nodes.map(({ html, failureSummary }) => `${colorScheme}: ${id}: ${html} ${failureSummary}`));
    }
  }
  return lines;
}
