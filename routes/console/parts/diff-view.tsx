import type { JSX } from 'preact';
import { useContext, useEffect, useMemo, useState } from 'preact/hooks';
import { visible } from '../../../base/visible.ts';
import type { BodyProps, Wanted } from './diff-body.tsx';
import { DiffComments, WriteComment } from './diff-comments.tsx';
import { DiffFiles, type ListedFile, type Marks } from './diff-files.tsx';
import { type Comment, useHashes, useKept, useLayout } from './diff-kept.ts';
import { inOrder } from './diff-list.ts';
import { InReach } from './do.tsx';

export interface DiffShown {
  id: string;
  sid: string;
  files: readonly ListedFile[];
  /** The patch, or how it begins. */
  text: string;
  isCut: boolean;
  root: string | undefined;
  waiting: string | undefined;
}

/** A session's patch: files at the side, and their changes; without scripts as it is written. */
export const DiffView = (shown: DiffShown) => {
  const Body = useBody();
  const patch = usePatch(shown);
  if (Body === undefined || patch === undefined) return <AsText {...shown} />;
  return <Live {...shown} text={patch} Body={Body} />;
};

type Body = (props: BodyProps) => JSX.Element;

const useBody = (): Body | undefined => {
  const isLive = useContext(InReach) !== undefined;
  const [body, setBody] = useState<{ Body: Body }>();
  useEffect(() => {
    if (isLive) void import('./diff-body.tsx').then(({ DiffBody }) => setBody({ Body: DiffBody }));
  }, [isLive]);
  return body?.Body;
};

const usePatch = ({ id, sid, text, isCut }: DiffShown): string | undefined => {
  const api = useContext(InReach);
  const [whole, setWhole] = useState<string>();
  useEffect(() => {
    if (isCut) void api?.call('GET /cases/{id}/sessions/{sid}/diff', { id, sid }).then(setWhole);
  }, [text, isCut]);
  return isCut ? whole : text;
};

const AsText = ({ id, sid, files, text, isCut, root }: DiffShown) => (
  <div class="diff">
    <DiffFiles files={files} root={root} />
    <div>
      <section {...{ class: 'diff-text', tabIndex: 0 }} aria-label="The patch">
        <pre>{visible(text)}</pre>
      </section>
      <p>
        {isCut && 'It goes on. '}
        <a href={`/cases/${id}/sessions/${sid}/diff`}>The whole patch as a file</a>
      </p>
    </div>
  </div>
);

const Live = ({ Body, ...shown }: DiffShown & { Body: Body }) => {
  const { id, sid, text, root, waiting } = shown;
  const files = useMemo(() => inOrder(text, shown.files), [text]);
  const { kept, keep, marks, folded } = useMarks(sid, files);
  const { layout, toggle } = useLayout();
  const [wanted, setWanted] = useState<Wanted>();
  const [about, setAbout] = useState<Omit<Comment, 'text'>>();
  const said = (comment: Comment | undefined): void => {
    setAbout(undefined);
    if (comment) keep({ comments: [...kept.comments, comment] });
  };
  const remove = (gone: number | undefined) =>
    keep({ comments: kept.comments.filter((_, at) => gone !== undefined && at !== gone) });
  return (
    <>
      {about && <WriteComment about={about} onDone={said} />}
      <div class="diff">
        <Aside
          {...{ files, root, viewed: folded.size, hasLooked: kept.seen.length > 0 }}
          marks={{ ...marks, onOpen: (file) => setWanted({ file }) }}
        />
        <Body
          {...{ files, layout, folded, wanted, toggle }}
          onComment={(range) => setAbout({ ...range.about, path: files[range.file]?.path ?? '' })}
        />
      </div>
      <DiffComments
        comments={kept.comments}
        waiting={waiting === undefined ? undefined : { id, sid: waiting }}
        onRemove={remove}
      />
    </>
  );
};

type Files = ReturnType<typeof inOrder>;

/** Which files were viewed, and which are other ones than at the last look. */
const useMarks = (sid: string, files: Files) => {
  const hashes = useHashes(files);
  const { kept, keep, keepSeen } = useKept(sid);
  useLeave(() => hashes.length > 0 && keepSeen(hashes), hashes);
  const viewed = (at: number) => isIn(kept.viewed, hashes[at]);
  const isNew = (at: number) =>
    kept.seen.length > 0 && hashes[at] !== undefined && !isIn(kept.seen, hashes[at]);
  const folded = useMemo(
    () => new Set([...files.keys()].filter(viewed)),
    [files, hashes, kept.viewed],
  );
  const onView = (at: number): void => {
    const hash = hashes[at];
    if (hash === undefined) return;
    const others = kept.viewed.filter((one) => one !== hash);
    keep({ viewed: viewed(at) ? others : [...others, hash] });
  };
  return { kept, keep, marks: { viewed, isNew, onView }, folded };
};

const isIn = (hashes: readonly string[], hash: string | undefined): boolean =>
  hash !== undefined && hashes.includes(hash);

interface AsideProps {
  files: Files;
  root: string | undefined;
  viewed: number;
  hasLooked: boolean;
  marks: Marks;
}

// On a small page the list would stand in front of what one came for.
const Aside = ({ files, root, viewed, hasLooked, marks }: AsideProps) => {
  const [isOpen, setOpen] = useState(true);
  const [isSince, setSince] = useState(false);
  useEffect(() => {
    const { innerWidth } = globalThis as unknown as { innerWidth: number };
    if (innerWidth < NARROW) setOpen(false);
  }, []);
  const news = [...files.keys()].filter(marks.isNew).length;
  return (
    <details class="diff-aside" open={isOpen}>
      <summary>{`Files: ${viewed} of ${files.length} viewed`}</summary>
      {hasLooked && (
        <label>
          <input type="checkbox" checked={isSince} onClick={() => setSince(!isSince)} />
          {` Changed since my last look (${news})`}
        </label>
      )}
      <DiffFiles
        {...{ files: files.map(({ listed }) => listed), root, marks }}
        {...(isSince && { only: marks.isNew })}
      />
    </details>
  );
};

const NARROW = 640;

interface Page {
  addEventListener: (name: string, heard: () => void) => void;
  removeEventListener: (name: string, heard: () => void) => void;
}

/** Done when the page is left. */
const useLeave = (done: () => void, on: unknown): void =>
  useEffect(() => {
    const page = globalThis as unknown as Page;
    page.addEventListener('pagehide', done);
    return () => page.removeEventListener('pagehide', done);
  }, [on]);
