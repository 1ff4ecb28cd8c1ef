/** How long one waits for the second key of two, in milliseconds. */
const PATIENCE_MS = 800;

/** Makes the whole console usable by keyboard: what has `data-key` is pressed by it, in the row at hand before elsewhere. */
export const listenForKeys = (): void => {
  let typed = '';
  let timer: ReturnType<typeof setTimeout> | undefined;
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
    const moves = MOVES[event.key];
    if (moves !== undefined) return moves();
    clearTimeout(timer);
    const ways = [`${typed} ${event.key}`.trim(), event.key];
    const found = ways.map(meantBy).find((one) => one !== undefined);
    // What begins nothing does not stand before what is typed next.
    typed = (found === undefined && ways.find(beginsOne)) || '';
    timer = setTimeout(() => {
      typed = '';
    }, PATIENCE_MS);
    if (found === undefined) return;
    event.preventDefault();
    press(found);
  });
};

const MOVES: Readonly<Record<string, () => void>> = {
  j: () => step(1),
  k: () => step(-1),
  '?': () => showKeys(),
};

const press = (found: HTMLElement): void => {
  found.click();
  if (found.matches('input, textarea, select')) found.focus();
};

const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input:not([type=checkbox]), textarea, select'));

const rowAtHand = (): HTMLElement | null =>
  document.activeElement?.closest<HTMLElement>('[data-row]') ?? null;

const meantBy = (key: string): HTMLElement | undefined => {
  const wanted = `[data-key="${CSS.escape(key)}"]`;
  const inRow = rowAtHand()?.querySelector<HTMLElement>(wanted);
  const all = [...document.querySelectorAll<HTMLElement>(wanted)];
  return inRow ?? all.find((one) => one.closest('[data-row]') === null);
};

const beginsOne = (keys: string): boolean =>
  document.querySelector(`[data-key^="${CSS.escape(`${keys} `)}"]`) !== null;

const step = (by: number): void => {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')];
  const at = rows.indexOf(rowAtHand() as HTMLElement);
  const next =
    at < 0 ? rows.at(by > 0 ? 0 : -1) : rows[Math.min(Math.max(at + by, 0), rows.length - 1)];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
};

const ALWAYS: readonly (readonly [string, string])[] = [
  ['j', 'Next row'],
  ['k', 'Row before'],
  ['?', 'These keys'],
];

/** Lists the keys of this page. What is on the page says itself what it is called: nothing is listed twice. */
const showKeys = (): void => {
  const dialog = document.createElement('dialog');
  const title = document.createElement('h2');
  title.textContent = 'Keys';
  const list = document.createElement('dl');
  for (const [key, name] of keysHere()) list.append(...entry(key, name));
  dialog.className = 'keys';
  dialog.append(title, list);
  dialog.addEventListener('close', () => dialog.remove());
  dialog.addEventListener('click', () => dialog.close());
  document.body.append(dialog);
  dialog.showModal();
};

const keysHere = (): Map<string, string> => {
  const known = new Map(ALWAYS);
  for (const one of document.querySelectorAll<HTMLElement>('[data-key]')) {
    const { key = '' } = one.dataset;
    if (!known.has(key)) known.set(key, (one.ariaLabel ?? one.title) || (one.textContent ?? ''));
  }
  return known;
};

const entry = (key: string, name: string): HTMLElement[] => {
  const [term, text, shown] = ['dt', 'dd', 'kbd'].map((tag) => document.createElement(tag)) as [
    HTMLElement,
    HTMLElement,
    HTMLElement,
  ];
  shown.textContent = key;
  term.append(shown);
  text.textContent = name.trim();
  return [term, text];
};
