import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, type TestContext } from 'node:test';
import type axe from 'axe-core';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { atEnd } from './at-end.ts';
import { CHROMIUM, FLAGS, untilLive } from './chromium.ts';
import { GIVE_UP_MS, until } from './eventually.ts';

export const SIZES = {
  wide: { width: 1280, height: 860 },
  narrow: { width: 390, height: 844 },
} as const;

// An import of a CommonJS package has its text searched for names: of this one that takes longer than all else.
const load = createRequire(import.meta.url);
const { chromium } = load('playwright-core') as typeof import('playwright-core');
const AXE = readFileSync(load.resolve('axe-core/axe.min.js'), 'utf8');

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

/** Why a test with a browser is skipped; in CI it fails instead. */
export const noBrowser =
  process.env.CI !== 'true' && !existsSync(CHROMIUM) && 'chromium-headless-shell is not installed';

let opened: Promise<Browser> | undefined;
after(async () => (await opened)?.close());

/** A real browser. The tests of a file share it one after the other; what one had open is closed after it. */
export const openBrowser = async (t: TestContext): Promise<Browser> => {
  opened ??= chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  const browser = await opened;
  atEnd(t, () => Promise.all(browser.contexts().map((context) => context.close())));
  return browser;
};

/** A page of a real browser, as an operator has it open. */
export const look = async (t: TestContext, url: string, options: Options = {}): Promise<Looked> => {
  const browser = await openBrowser(t);
  const { page, complaints } = await openTab(browser, url, options);
  return { page, browser, complaints };
};

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Nothing of the page, as it is shown now, is against WCAG AA or good practice, as far as axe-core can tell. */
export const assertAccessible = async (page: Page): Promise<void> => {
  // Not as an element of the page: its policy runs none.
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(AXE);
  const violations = await page.evaluate(async (values) => {
    const { axe: inPage } = globalThis as unknown as { axe: typeof axe };
    const runOnly = { type: 'tag', values } as const;
    const found = await inPage.run(document, { runOnly, resultTypes: ['violations'] });
    return found.violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ html, failureSummary = '' }) => `${id}: ${help}\n${html}\n${failureSummary}`),
    );
  }, RULES);
  assert.deepEqual(violations, []);
};

/** Once an element is within the window from top to bottom. */
export const untilInView = (element: Locator): Promise<void> =>
  until(() =>
    element.evaluate((one) => {
      const { top, bottom } = one.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    }),
  );

/** Nothing of the page stands beside what is seen of it. */
export const assertFits = async (page: Page): Promise<void> => {
  const { wide, seen } = await page.evaluate(() => ({
    wide: document.documentElement.scrollWidth,
    seen: document.documentElement.clientWidth,
  }));
  assert.ok(wide <= seen, `${wide} px wide in ${seen} px`);
};

/** A tab in a browser of its own cookies and storage. */
export const openTab = async (
  browser: Browser,
  url: string,
  { size = 'wide', ...options }: Options = {},
): Promise<Omit<Looked, 'browser'>> => {
  const context = await browser.newContext({ viewport: SIZES[size], ...options });
  context.setDefaultTimeout(GIVE_UP_MS);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('console', (said) => said.type() === 'error' && complaints.push(said.text()));
  await page.goto(url);
  if (options.javaScriptEnabled !== false) await untilLive(page);
  return { page, complaints };
};
