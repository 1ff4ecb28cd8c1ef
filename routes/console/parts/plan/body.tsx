import type { ComponentChildren } from 'preact';
import { useContext, useEffect, useMemo, useState } from 'preact/hooks';
import { type PlanComment, readComments } from '../../../../store/base/comments.ts';
import { visible } from '../../../../store/base/visible.ts';
import { blocksOf, sizeOf } from '../markdown/blocks.ts';
import { Source } from '../markdown/source.tsx';
import { MarkdownBlock } from '../markdown.tsx';
import { Earlier, InComments, NewComment, Quote, Unsent } from './comments.tsx';
import { draftsOf } from './comments-file.ts';
import { Sheets, sheetAt, sheetsOf } from './pagination.tsx';
import { type Place, type Placed, placedIn, quoteOf } from './places.ts';

interface BodyProps extends PlanParts {
  text: string;
  /** As it is written, line by line. */
  asSource: boolean;
  /** Whether comments can be written to this text. */
  takes: boolean;
  /** The line that the part begins with that is shown. */
  from: number;
  /** The page's own path. */
  at: string;
}

interface PlanParts {
  parts: readonly Shown[];
  sheets: ReturnType<typeof sheetsOf>;
}

/** The parts of a plan, and the sheets that show them: one where a page can show all. */
export const usePlanParts = (text: string, asSource: boolean): PlanParts =>
  useMemo(() => {
    const parts = partsOf(text, asSource);
    return { parts, sheets: sheetsOf(parts) };
  }, [text, asSource]);

/** A plan with its comments below what they are about: of a long one a part. */
export const PlanBody = (given: BodyProps) => {
  const { text, asSource, parts, sheets, takes, from, at: path } = given;
  const { text: file } = useContext(InComments);
  const twins = useMemo(() => twinsIn(parts), [parts]);
  const [now, before, bare] = useMemo(() => {
    const { rounds, unsent, bare: quotes } = readComments(file);
    return [placedIn(parts, unsent), placedIn(parts, rounds.at(-1)?.comments ?? []), quotes];
  }, [parts, file]);
  const here = sheetAt(sheets, parts, from);
  const { start, end } = here;
  const nav = <Sheets {...{ sheets, here, parts, now, before, path }} />;
  return (
    <div class={asSource ? 'plan source' : 'plan markdown'}>
      <Bare of={bare} />
      <Elsewhere now={now} before={before} parts={parts} text={text} />
      {nav}
      {parts.slice(start, end).map((part, at) => (
        <Part key={`${part.line} ${part.raw}`} part={part} twins={twins} takes={takes}>
          <Said at={start + at} now={now} before={before} />
        </Part>
      ))}
      {nav}
    </div>
  );
};

/** What is kept in comments.md, and is no comment: the operator may have meant one. */
const Bare = ({ of }: { of: readonly string[] }) =>
  of.length === 0 ? null : (
    <div class="box warn" role="note">
      <p>comments.md quotes this, and says nothing of it. It stays there, and is not sent:</p>
      {of.slice(0, 20).map((quote, at) => (
        <Quote key={at} text={quote} />
      ))}
    </div>
  );

interface Shown extends Place {
  shown: () => ComponentChildren;
  /** About how many elements it has. */
  weight: number;
}

/** A part that has more is shown as source. */
const HEAVIEST = 1500;

const partsOf = (text: string, asSource: boolean): Shown[] => {
  const blocks = asSource ? undefined : blocksOf(text);
  if (blocks === undefined)
    return text
      .replace(/\n$/, '')
      .split('\n')
      .map((raw, at) => ({
        ...{ raw, line: at + 1, weight: 5 },
        shown: () => <Line line={at + 1} text={raw} />,
      }));
  return blocks.map(({ raw, line, token }) => {
    const weight = 3 + (token === undefined ? 2 : sizeOf(token));
    const isHeavy = weight > HEAVIEST;
    return {
      ...{ raw, line, weight: isHeavy ? 5 : weight },
      shown: () => (isHeavy ? <Source source={raw} /> : <MarkdownBlock raw={raw} token={token} />),
    };
  });
};

const twinsIn = (parts: readonly Shown[]): ReadonlyMap<string, readonly number[]> => {
  const twins = new Map<string, number[]>();
  for (const part of parts) {
    const quote = quoteOf(part);
    const lines = twins.get(quote);
    if (lines === undefined) twins.set(quote, [part.line]);
    else lines.push(part.line);
  }
  return twins;
};

const Line = ({ line, text }: { line: number; text: string }) => (
  <code class="written">
    <span class="number">{line}</span>
    {visible(text)}
  </code>
);

interface PartProps {
  part: Shown;
  /** The lines that have the same wording. */
  twins: ReadonlyMap<string, readonly number[]>;
  takes: boolean;
  children: ComponentChildren;
}

const Part = ({ part, twins, takes, children }: PartProps) => {
  const { sid, isOpen } = useContext(InComments);
  const [writes, setWrites] = useState<'anew' | 'back' | undefined>();
  const quote = quoteOf(part);
  const lines = twins.get(quote) ?? [];
  const which =
    lines.length < 2
      ? undefined
      : `line ${part.line}, ${lines.indexOf(part.line) + 1} of ${lines.length}`;
  useEffect(() => {
    if (lines[0] === part.line && draftsOf(sid)[quote] !== undefined) setWrites('back');
  }, []);
  const can = takes && isOpen && quote !== '';
  return (
    <section class="part" data-row={part.line} tabIndex={-1} aria-label={`Line ${part.line}`}>
      {part.shown()}
      {can && (
        <button
          type="button"
          class="add"
          data-key="m"
          aria-label={`Comment on line ${part.line}`}
          title="Comment on this"
          onClick={({ currentTarget }: { currentTarget: HTMLElement }) => {
            setWrites((open) => open ?? 'anew');
            currentTarget.closest('[data-row]')?.querySelector('textarea')?.focus();
          }}
        >
          +
        </button>
      )}
      {children}
      {writes !== undefined && takes && (
        <NewComment
          quote={quote}
          {...(which !== undefined && { which })}
          close={() => setWrites(undefined)}
          isBack={writes === 'back'}
        />
      )}
    </section>
  );
};

interface SaidProps {
  now: Placed;
  before: Placed;
  at: number;
}

const Said = ({ at, now, before }: SaidProps) => (
  <>
    {before.get(at)?.map(({ comment, wasOther }) => (
      <Earlier key={keyOf(comment)} comment={comment} wasOther={wasOther} />
    ))}
    {now.get(at)?.map(({ comment, wasOther }) => (
      <div key={keyOf(comment)}>
        {wasOther && comment.quote !== '' && <Quote text={comment.quote} />}
        <Unsent comment={comment} />
      </div>
    ))}
  </>
);

const keyOf = ({ quote, text }: PlanComment): string => `${quote}\n\n${text}`;

interface ElsewhereProps extends Omit<SaidProps, 'at'> {
  parts: readonly Shown[];
  text: string;
}

/** What is of no part of this version any more, and what is of the whole. */
const Elsewhere = ({ now, before, parts, text }: ElsewhereProps) => {
  const { sid } = useContext(InComments);
  const [drafts, setDrafts] = useState<string[]>([]);
  useEffect(() => {
    const known = new Set(parts.map(quoteOf));
    for (const map of [now, before])
      for (const { comment } of [...map.values()].flat()) known.add(keyOf(comment));
    setDrafts(Object.keys(draftsOf(sid)).filter((place) => !known.has(place)));
  }, [text]);
  if (!now.has(-1) && !before.has(-1) && drafts.length === 0) return null;
  return (
    <section class="elsewhere" aria-label="Comments on no part of this version">
      <p class="quiet">Of the whole, or of wording that this version has no more:</p>
      <Said at={-1} now={now} before={before} />
      {drafts.map((quote) => (
        <div key={quote}>
          <Quote text={quote} />
          <NewComment
            quote={quote}
            isBack
            close={() => setDrafts(drafts.filter((one) => one !== quote))}
          />
        </div>
      ))}
    </section>
  );
};
