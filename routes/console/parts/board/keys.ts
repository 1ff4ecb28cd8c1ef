import { useEffect, useLayoutEffect } from 'preact/hooks';

/** From a card to the column beside it, by the arrow keys. */
export const useArrows = (): void =>
  // Not after the next frame: a card is at hand at once, and a key that is pressed then would not be heard.
  useLayoutEffect(() => {
    document.addEventListener('keydown', stepAside);
    return () => document.removeEventListener('keydown', stepAside);
  }, []);

let wanted: readonly string[] = [];

/** The card that is moved stays at hand wherever it comes to stand; where it is not shown any more, the one beside it. */
export const keepAtHand = (id: string): void => {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')];
  const at = rows.findIndex(({ dataset }) => dataset.row === id);
  wanted = [rows[at], rows[at + 1], rows[at - 1]].flatMap((row) => row?.dataset.row ?? []);
};

/** After each showing: nobody has to look for the card again whose place went away below the focus. */
export const useKeptAtHand = (): void => {
  useEffect(() => {
    const forget = () => {
      wanted = [];
    };
    document.addEventListener('pointerdown', forget);
    return () => document.removeEventListener('pointerdown', forget);
  }, []);
  // Before anybody can press another key.
  useLayoutEffect(() => {
    const { activeElement, body } = document;
    if (activeElement !== body) return;
    const [row] = wanted.flatMap(
      (id) => document.querySelector<HTMLElement>(`[data-row="${id}"]`) ?? [],
    );
    row?.focus();
    row?.scrollIntoView({ block: 'nearest' });
  });
};

const stepAside = (event: KeyboardEvent): void => {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const { target } = event;
  if (by === undefined || !(target instanceof HTMLElement) || !target.matches('[data-row]')) return;
  const columns = [...document.querySelectorAll<HTMLElement>('[data-column]')].filter(
    (column) => column.contains(target) || column.querySelector('[data-row]') !== null,
  );
  const at = columns.findIndex((column) => column.contains(target));
  const row = columns[at + by]?.querySelector<HTMLElement>('[data-row]');
  if (row === null || row === undefined) return;
  event.preventDefault();
  row.focus();
};
