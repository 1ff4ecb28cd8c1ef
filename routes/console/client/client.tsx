import { hydrate } from 'preact';
import { PAGES } from '../pages/index.ts';
import { ignoreSecondClicks } from './clicks.ts';
import { keepFocusIn } from './focus.ts';
import { listenForKeys } from './keys.ts';
import { Live, type LiveProps } from './live.tsx';

const text = document.getElementById('begin')?.textContent;
const app = document.getElementById('app');

listenForKeys();
ignoreSecondClicks();
if (app !== null) keepFocusIn(app);
if (text !== undefined && app !== null) {
  const { name, ...begin }: Omit<LiveProps, 'page'> & { name: string } = JSON.parse(text);
  const opened = await PAGES[name]?.open();
  if (opened !== undefined) hydrate(<Live {...begin} page={opened.page} />, app);
}
