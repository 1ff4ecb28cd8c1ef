import type { Page } from 'playwright-core';

/** Debian's, without what draws windows. */
export const CHROMIUM = '/usr/bin/chromium-headless-shell';

/** The same with all that a person's browser has; it starts slower, and is for what the other has not. */
export const WHOLE_CHROMIUM = '/usr/bin/chromium';

export const FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];

/** Once the page hears of all that happens. */
export const untilLive = (page: Page) =>
  page.locator('html[data-live]').waitFor({ state: 'attached' });
