import { useLayoutEffect } from 'preact/hooks';
import { useWindow } from '../use-window.ts';

/** The arrow keys move the focus between columns. */
export const useArrowKeys = (): void =>
  // An effect after the next frame would miss a key pressed at once.
  useLayoutEffect(() => {
    document.addEventListener('keydown', stepAside);
    return () => document.removeEventListener('keydown', stepAside);
  }, []);

let wanted: readonly string[] = [];

/** Keeps the focus on a card that moves, or moves it to its neighbour if the card disappears. */
export const keepFocus = (id: string): void => {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')];
  const at = rows.findIndex(({ dataset }) => dataset.row === id);
  wanted = [rows[at], rows[at + 1], rows[at - 1]].flatMap((row) => row?.dataset.row ?? []);
};

/** After each render, restores the focus that a removed card lost. */
export const useKeepFocus = (): void => {
  useWindow('pointerdown', () => {
    wanted = [];
  });
  // Before the next key.
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
