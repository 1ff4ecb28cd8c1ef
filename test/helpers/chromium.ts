import type { Page } from 'playwright-core';

/** Debian's, without what draws windows. */
export const CHROMIUM = '/usr/bin/chromium-headless-shell';

export const FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];

/** Once the page hears of all that happens. */
export const isLive = (page: Page) =>
  page.locator('html[data-live]').waitFor({ state: 'attached' });
