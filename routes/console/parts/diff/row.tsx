import { useState } from 'preact/hooks';
import type { FilePatch } from '../../../../lib/text/patch.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Copy, OpenInEditor } from '../links.tsx';
import type { Pieces } from './highlight-worker.ts';
import { type Shades, shadeKey } from './highlights.ts';
import { type Line, oneLine, type Row, type RowOfLines } from './rows.ts';

/** Where the files of a diff are: of which Work item, and in which worktree, where that is there. */
export interface Place {
  id: string;
  root: string | undefined;
}

interface RowProps {
  row: Row;
  place: Place;
  patch: FilePatch;
  /** It is among those that a comment would be on. */
  isTaken: boolean;
  shades: Shades;
  onTake: (isLonger: boolean) => void;
}

interface Click {
  shiftKey: boolean;
}

/** One row of a diff. */
export const DiffRow = ({ row, place, patch, isTaken, shades, onTake }: RowProps) => {
  if (row.kind === 'file') return <Head {...patch} {...place} />;
  if (row.kind === 'line' || row.kind === 'pair')
    return <Lines {...{ row, path: patch.path, isTaken, shades, onTake }} />;
  return <div class={`diff-row ${row.kind}`}>{visible(row.text)}</div>;
};

type LinesProps = Omit<RowProps, 'row' | 'patch' | 'place'> & { row: RowOfLines; path: string };

// Not by itself at hand: what holds the rows hears the keys.
const Lines = ({ row, path, isTaken, shades, onTake }: LinesProps) => {
  const taken = isTaken ? ' taken' : '';
  const heard = { onClick: ({ shiftKey }: Click) => onTake(shiftKey) };
  if (row.kind === 'line')
    return (
      <div class={`diff-row one ${KINDS[row.line.sign]}${taken}`} {...heard}>
        <Nr of={row.line.before} />
        <Nr of={row.line.after} />
        <Text line={row.line} path={path} shades={shades} />
      </div>
    );
  return (
    <div class={`diff-row two${taken}`} {...heard}>
      <Half line={row.left} number={row.left?.before} path={path} shades={shades} />
      <Half line={row.right} number={row.right?.after} path={path} shades={shades} />
    </div>
  );
};

const KINDS = { ' ': 'same', '+': 'come', '-': 'gone' };

const Head = ({ path, kind, added, removed, id, root }: FilePatch & Place) => {
  const name = oneLine(path);
  return (
    <div class="diff-row file">
      <strong>{name}</strong> {kind === 'changed' ? '' : kind}{' '}
      <span class="quiet">{`+${added} −${removed}`}</span>
      <Copy text={path} label="Copy path" name={name} class="name" />
      {root !== undefined && kind !== 'deleted' && (
        <>
          <a
            href={`/dashboard/cases/${id}/files?path=${encodeURIComponent(path)}`}
            aria-label={`Edit ${name}`}
          >
            Edit
          </a>
          <OpenInEditor root={root} path={path} name={name} />
        </>
      )}
    </div>
  );
};

interface HalfProps {
  line: Line | undefined;
  number: number | undefined;
  path: string;
  shades: Shades;
}

const Half = ({ line, number, path, shades }: HalfProps) => (
  <div class={`half ${line === undefined ? 'none' : KINDS[line.sign]}`}>
    <Nr of={number} />
    {line && <Text line={line} path={path} shades={shades} />}
  </div>
);

const Nr = ({ of: number }: { of: number | undefined }) => <span class="nr">{number}</span>;

/** How much of a line is shown before one asks for more, and then. */
const SHORT = 500;
const LONG = 200_000;

const Text = ({ line, path, shades }: Pick<HalfProps, 'path' | 'shades'> & { line: Line }) => {
  const [isWhole, setWhole] = useState(false);
  const text = visible(line.text);
  const most = isWhole ? LONG : SHORT;
  return (
    <span class="code">
      <span class="sign">{line.sign}</span>
      <Shaded text={text.slice(0, most)} pieces={shades.get(shadeKey(path, text))} />
      {text.length > most && <More of={text.length - most} {...{ isWhole, setWhole }} />}
      {line.isOpen && <em class="quiet"> (no newline at the end of the file)</em>}
    </span>
  );
};

const Shaded = ({ text, pieces }: { text: string; pieces: Pieces | undefined }) => (
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
    <em class="quiet">{` cut here: ${of} more are in the file`}</em>
  ) : (
    <button type="button" class="more" onClick={() => setWhole(true)}>
      {`show ${of} more`}
    </button>
  );
