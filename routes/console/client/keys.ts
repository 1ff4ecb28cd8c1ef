/** The time to press the second key of a sequence, in milliseconds. */
const SEQUENCE_MS = 800;

/** Makes the console usable by keyboard: a key activates the element with that `data-key`, in the focused row first. */
export const listenForKeys = (): void => {
  let typed = '';
  let timer: ReturnType<typeof setTimeout> | undefined;
  document.addEventListener('keydown', (event) => {
    if (isForOthers(event)) return;
    const always = ALWAYS[event.key];
    if (always !== undefined) return always.act();
    clearTimeout(timer);
    const candidates = [`${typed} ${event.key}`.trim(), event.key];
    const found = candidates.map(elementForKey).find((one) => one !== undefined);
    // A key that starts no sequence is not kept.
    typed = (found === undefined && candidates.find(startsSequence)) || '';
    timer = setTimeout(() => {
      typed = '';
    }, SEQUENCE_MS);
    if (found === undefined) return;
    event.preventDefault();
    press(found, event.repeat);
  });
  document.addEventListener('keydown', submitText);
};

// In a text of several lines, Enter alone begins the next one.
const submitText = ({ key, ctrlKey, metaKey, target }: KeyboardEvent): void => {
  if (key !== 'Enter' || !(ctrlKey || metaKey) || !(target instanceof HTMLTextAreaElement)) return;
  target.form?.querySelector<HTMLElement>('[type=submit]')?.click();
};

/** The keys of every page. */
const ALWAYS: Readonly<Record<string, { name: string; act: () => void }>> = {
  j: { name: 'Next row', act: () => moveRow(1) },
  k: { name: 'Previous row', act: () => moveRow(-1) },
  '?': { name: 'Keyboard shortcuts', act: () => showKeys() },
};

// A key that is held down scrolls on, and presses nothing: nobody means the repetitions.
const press = (found: HTMLElement, isRepeated: boolean): void => {
  if (scrollsOn(found) || isRepeated) return;
  found.click();
  if (found.matches('input, textarea, select')) found.focus();
  if (found.matches('summary')) enter(found);
};

/** Moves the focus into an opened fold: to its first field, or else to the summary. */
const enter = (summary: HTMLElement): void => {
  const fold = summary.closest('details');
  const fields = fold?.open === true ? fold.querySelectorAll<HTMLElement>(FIELDS) : [];
  const field = [...fields].find((one) => one.checkVisibility()) ?? summary;
  field.focus();
  field.scrollIntoView({ block: 'nearest' });
};

const FIELDS = 'input:not([type=hidden], [type=checkbox], [type=radio]), textarea, select';

/** Scrolls on if the text that `found` approves (the selector in `data-reads`) ends below the screen; else returns false. */
const scrollsOn = (found: HTMLElement): boolean => {
  const { reads } = found.dataset;
  const text = reads && (found.closest('[data-row]') ?? document).querySelector(reads);
  if (!text) return false;
  const floor = Math.min(innerHeight, found.getBoundingClientRect().top);
  const below = text.getBoundingClientRect().bottom - floor;
  const before = scrollY;
  // Positions are fractions of a pixel.
  if (below > 1) scrollBy({ top: Math.min(below + 1, floor * 0.8), behavior: 'instant' });
  return scrollY !== before;
};

const isEditable = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input:not([type=checkbox]), textarea, select'));

// The page beneath the list of keys cannot be read.
const isForOthers = ({ ctrlKey, metaKey, altKey, target }: KeyboardEvent): boolean =>
  ctrlKey ||
  metaKey ||
  altKey ||
  isEditable(target) ||
  document.querySelector('dialog[open]') !== null;

const focusedRow = (): HTMLElement | null =>
  document.activeElement?.closest<HTMLElement>('[data-row]') ?? null;

const elementForKey = (key: string): HTMLElement | undefined => {
  const row = focusedRow();
  const all = shown(`[data-key="${CSS.escape(key)}"]`);
  const inRow = row === null ? undefined : all.find((one) => row.contains(one));
  return inRow ?? all.find((one) => one.closest('[data-row]') === null);
};

// Elements in a closed fold are left out: nobody sees what their keys do.
const shown = (selector: string): HTMLElement[] =>
  [...document.querySelectorAll<HTMLElement>(selector)].filter((one) => one.checkVisibility());

const startsSequence = (keys: string): boolean =>
  shown(`[data-key^="${CSS.escape(`${keys} `)}"]`).length > 0;

const moveRow = (by: number): void => {
  const rows = shown('[data-row]');
  const at = rows.indexOf(focusedRow() as HTMLElement);
  const next =
    at < 0 ? rows.at(by > 0 ? 0 : -1) : rows[Math.min(Math.max(at + by, 0), rows.length - 1)];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
};

/** Lists the keys of this page, named by their elements. */
const showKeys = (): void => {
  const entries = [...keysOnPage()].flatMap(([key, name]) => [
    element('dt', element('kbd', key)),
    element('dd', name),
  ]);
  const dialog = element('dialog', element('h2', 'Keyboard shortcuts'), element('dl', ...entries));
  dialog.className = 'keys';
  dialog.addEventListener('close', () => dialog.remove());
  dialog.addEventListener('click', () => dialog.close());
  document.body.append(dialog);
  dialog.showModal();
};

const keysOnPage = (): Map<string, string> => {
  const known = new Map(Object.entries(ALWAYS).map(([key, { name }]) => [key, name]));
  for (const one of shown('[data-key]')) {
    const { key = '' } = one.dataset;
    if (!known.has(key)) known.set(key, nameOf(key, one));
  }
  return known;
};

/** What a key does, and what has to be selected before it does. */
const nameOf = (key: string, first: HTMLElement): string => {
  const pressed = elementForKey(key);
  const one = pressed ?? first;
  const name = (one.title || (one.ariaLabel ?? one.textContent ?? '')).trim();
  const needs = pressed === undefined ? 'select its row first: j' : one.dataset.needs;
  return needs === undefined ? name : `${name} (${needs})`;
};

const element = <T extends keyof HTMLElementTagNameMap>(tag: T, ...inside: (string | Node)[]) => {
  const made = document.createElement(tag);
  made.append(...inside);
  return made;
};
