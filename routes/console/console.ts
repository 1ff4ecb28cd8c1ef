import type { Console, ConsolePage } from '../../lib/http/console-page.ts';
import { keyPages } from './keys.ts';
import { loginPages } from './login.ts';

// What renders pages is loaded when the first of them is asked for.
const rendering = () => import('./render.tsx');

const refused: ConsolePage['refused'] = async (error) => (await rendering()).showRefusal(error);

/** The operator's console: what a browser is shown. `pages.ts` lists its pages. */
export const operatorConsole: Console = {
  pages: [
    ...keyPages,
    ...loginPages,
    {
      method: 'POST',
      path: '/dashboard/do',
      handler: async (asked) => (await rendering()).doForm(asked),
      refused,
    },
    {
      method: 'GET',
      path: '/dashboard/{path*}',
      handler: async (asked) => (await rendering()).showPage(asked),
      refused,
    },
  ],
  asset: async (name) => (await import('./assets.ts')).asset(name),
};
