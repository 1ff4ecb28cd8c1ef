const ALWAYS: readonly (readonly [string, string])[] = [
  ['j', 'Next row'],
  ['k', 'Row before'],
  ['?', 'These keys'],
];

/** Lists the keys of this page. What is on the page says itself what it is called: nothing is listed twice. */
export const showKeys = (): void => {
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
