import { useState } from 'preact/hooks';
import type { FilePatch } from '../../../../lib/text/patch.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Copy, OpenInEditor } from '../links.tsx';
import type { Pieces } from './highlight-worker.ts';
import { type Highlights, highlightKey } from './highlights.ts';
import { Name } from './name.tsx';
import { type Line, oneLine, type Row, type RowOfLines } from './rows.ts';

/** The Work item, and the worktree if there is one. */
export interface Place {
  id: string;
  root: string | undefined;
}

interface RowProps {
  row: Row;
  place: Place;
  patch: FilePatch;
  /** The row is part of the selection. */
  isSelected: boolean;
  /** A comment that was saved is about the row. */
  isCommented: boolean;
  highlights: Highlights;
  onSelect: (isLonger: boolean) => void;
}

/** A row of a diff. */
export const DiffRow = ({ row, place, patch, ...how }: RowProps) => {
  if (row.kind === 'file') return <Head {...patch} {...place} />;
  if (row.kind === 'line' || row.kind === 'pair')
    return <Lines row={row} path={patch.path} {...how} />;
  return <div class={`diff-row ${row.kind}`}>{visible(row.text)}</div>;
};

type LinesProps = Omit<RowProps, 'row' | 'patch' | 'place'> & { row: RowOfLines; path: string };

// Keys are handled by the scrolling element.
const Lines = ({ row, path, isSelected, isCommented, highlights, onSelect }: LinesProps) => {
  const taken = `${isSelected ? ' taken' : ''}${isCommented ? ' commented' : ''}`;
  const handlers = { onClick: ({ shiftKey }: MouseEvent) => onSelect(shiftKey) };
  if (row.kind === 'line')
    return (
      <div class={`diff-row one ${KINDS[row.line.sign]}${taken}`} {...handlers}>
        {isCommented && <Commented />}
        <LineNumber of={row.line.before} />
        <LineNumber of={row.line.after} />
        <Text line={row.line} path={path} highlights={highlights} />
      </div>
    );
  return (
    <div class={`diff-row two${taken}`} {...handlers}>
      {isCommented && <Commented />}
      <Half line={row.left} number={row.left?.before} path={path} highlights={highlights} />
      <Half line={row.right} number={row.right?.after} path={path} highlights={highlights} />
    </div>
  );
};

const Commented = () => (
  <span class="remark" title="You commented on this line">
    <span aria-hidden="true">●</span>
    <span class="unseen">Commented: </span>
  </span>
);

const KINDS = { ' ': 'same', '+': 'come', '-': 'gone' };

const Head = ({ path, kind, added, removed, id, root }: FilePatch & Place) => {
  const name = oneLine(path);
  return (
    <div class="diff-row file">
      <strong class="path" title={name}>
        <Name of={name} />
      </strong>{' '}
      {kind === 'changed' ? '' : kind} <span class="quiet">{`+${added} −${removed}`}</span>
      <Copy text={path} label="Copy path" name={name} class="name" />
      {root !== undefined && kind !== 'deleted' && (
        <>
          <a
            href={`/dashboard/cases/${id}/files?path=${encodeURIComponent(path)}`}
            aria-label={`Edit ${name}`}
          >
            Edit
          </a>
          <OpenInEditor root={root} path={path} name={name} class="open" />
        </>
      )}
    </div>
  );
};

interface HalfProps {
  line: Line | undefined;
  number: number | undefined;
  path: string;
  highlights: Highlights;
}

const Half = ({ line, number, path, highlights }: HalfProps) => (
  <div class={`half ${line === undefined ? 'none' : KINDS[line.sign]}`}>
    <LineNumber of={number} />
    {line && <Text line={line} path={path} highlights={highlights} />}
  </div>
);

const LineNumber = ({ of: number }: { of: number | undefined }) => <span class="nr">{number}</span>;

/** The characters shown of a line, at first and after “show more”. */
const SHORT = 500;
const LONG = 200_000;

const Text = ({
  line,
  path,
  highlights,
}: Pick<HalfProps, 'path' | 'highlights'> & { line: Line }) => {
  const [isWhole, setWhole] = useState(false);
  const text = visible(line.text);
  const most = isWhole ? LONG : SHORT;
  return (
    <span class="code">
      <span class="sign">{line.sign}</span>
      <HighlightedText
        text={text.slice(0, most)}
        pieces={highlights.get(highlightKey(path, text))}
      />
      {text.length > most && <More of={text.length - most} isWhole={isWhole} setWhole={setWhole} />}
      {line.isOpen && <em class="quiet"> (no newline at the end of the file)</em>}
    </span>
  );
};

const HighlightedText = ({ text, pieces }: { text: string; pieces: Pieces | undefined }) => (
  <>
    {pieces?.map(([kind, piece], at) =>
      kind === '' ? (
        piece
      ) : (
        <span key={at} class={kind}>
          {piece}
        </span>
      ),
    ) ?? text}
  </>
);

interface MoreProps {
  of: number;
  isWhole: boolean;
  setWhole: (isWhole: boolean) => void;
}

const More = ({ of, isWhole, setWhole }: MoreProps) =>
  isWhole ? (
    <em class="quiet">{` cut here: ${of} more characters`}</em>
  ) : (
    <button type="button" class="more" onClick={() => setWhole(true)}>
      {`Show ${of} more`}
    </button>
  );
