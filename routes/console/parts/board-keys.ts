import { useEffect } from 'preact/hooks';

/** From a card to the column beside it, by the arrow keys. */
export const useArrows = (): void =>
  useEffect(() => {
    document.addEventListener('keydown', stepAside);
    return () => document.removeEventListener('keydown', stepAside);
  }, []);

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
