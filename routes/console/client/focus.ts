/**
 * Where a rendering takes the focused element away, the focus goes to the row, the folded summary or the heading next to its
 * place. Never to another button or field: what is typed then is not meant for it.
 */
export const keepFocusIn = (root: HTMLElement): void => {
  let last: HTMLElement | undefined;
  root.addEventListener('focusin', ({ target }) => {
    last = target as HTMLElement;
  });
  // An element that the operator left is not what was taken away.
  root.addEventListener('focusout', ({ relatedTarget }) => {
    const left = last;
    if (relatedTarget !== null) return;
    queueMicrotask(() => {
      if (left !== last || left === undefined || !isThere(left)) return;
      if (document.hasFocus() && hasNoFocus()) last = undefined;
    });
  });
  const onChange = (changes: readonly MutationRecord[]): void => {
    if (last === undefined || isThere(last) || !(hasNoFocus() || last.isConnected)) return;
    const next = last.isConnected ? summaryOver(last) : placeOf(last, changes);
    last = undefined;
    if (next !== undefined) goTo(next);
  };
  new MutationObserver(onChange).observe(root, {
    ...{ subtree: true, childList: true },
    ...{ attributes: true, attributeFilter: ['open', 'hidden'] },
  });
};

const hasNoFocus = (): boolean =>
  document.activeElement === null || document.activeElement === document.body;

const isThere = (element: HTMLElement): boolean => element.isConnected && element.checkVisibility();

const summaryOver = (element: HTMLElement): HTMLElement | undefined =>
  element.closest('details:not([open])')?.querySelector('summary') ?? undefined;

const goTo = (element: HTMLElement): void => {
  if (element.tabIndex < 0 && !element.hasAttribute('tabindex')) element.tabIndex = -1;
  element.focus({ preventScroll: true });
};

const placeOf = (
  element: HTMLElement,
  changes: readonly MutationRecord[],
): HTMLElement | undefined => {
  const change = changes.find(({ removedNodes }) =>
    [...removedNodes].some((node) => node.contains(element)),
  );
  if (change === undefined || !change.target.isConnected) return undefined;
  const { target, previousSibling } = change;
  const parent = target as HTMLElement;
  const row = parent.closest<HTMLElement>('[data-row]');
  if (row !== null) return row;
  const added = changes
    .filter((one) => one.target === target)
    .flatMap(({ addedNodes }) => [...addedNodes]);
  return (
    added.map(headingIn).find((one) => one !== undefined) ?? lastHeading(previousSibling ?? parent)
  );
};

const HEADINGS = 'h1, h2, h3';

const headingIn = (node: Node): HTMLElement | undefined => {
  if (!(node instanceof HTMLElement) || !node.isConnected) return undefined;
  return node.matches(HEADINGS) ? node : (node.querySelector<HTMLElement>(HEADINGS) ?? undefined);
};

/** The last heading before the end of a node. */
const lastHeading = (node: Node): HTMLElement | undefined => {
  const { DOCUMENT_POSITION_PRECEDING: before, DOCUMENT_POSITION_CONTAINED_BY: inside } = Node;
  const place = node.isConnected ? node : node.parentNode;
  return [...document.querySelectorAll<HTMLElement>(`main :is(${HEADINGS})`)].findLast(
    (one) => place === one || (Number(place?.compareDocumentPosition(one)) & (before | inside)) > 0,
  );
};

/** Brings the problem of a form into view. It takes the focus unless that is in the form, beside it. */
export const showProblem = (form: object | undefined): void => {
  const told = document.querySelector<HTMLElement>('main [data-status]');
  told?.scrollIntoView({ block: 'nearest' });
  if (form instanceof Node && form.contains(document.activeElement)) return;
  told?.focus({ preventScroll: true });
};
