/** How pages are drawn: what is drawn everywhere, and what a page alone names. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { assets } from '../../../routes/console/assets.ts';
import { PAGES } from '../../../routes/console/pages/index.ts';

const DIST = new URL('../../../', import.meta.url);
const SHEETS = new URL('../routes/console/style/', DIST);

const selectorsIn = (css: string): string[] =>
  [...css.replaceAll(/\/\*.*?\*\//gs, '').matchAll(/([^{}]+)\{/g)]
    .map(([, selector = '']) => selector.trim())
    .filter((selector) => selector !== '' && !selector.startsWith('@'));

const classesIn = (selectors: readonly string[]): Set<string> =>
  new Set(selectors.flatMap((one) => one.match(/\.[a-z][\w-]*/gi) ?? []));

const sheets = readdirSync(SHEETS).map((file) => file.replace('.css', ''));
const named = new Set(
  Object.values(PAGES).flatMap(({ style }) => (style === '' ? [] : style.split(' '))),
);

describe('the styles of the console', () => {
  it('are all there that a page names', () => {
    assert.deepEqual(
      [...named].filter((name) => !sheets.includes(name)),
      [],
    );
  });

  it('reach no page but those that name them', () => {
    const everywhere = sheets
      .filter((name) => !named.has(name))
      .map((name) => readFileSync(new URL(`${name}.css`, SHEETS), 'utf8'));
    const known = classesIn(selectorsIn(everywhere.join('\n')));
    const built = readFileSync(new URL(`console/${assets.style}`, DIST), 'utf8');
    const free = selectorsIn(built).filter((one) => !one.includes('[data-style~='));
    assert.ok(free.length > 50 && free.length < selectorsIn(built).length);
    assert.deepEqual(
      [...classesIn(free)].filter((name) => !known.has(name)),
      [],
    );
  });
});
