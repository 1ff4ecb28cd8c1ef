import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { FilePatch } from '../../../../lib/text/patch.ts';
import { useVirtual } from '../virtual-rows.ts';
import { placeOf } from './comments.tsx';
import { useHighlights } from './highlights.ts';
import type { Comment } from './review-state.ts';
import { DiffRow, type Place } from './row.tsx';
import { type Layout, type Row, rowsOf } from './rows.ts';
import { describeSelection, extendSelection, isAbout, type Selection } from './selection.ts';

/** A request to scroll to a file; a new object for each request. */
export interface ScrollRequest {
  file: number;
}

export interface BodyProps {
  files: readonly FilePatch[];
  layout: Layout;
  /** Files of which only the header is shown. */
  folded: ReadonlySet<number>;
  wanted: ScrollRequest | undefined;
  toggle: () => void;
  onComment: (range: Selection) => void;
  comments: readonly Comment[];
  /** The comment that was saved last. */
  saved: Comment | undefined;
  /** The Work item and the worktree. */
  place: Place;
}

/** The height of a row, in pixels. */
const ROW = 20;

/** The changes of all files. Only visible rows are rendered. */
export const DiffBody = (props: BodyProps) => {
  const { files, layout, folded, wanted, place, comments, saved } = props;
  const box = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => allRows(files, layout, folded), [files, layout, folded]);
  const virtual = useVirtual({ count: rows.length, height: ROW, box });
  const { range, take, step, jump } = useSelection(rows, virtual);
  useEffect(() => {
    const at = rows.findIndex(({ file, kind }) => kind === 'file' && file === wanted?.file);
    if (at >= 0) virtual.scrollToIndex(at, { align: 'start' });
  }, [wanted]);
  return (
    <section class="diff-body" style={{ '--row': `${ROW}px` }} aria-label="Changes">
      <Tools {...props} range={range} jump={jump} />
      <p class="unseen" role="status">
        {range && describeSelection(rows, range, files)}
      </p>
      <p class="unseen" aria-live="polite">
        {saved && `Comment saved on ${placeOf(saved)}.`}
      </p>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset groups form controls, these are lines. */}
      <div
        class={`diff-scroll ${layout}`}
        role="group"
        aria-label="Lines. Arrow keys move, Shift extends the selection"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard.
        tabIndex={0}
        onKeyDown={step}
        ref={box}
      >
        <VisibleRows
          files={files}
          rows={rows}
          virtual={virtual}
          range={range}
          take={take}
          place={place}
          comments={comments}
        />
      </div>
    </section>
  );
};

type Virtual = ReturnType<typeof useVirtual>;

/** The lines selected for a comment, by mouse or by keyboard. */
const useSelection = (rows: readonly Row[], virtual: Virtual) => {
  const [taken, setTaken] = useState<{ of: readonly Row[]; range: Selection }>();
  // A selection of other rows is void.
  const range = taken?.of === rows ? taken.range : undefined;
  const from = range?.to ?? Math.floor((virtual.scrollOffset ?? 0) / ROW) - 1;
  const take = (to: number, isLonger: boolean) =>
    setTaken({ of: rows, range: extendSelection(rows, range, to, isLonger) });
  const move = (to: number | undefined, isLonger: boolean): void => {
    if (to === undefined) return;
    take(to, isLonger);
    virtual.scrollToIndex(to, { align: 'auto' });
  };
  const step = (event: KeyboardEvent): void => {
    const by = STEPS[event.key];
    if (by === undefined) return;
    event.preventDefault();
    move(nextLine(rows, from, by), event.shiftKey);
  };
  return { range, take, step, jump: (by: number) => move(nextChange(rows, from, by), false) };
};

type ToolsProps = Pick<BodyProps, 'layout' | 'toggle' | 'onComment'> & {
  range: Selection | undefined;
  jump: (by: number) => void;
};

const Tools = ({ layout, toggle, onComment, range, jump }: ToolsProps) => (
  <div class="line diff-tools">
    <button type="button" data-key="n" onClick={() => jump(1)}>
      Next change
    </button>
    <button type="button" data-key="p" onClick={() => jump(-1)}>
      Previous change
    </button>
    <button type="button" data-key="i" aria-pressed={layout === 'side'} onClick={toggle}>
      Side by side
    </button>
    <button
      type="button"
      data-key="m"
      disabled={range === undefined}
      {...(range === undefined && { 'data-needs': 'select lines first: n, or the arrow keys' })}
      onClick={() => range && onComment(range)}
    >
      Comment on lines
    </button>
  </div>
);

interface VisibleRowsProps extends Pick<BodyProps, 'files' | 'place' | 'comments'> {
  rows: readonly Row[];
  virtual: Virtual;
  range: Selection | undefined;
  take: (to: number, isLonger: boolean) => void;
}

const VisibleRows = (shown: VisibleRowsProps) => {
  const { files, rows, virtual, range, take, place, comments } = shown;
  const seen = virtual.getVirtualItems().filter(({ index }) => index < rows.length);
  const places = seen.map(({ index }) => index);
  const highlights = useHighlights(files, rows, places);
  return (
    <div class="diff-whole" style={{ height: `${virtual.getTotalSize()}px` }}>
      <div class="diff-seen" style={{ transform: `translateY(${seen[0]?.start ?? 0}px)` }}>
        {places.map((at) => {
          const row = rows[at] as Row;
          const patch = files[row.file] as FilePatch;
          return (
            <DiffRow
              key={at}
              row={row}
              place={place}
              patch={patch}
              isSelected={range !== undefined && isWithin(range, at)}
              isCommented={comments.some((one) => isAbout(one, patch.path, row))}
              highlights={highlights}
              onSelect={(isLonger) => take(at, isLonger)}
            />
          );
        })}
      </div>
    </div>
  );
};

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

const allRows = (
  files: readonly FilePatch[],
  layout: Layout,
  folded: ReadonlySet<number>,
): readonly Row[] => {
  // A spread into `push` would exceed the maximum number of arguments.
  const all: Row[][] = files.map((patch, file) => [
    { file, kind: 'file' },
    ...(folded.has(file) ? [] : rowsOf(patch, file, layout)),
  ]);
  return all.flat();
};

const isWithin = ({ from, to }: Selection, at: number): boolean =>
  at >= Math.min(from, to) && at <= Math.max(from, to);

const isLine = (row: Row | undefined): boolean => row?.kind === 'line' || row?.kind === 'pair';

const nextLine = (rows: readonly Row[], from: number, by: number): number | undefined => {
  for (let at = from + by; rows[at] !== undefined; at += by) if (isLine(rows[at])) return at;
  return undefined;
};

const isChange = (row: Row | undefined): boolean =>
  (row?.kind === 'line' && row.line.sign !== ' ') ||
  (row?.kind === 'pair' && row.left !== row.right);

// Moves to the first line of a run of changed lines.
const nextChange = (rows: readonly Row[], from: number, by: number): number | undefined => {
  for (let at = from + by; rows[at] !== undefined; at += by)
    if (isChange(rows[at]) && !isChange(rows[at - 1])) return at;
  return undefined;
};
