import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import type { TestContext } from 'node:test';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { atEnd } from './at-end.ts';

const SIZES = { wide: { width: 1280, height: 860 }, narrow: { width: 390, height: 844 } } as const;

interface Options extends BrowserContextOptions {
  /** Default: wide. */
  size?: keyof typeof SIZES;
}

/** What a page said that nobody should hear. */
export interface Looked {
  page: Page;
  browser: Browser;
  /** Errors of scripts, refusals by the page's policy, and calls that failed. */
  complaints: string[];
}

export const CHROMIUM = '/usr/bin/chromium';

/** Why a test with a browser is skipped; in CI it fails instead. */
export const noBrowser =
  process.env.CI !== 'true' && !existsSync(CHROMIUM) && 'chromium is not installed';

export const FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];

/** A real browser, closed after the test. */
export const openBrowser = async (t: TestContext): Promise<Browser> => {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  atEnd(t, () => browser.close());
  return browser;
};

/** A page of a real browser, as an operator has it open. */
export const look = async (t: TestContext, url: string, options: Options = {}): Promise<Looked> => {
  const browser = await openBrowser(t);
  const { page, complaints } = await openTab(browser, url, options);
  return { page, browser, complaints };
};

/** Once the page hears of all that happens. */
export const isLive = (page: Page) =>
  page.locator('html[data-live]').waitFor({ state: 'attached' });

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Nothing of the page, as it is shown now, is against WCAG AA or good practice, as far as axe-core can tell. */
export const assertAccessible = async (page: Page): Promise<void> => {
  // Not as an element of the page: its policy runs none.
  await page.evaluate(axe.source);
  const violations = await page.evaluate(async (values) => {
    const { axe: inPage } = globalThis as unknown as { axe: typeof axe };
    const found = await inPage.run(document, { runOnly: { type: 'tag', values } });
    return found.violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ html, failureSummary = '' }) => `${id}: ${help}\n${html}\n${failureSummary}`),
    );
  }, RULES);
  assert.deepEqual(violations, []);
};

/** A tab in a browser of its own cookies and storage. */
export const openTab = async (
  browser: Browser,
  url: string,
  { size = 'wide', ...options }: Options = {},
): Promise<Omit<Looked, 'browser'>> => {
  const context = await browser.newContext({ viewport: SIZES[size], ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('console', (said) => said.type() === 'error' && complaints.push(said.text()));
  await page.goto(url);
  if (options.javaScriptEnabled !== false) await isLive(page);
  return { page, complaints };
};
