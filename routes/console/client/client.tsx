import { hydrate } from 'preact';
import type { At, Frame, Page } from '../common/page.ts';
import { PAGES } from '../pages/index.ts';
import { keepFocusIn } from './focus.ts';
import { listenForKeys } from './keys.ts';
import { Live } from './live.tsx';

/** The data that the document embeds. */
interface Begin {
  frame: Frame;
  name: string;
  at: At;
  shown?: object;
  worker: string;
}

const text = document.getElementById('begin')?.textContent;
const app = document.getElementById('app');

listenForKeys();
if (app !== null) keepFocusIn(app);
if (text !== undefined && app !== null) {
  const { name, ...begin }: Begin = JSON.parse(text);
  const page = (await PAGES[name]?.open()) as Page;
  hydrate(<Live {...begin} page={page} />, app);
}
