import chromium from '@sparticuz/chromium';
import { type Browser, chromium as driver, type Page } from 'playwright-core';

/** The Chromium that comes with the software Vulkan: a real browser, wherever the tests run. */
export async function openBrowser(): Promise<Browser> {
  return driver.launch({ executablePath: await chromium.executablePath(), args: chromium.args, headless: true });
}

/** Opens a page, and keeps what goes wrong on it. */
export async function openPage(browser: Browser, url: string): Promise<{ page: Page; complaints: string[] }> {
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  // What a policy of the page keeps out is told there, too.
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  await page.goto(url);
  return { page, complaints };
}
