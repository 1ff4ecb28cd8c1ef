/** Every page of the console, as it is listed: none of them can be forgotten here. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { connect } from '../../../lib/client/client.ts';
import {
  assertAccessible,
  assertFits,
  type Looked,
  look,
  noBrowser,
  openTab,
  SIZES,
} from '../../helpers/browser.ts';
import { untilLive } from '../../helpers/chromium.ts';
import { startHere } from '../../helpers/daemon-here.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';
import { fillSample, sampleRepository } from '../../pictures/sample.ts';

/** What a page shows a moment after it is live. */
const LATER: Readonly<Record<string, string>> = { diff: '.diff-row.file' };

interface Tabs extends Looked {
  /** One without scripts. */
  plain: Page;
}

const survey = async ({ page, plain, complaints }: Tabs, name: string, url: string) => {
  await page.goto(url);
  await untilLive(page);
  await page
    .locator(LATER[name] ?? 'h1')
    .first()
    .waitFor();
  // No colour depends on the size, and no place on the light: each is looked at once.
  for (const [size, colorScheme] of WAYS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(SIZES[size]);
    await assertAccessible(page);
    await assertHeaderFits(page);
  }
  assert.deepEqual(await page.evaluate(confusedKeys), []);
  await plain.goto(url);
  const titles = await Promise.all([plain, page].map((one) => one.locator('h1').textContent()));
  assert.equal(titles[0], titles[1]);
  await assertHeaderFits(plain);
  assert.deepEqual(complaints, []);
};

const WAYS = [
  ['wide', 'light'],
  ['narrow', 'dark'],
] as const;

const assertHeaderFits = async (page: Page): Promise<void> => {
  await assertFits(page);
  const header = page.locator('.bar nav');
  const hidden = await header.evaluate((nav) => nav.scrollWidth - nav.clientWidth);
  assert.ok(hidden <= 0, `${hidden} pixels of the header are hidden`);
};

/** Runs in the page: the keys that mean two things on it, and those that another one stands in the way of. */
const confusedKeys = (): string[] => {
  const meanings = new Map<string, Set<string>>();
  for (const one of document.querySelectorAll<HTMLElement>('[data-key]')) {
    const { key = '' } = one.dataset;
    // Of rows each has its own.
    const name = one.closest('[data-row]') ? 'of the row' : one.ariaLabel || one.textContent || '';
    meanings.set(key, (meanings.get(key) ?? new Set()).add(name));
  }
  return [...meanings].flatMap(([key, names]) => [
    ...(names.size > 1 ? [`${key}: ${[...names].join(', ')}`] : []),
    ...(key.includes(' ') && meanings.has(key[0] ?? '') ? [`${key} after ${key[0]}`] : []),
  ]);
};

describe('every page of the console', { skip: noBrowser }, () => {
  it('can be used by everybody: at any size, in any light, by keyboard, without scripts', async (t) => {
    const root = temporaryDirectory(t);
    const args = ['--workspace', `${root}/workspace`, '--repo', sampleRepository(root)];
    const { url } = await startHere(t, args);
    const looked = await look(t, `${url}/dashboard`);
    const still = { size: 'narrow', javaScriptEnabled: false } as const;
    const { page: plain } = await openTab(looked.browser, `${url}/dashboard`, still);
    const tabs = { ...looked, plain };
    for (const [name, path] of await fillSample(connect({ url })))
      await t.test(name, () => survey(tabs, name, url + path));
  });
});
