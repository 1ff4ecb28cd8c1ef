import type { ComponentChildren } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import { type PlanComment, readComments } from '../../../base/comments.ts';
import { visible } from '../../../base/visible.ts';
import { Earlier, InComments, NewComment, Quote, Unsent } from './comments-box.tsx';
import { draftsOf } from './comments-state.ts';
import { blocksOf, MarkdownToken } from './markdown.tsx';
import { type Place, type Placed, placedIn, quoteOf } from './plan-places.ts';

interface BodyProps {
  text: string;
  /** As it is written, line by line. */
  asSource: boolean;
  /** Whether comments can be written to this text. */
  takes: boolean;
}

/** A plan with its comments below what they are about. */
export const PlanBody = ({ text, asSource, takes }: BodyProps) => {
  const { text: file } = useContext(InComments);
  const parts = partsOf(text, asSource);
  const { rounds, unsent } = readComments(file);
  const now = placedIn(parts, unsent);
  const twins = new Map<string, number[]>();
  for (const part of parts)
    twins.set(quoteOf(part), [...(twins.get(quoteOf(part)) ?? []), part.line]);
  const before = placedIn(parts, rounds.at(-1)?.comments ?? []);
  return (
    <div class={asSource ? 'plan source' : 'plan markdown'}>
      <Elsewhere now={now} before={before} parts={parts} text={text} />
      {parts.map((part, at) => (
        <Part key={`${part.line} ${part.raw}`} part={part} twins={twins} takes={takes}>
          <Said at={at} now={now} before={before} />
        </Part>
      ))}
    </div>
  );
};

interface Shown extends Place {
  shown: ComponentChildren;
}

const partsOf = (text: string, asSource: boolean): Shown[] => {
  const blocks = asSource ? undefined : blocksOf(text);
  if (blocks === undefined)
    return text
      .replace(/\n$/, '')
      .split('\n')
      .map((raw, at) => ({ raw, line: at + 1, shown: <Line line={at + 1} text={raw} /> }));
  return blocks
    .filter(({ token }) => token.type !== 'space')
    .map(({ raw, line, token }) => ({ raw, line, shown: <MarkdownToken token={token} /> }));
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
  const [writes, setWrites] = useState(false);
  const quote = quoteOf(part);
  const [first, other] = twins.get(quote) ?? [];
  useEffect(() => {
    if (first === part.line && draftsOf(sid)[quote] !== undefined) setWrites(true);
  }, []);
  const can = takes && isOpen && quote !== '';
  return (
    <section class="part" data-row={part.line} tabIndex={-1} aria-label={`Line ${part.line}`}>
      {part.shown}
      {can && (
        <button
          type="button"
          class="add"
          data-key="m"
          aria-label={`Comment on line ${part.line}`}
          title="Comment on this"
          onClick={() => setWrites(true)}
        >
          +
        </button>
      )}
      {children}
      {writes && takes && (
        <NewComment
          quote={quote}
          {...(other !== undefined && { line: part.line })}
          close={() => setWrites(false)}
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
            close={() => setDrafts(drafts.filter((one) => one !== quote))}
          />
        </div>
      ))}
    </section>
  );
};
