import type { AttentionItem } from '../../../lib/client/client.ts';
import { browserApi } from '../parts/form.tsx';

let known: ReadonlySet<string> | undefined;

/** Shows a browser notification for each new inbox item if the operator allowed it and the tab is hidden. */
export const notify = (): void => {
  if (!('Notification' in globalThis) || Notification.permission !== 'granted') return;
  void browserApi
    .call('GET /attention')
    .then(showNew)
    .catch(() => undefined);
};

const showNew = (items: readonly AttentionItem[]): void => {
  const news = items.filter(({ id }) => known?.has(id) === false);
  known = new Set(items.map(({ id }) => id));
  if (document.visibilityState === 'hidden') for (const item of news) show(item);
};

// Every tab notifies; the tag makes the browser show one notification.
const show = ({ id, title, message }: AttentionItem): void => {
  const notice = new Notification(title, { body: message, tag: id });
  notice.onclick = () => {
    globalThis.focus();
    location.assign('/dashboard');
  };
};

/** Marks the page's icon while the inbox has items. */
export const markIcon = (waiting: number): void => {
  const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]');
  if (icon === null) return;
  icon.dataset.plain ??= icon.href;
  const mark = "%3Ccircle cx='12' cy='4' r='4' fill='%23d1242f'/%3E%3C/svg%3E";
  const { plain } = icon.dataset;
  icon.href = waiting === 0 ? plain : plain.replace('%3C/svg%3E', mark);
};
