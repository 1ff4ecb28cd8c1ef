import type { JSX } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import { visible } from '../../../../store/base/visible.ts';
import { browserApi } from '../form.tsx';
import { LoadFailed } from '../problems.tsx';
import { useLoaded } from '../use-loaded.ts';
import { useWindow } from '../use-window.ts';
import type { BodyProps, ScrollRequest } from './body.tsx';
import { DiffComments, WriteComment } from './comments.tsx';
import { Aside } from './file-tree.tsx';
import { GROUPS, inOrder, type ListedFile, NAMED_RULE } from './files.ts';
import {
  type Comment,
  type DiffBase,
  useHashes,
  useLayout,
  useReviewState,
  useWriting,
  type Writing,
  withoutComments,
} from './review-state.ts';
import { oneLine } from './rows.ts';

interface DiffShown {
  id: string;
  sid: string;
  files: readonly ListedFile[];
  /** The patch, or its beginning. */
  text: string;
  isCut: boolean;
  root: string | undefined;
  waiting: string | undefined;
  /** The session's type. */
  type: string;
  since: DiffBase;
}

/** A session's patch with its files; without scripts as text. */
export const DiffView = (shown: DiffShown) => {
  const { id, sid, since, text, isCut } = shown;
  const body = useLoaded(async () => (await import('./body.tsx')).DiffBody);
  const whole = useLoaded(
    () => browserApi.call('GET /cases/{id}/sessions/{sid}/diff', { id, sid, query: { since } }),
    text,
    isCut,
  );
  const patch = isCut ? whole.value : text;
  if (body.value !== undefined && patch !== undefined)
    return <Live {...shown} text={patch} Body={body.value} />;
  return (
    <>
      {body.failed && <LoadFailed what="The diff view" retry={body.retry} />}
      {whole.failed && <LoadFailed what="The patch" retry={whole.retry} />}
      <AsText {...shown} />
    </>
  );
};

type Body = (props: BodyProps) => JSX.Element;

const AsText = ({ id, sid, since, files, text, isCut }: DiffShown) => (
  <div class="diff">
    <DiffFiles files={files} />
    <div>
      <section
        class="diff-text"
        aria-label="Patch"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard.
        tabIndex={0}
      >
        <pre>{visible(text)}</pre>
      </section>
      <p>
        {isCut && 'Only the beginning is shown. '}
        <a href={`/cases/${id}/sessions/${sid}/diff?since=${since}`}>Download the whole patch</a>
      </p>
    </div>
  </div>
);

const Live = ({ Body, ...shown }: DiffShown & { Body: Body }) => {
  const { id, sid, type, since, text, root, waiting } = shown;
  const files = useMemo(() => inOrder(text, shown.files), [text]);
  const { state, update, isStored, marks, folded } = useFileMarks({ sid, since }, files);
  const listed = useMemo(() => files.map((file) => file.listed), [files]);
  const { layout, toggle } = useLayout();
  const [wanted, setWanted] = useState<ScrollRequest>();
  const { box, writer, begin, saved } = useWriter(sid, (comment) =>
    update(({ comments }) => ({ comments: [...comments, comment] })),
  );
  const remove = (at: number | undefined) => {
    const gone = state.comments.filter((_, place) => at === undefined || place === at);
    update(({ comments }) => ({ comments: withoutComments(comments, gone) }));
  };
  return (
    <>
      {writer && <WriteComment {...writer} />}
      <div class="diff" ref={box}>
        <Aside
          viewed={folded.size}
          hasLooked={state.seen.length > 0}
          files={listed}
          marks={{ ...marks, onOpen: (file) => setWanted({ file }) }}
        />
        <Body
          files={files}
          layout={layout}
          folded={folded}
          wanted={wanted}
          toggle={toggle}
          place={{ id, root }}
          comments={state.comments}
          saved={saved}
          onComment={({ about, file }) => begin({ ...about, path: files[file]?.path ?? '' })}
        />
      </div>
      <DiffComments
        comments={state.comments}
        isStored={isStored}
        id={id}
        sid={sid}
        type={type}
        waiting={waiting}
        onRemove={remove}
      />
    </>
  );
};

/** The form of the comment that is written, and the comment that was saved last. */
const useWriter = (sid: string, save: (comment: Comment) => void) => {
  const { writing, write, ...more } = useWriting(sid);
  const [saved, setSaved] = useState<Comment>();
  const box = useRef<HTMLDivElement>(null);
  const onDone = (comment?: Comment): void => {
    write(undefined);
    setSaved(comment);
    if (comment !== undefined) save(comment);
    // The lines, where the comment was begun.
    box.current?.querySelector<HTMLElement>('.diff-scroll')?.focus({ preventScroll: true });
  };
  const onType = (text: string) => writing && write({ ...writing, text });
  // Text that is not saved yet moves to the new place.
  const begin = (about: Writing['about']) => write({ about, text: writing?.text ?? '' });
  return { box, writer: writing && { ...writing, ...more, onType, onDone }, begin, saved };
};

type Files = ReturnType<typeof inOrder>;

/** The viewed files, and those that changed since the last visit. */
const useFileMarks = ({ sid, since }: Pick<DiffShown, 'sid' | 'since'>, files: Files) => {
  const hashes = useHashes(files);
  const { state, update, storeSeen, isStored } = useReviewState(sid, since);
  useWindow('pagehide', () => hashes.length > 0 && storeSeen(hashes), hashes);
  const viewed = (at: number) => isIn(state.viewed, hashes[at]);
  const isNew = (at: number) =>
    state.seen.length > 0 && hashes[at] !== undefined && !isIn(state.seen, hashes[at]);
  const folded = useMemo(
    () => new Set([...files.keys()].filter(viewed)),
    [files, hashes, state.viewed],
  );
  const onView = (at: number): void => {
    const hash = hashes[at];
    if (hash === undefined) return;
    const isViewed = viewed(at);
    update((before) => {
      const others = before.viewed.filter((one) => one !== hash);
      return { viewed: isViewed ? others : [...others, hash] };
    });
  };
  return { state, update, isStored, marks: { viewed, isNew, onView }, folded };
};

const isIn = (hashes: readonly string[], hash: string | undefined): boolean =>
  hash !== undefined && hashes.includes(hash);

/** The most files listed without scripts. */
const SOME = 150;

/** The files of a diff as a list, for a page without scripts. */
const DiffFiles = ({ files }: { files: readonly ListedFile[] }) => {
  const shown = files.slice(0, SOME);
  return (
    <div class="diff-files">
      {GROUPS.map(({ name, isNamed }) => {
        const of = shown.filter((file) => file.isNamed === isNamed);
        if (of.length === 0) return null;
        return (
          <section key={name}>
            <h2
              {...(isNamed !== undefined && { title: NAMED_RULE })}
            >{`${name} (${of.length})`}</h2>
            <ul class="bare">
              {of.map(({ path, kind, added, removed }) => (
                <li key={path}>
                  {oneLine(path)} {kind !== 'changed' && <span class="tag">{kind}</span>}{' '}
                  <span class="quiet">{`+${added} −${removed}`}</span>
                </li>
              ))}
            </ul>
          </section>
        );
      })}
      {files.length > SOME && <p class="quiet">{`and ${files.length - SOME} more`}</p>}
    </div>
  );
};
