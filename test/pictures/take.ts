/**
 * Takes the pictures of README.md and of the console's guide, of a workspace that it makes: `npm run pictures`. Each page in
 * light, in dark, and on a small screen.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { connect } from '../../lib/client/client.ts';
import { CHROMIUM, FLAGS, untilLive } from '../helpers/chromium.ts';
import { fillSample, sampleRepository } from './sample.ts';
import { serveAlone } from './serve.ts';

const OUT = join(import.meta.dirname, '../../../routes/console/pictures');
const WIDE = { width: 1280, height: 800 };
const SHOTS = {
  light: { colorScheme: 'light', viewport: WIDE },
  dark: { colorScheme: 'dark', viewport: WIDE },
  narrow: { colorScheme: 'light', viewport: { width: 390, height: 844 } },
} as const;

const takeAll = async (page: Page, url: string, name: string): Promise<void> => {
  for (const [shot, { colorScheme, viewport }] of Object.entries(SHOTS)) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport);
    await page.goto(url);
    await untilLive(page);
    // What is loaded when it is looked at has come by then.
    await page.waitForTimeout(700);
    await page.screenshot({ path: join(OUT, `${name}-${shot}.png`) });
  }
};

const root = mkdtempSync(join(tmpdir(), 'dossier-pictures-'));
const daemon = await serveAlone(join(root, 'workspace'), sampleRepository(root));
const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
try {
  const pages = await fillSample(connect({ url: daemon.url }));
  rmSync(OUT, { recursive: true, force: true });
  const page = await browser.newPage();
  for (const [name, path] of pages) await takeAll(page, daemon.url + path, name);
} finally {
  await browser.close();
  await daemon.end();
  rmSync(root, { recursive: true, force: true });
}
