/** How an operator uses a page: by mouse, or by keyboard alone. */
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';

export interface Hands {
  /** Goes to what has keys of its own, such as a row or a part of a plan. */
  reach(row: Locator): Promise<void>;
  /** Presses it. By keyboard by its keys, as `?` lists them, and where it has none with Tab and Enter. */
  press(what: Locator, keys?: string): Promise<void>;
  /** Writes a text in place of what is there. */
  write(field: Locator, text: string): Promise<void>;
}

export const mouse = (page: Page): Hands => ({
  reach: (row) => row.hover(),
  press: (what) => what.click(),
  write: async (field, text) => {
    await field.click();
    await write(page, text);
  },
});

export const keyboard = (page: Page): Hands => {
  const strike = async (key: string, until: Locator): Promise<void> => {
    await until.waitFor();
    for (let times = 0; !(await isAtHand(until)); times++) {
      assert.ok(times < 60, `${key} does not lead to ${until}`);
      await page.keyboard.press(key);
    }
  };
  return {
    reach: (row) => strike('j', row),
    press: async (what, keys) => {
      await what.waitFor();
      if (keys === undefined) await strike('Tab', what);
      // By key a plan is approved once its end was on the screen.
      if ((await what.getAttribute('data-reads')) !== null)
        await page.evaluate('scrollTo(0, document.body.scrollHeight)');
      for (const key of keys?.split(' ') ?? ['Enter']) await page.keyboard.press(key);
    },
    write: async (field, text) => {
      await strike('Tab', field);
      await write(page, text);
    },
  };
};

const isAtHand = (what: Locator): Promise<boolean> =>
  what.evaluate((element) => element === document.activeElement);

const write = async (page: Page, text: string): Promise<void> => {
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText(text);
};
