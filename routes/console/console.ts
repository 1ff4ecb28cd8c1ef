import type { Console } from '../../lib/http/console-page.ts';
import { keyPages } from './keys.ts';
import { KEYS } from './keys-html.ts';
import { loginPages } from './login.ts';
import { STYLE, STYLE_PATH } from './style.ts';

/** The operator's console: what a browser is shown. */
export const operatorConsole: Console = {
  pages: [...keyPages, ...loginPages],
  home: KEYS,
  style: { path: STYLE_PATH, css: STYLE },
};
