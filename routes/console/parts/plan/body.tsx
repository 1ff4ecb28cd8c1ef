import type { ComponentChildren } from 'preact';
import { useContext, useEffect, useMemo, useState } from 'preact/hooks';
import { type PlanComment, readComments } from '../../../../store/base/comments.ts';
import { groupBy } from '../../../../store/base/group-by.ts';
import { visible } from '../../../../store/base/visible.ts';
import { blocksOf, sizeOf } from '../markdown/blocks.ts';
import { SourceBlock } from '../markdown/source.tsx';
import { MarkdownBlock } from '../markdown.tsx';
import { CommentsContext, NewComment, PreviousComment, Quote, UnsentComment } from './comments.tsx';
import { readDrafts } from './comments-file.ts';
import { PlanPages, pageAtLine, paginate } from './pagination.tsx';
import { type PlacedComments, type PlanPart, placeComments, quoteOf } from './places.ts';

interface BodyProps extends PlanParts {
  text: string;
  /** Shows the source, line by line. */
  asSource: boolean;
  /** Whether new comments are possible. */
  takes: boolean;
  /** The first line of the shown page. */
  from: number;
  /** The address of the plan. */
  at: string;
}

interface PlanParts {
  parts: readonly Shown[];
  pages: ReturnType<typeof paginate>;
}

/** The parts of a plan, in pages of which each can be rendered. */
export const usePlanParts = (text: string, asSource: boolean): PlanParts =>
  useMemo(() => {
    const parts = partsOf(text, asSource);
    return { parts, pages: paginate(parts) };
  }, [text, asSource]);

/** A page of a plan, with comments below the parts that they quote. */
export const PlanBody = (given: BodyProps) => {
  const { text, asSource, parts, pages, takes, from, at: path } = given;
  const { text: file } = useContext(CommentsContext);
  const duplicates = useMemo(() => groupBy(parts, quoteOf), [parts]);
  const [now, before, bare] = useMemo(() => {
    const { rounds, unsent, bare: quotes } = readComments(file);
    return [
      placeComments(parts, unsent),
      placeComments(parts, rounds.at(-1)?.comments ?? []),
      quotes,
    ];
  }, [parts, file]);
  const here = pageAtLine(pages, parts, from);
  const { start, end } = here;
  const nav = (
    <PlanPages pages={pages} here={here} parts={parts} now={now} before={before} path={path} />
  );
  return (
    <div class={asSource ? 'plan source' : 'plan markdown'}>
      <QuotesWithoutComment of={bare} />
      <UnplacedComments now={now} before={before} parts={parts} text={text} />
      {nav}
      {parts.slice(start, end).map((part, at) => (
        <Part key={`${part.line} ${part.raw}`} part={part} duplicates={duplicates} takes={takes}>
          <PartComments at={start + at} now={now} before={before} />
        </Part>
      ))}
      {nav}
    </div>
  );
};

/** Quotes in comments.md without a comment, which the operator may have forgotten. */
const QuotesWithoutComment = ({ of }: { of: readonly string[] }) =>
  of.length === 0 ? null : (
    <div class="box warn" role="note">
      <p>These quotes in comments.md have no comment. They are not sent:</p>
      {of.slice(0, 20).map((quote, at) => (
        <Quote key={at} text={quote} />
      ))}
    </div>
  );

interface Shown extends PlanPart {
  shown: () => ComponentChildren;
  /** The approximate number of elements. */
  weight: number;
}

/** A larger part is shown as source. */
const HEAVIEST = 1500;

const partsOf = (text: string, asSource: boolean): Shown[] => {
  const blocks = asSource ? undefined : blocksOf(text);
  if (blocks === undefined)
    return text
      .replace(/\n$/, '')
      .split('\n')
      .map((raw, at) => ({
        raw,
        line: at + 1,
        weight: 5,
        shown: () => <Line line={at + 1} text={raw} />,
      }));
  return blocks.map(({ raw, line, token }) => {
    const weight = 3 + (token === undefined ? 2 : sizeOf(token));
    const isHeavy = weight > HEAVIEST;
    return {
      raw,
      line,
      weight: isHeavy ? 5 : weight,
      shown: () =>
        isHeavy ? <SourceBlock source={raw} /> : <MarkdownBlock raw={raw} token={token} />,
    };
  });
};

const Line = ({ line, text }: { line: number; text: string }) => (
  <code class="written">
    <span class="number">{line}</span>
    {visible(text)}
  </code>
);

interface PartProps {
  part: Shown;
  /** The parts with the same text, by that text. */
  duplicates: ReadonlyMap<string, readonly Shown[]>;
  takes: boolean;
  children: ComponentChildren;
}

const Part = ({ part, duplicates, takes, children }: PartProps) => {
  const { sid, isOpen } = useContext(CommentsContext);
  const [writes, setWrites] = useState<'anew' | 'back' | undefined>();
  const quote = quoteOf(part);
  const same = duplicates.get(quote) ?? [];
  const which =
    same.length < 2 ? undefined : `line ${part.line}, ${same.indexOf(part) + 1} of ${same.length}`;
  useEffect(() => {
    if (same[0] === part && readDrafts(sid)[quote] !== undefined) setWrites('back');
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
          title="Comment"
          onClick={({ currentTarget }) => {
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
          which={which}
          close={() => setWrites(undefined)}
          isBack={writes === 'back'}
        />
      )}
    </section>
  );
};

interface SaidProps {
  now: PlacedComments;
  before: PlacedComments;
  at: number;
}

const PartComments = ({ at, now, before }: SaidProps) => (
  <>
    {before.get(at)?.map((placed) => (
      <PreviousComment key={keyOf(placed.comment)} {...placed} />
    ))}
    {now.get(at)?.map(({ comment, wasOther }) => (
      <div key={keyOf(comment)}>
        {wasOther && comment.quote !== '' && <Quote text={comment.quote} />}
        <UnsentComment comment={comment} />
      </div>
    ))}
  </>
);

const keyOf = ({ quote, text }: PlanComment): string => `${quote}\n\n${text}`;

interface ElsewhereProps extends Omit<SaidProps, 'at'> {
  parts: readonly Shown[];
  text: string;
}

/** Comments on the whole plan, or on text that this version does not have. */
const UnplacedComments = ({ now, before, parts, text }: ElsewhereProps) => {
  const { sid } = useContext(CommentsContext);
  const [drafts, setDrafts] = useState<string[]>([]);
  useEffect(() => {
    const known = new Set(parts.map(quoteOf));
    for (const map of [now, before])
      for (const { comment } of [...map.values()].flat()) known.add(keyOf(comment));
    setDrafts(Object.keys(readDrafts(sid)).filter((place) => !known.has(place)));
  }, [text]);
  if (!now.has(-1) && !before.has(-1) && drafts.length === 0) return null;
  return (
    <section class="elsewhere" aria-label="Comments without a part in this version">
      <p class="quiet">On the whole plan, or on text that is no longer in it:</p>
      <PartComments at={-1} now={now} before={before} />
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
