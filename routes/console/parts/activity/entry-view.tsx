import type { ComponentChildren } from 'preact';
import { useContext, useState } from 'preact/hooks';
import type { SessionEvent } from '../../../../lib/client/client.ts';
import { visible, visibleOutput } from '../../../../store/base/visible.ts';
import type { Api } from '../../common/page.ts';
import { InReach } from '../form.tsx';
import { Markdown } from '../markdown.tsx';
import {
  type Asked,
  type Called,
  type Entry,
  isCut,
  isRendered,
  type Note,
  type Said,
} from './entry.ts';
import { type FileDiff, fileDiffs } from './file-diffs.ts';
import type { OfSession } from './stream.ts';

interface EntryProps<E extends Entry = Entry> {
  of: OfSession;
  entry: E;
}

/** One thing that happened in a session. */
export const ActivityEntry = ({ of, entry }: EntryProps) => {
  if (entry.kind === 'call') return <Call of={of} entry={entry} />;
  if (entry.kind === 'asked') return <WasAsked {...entry} />;
  if (entry.kind === 'note') return <Noted of={of} entry={entry} />;
  if (entry.kind === 'message') return <Message of={of} entry={entry} />;
  return (
    <Folded name="Thought" about={visible(entry.text.slice(0, 120))}>
      <Words of={of} entry={entry} />
    </Folded>
  );
};

const Message = ({ of, entry }: EntryProps<Said>) =>
  isRendered(entry) ? <Markdown text={entry.text + entry.rest} /> : <Words of={of} entry={entry} />;

const Words = ({ of, entry }: EntryProps<Said>) => {
  const { text, rest, length } = entry;
  if (!isCut(entry)) return <pre class="as-written">{visible(text + rest)}</pre>;
  return (
    <>
      <pre class="as-written">{visible(text)}</pre>
      <p class="quiet">{`${length - text.length - rest.length} characters are left out here.`}</p>
      <pre class="as-written">{visible(rest)}</pre>
      <Whole of={of} entry={entry} />
    </>
  );
};

interface FoldedProps {
  name: ComponentChildren;
  about?: string;
  children: ComponentChildren;
}

/** What is there once it is unfolded; without scripts at once, so that it can be. */
const Folded = ({ name, about, children }: FoldedProps) => {
  const isStill = useContext(InReach) === undefined;
  const [isOpen, setOpen] = useState(false);
  const onToggle = ({ currentTarget }: { currentTarget: { open: boolean } }) =>
    setOpen(currentTarget.open);
  return (
    <details onToggle={onToggle}>
      <summary data-key="o" title="Unfold">
        {name} {about !== undefined && <span class="quiet about">{about}</span>}
      </summary>
      {(isStill || isOpen) && children}
    </details>
  );
};

const STATUS: Readonly<Record<Called['status'], string>> = {
  pending: 'waits',
  in_progress: 'runs',
  completed: 'done',
  failed: 'failed',
  killed: 'ended',
};

const Call = ({ of, entry }: EntryProps<Called>) => {
  const { title, tool, status, files, diffs, output, cut } = entry;
  const name = (
    <>
      <span class={`tag call-${status}`}>{STATUS[status]}</span> <code>{visible(title)}</code>
    </>
  );
  return (
    <Folded name={name} about={tool}>
      {files.length > 0 && (
        <ul class="files">
          {files.map((file) => (
            <li key={file}>
              <code>{visible(file)}</code>
            </li>
          ))}
        </ul>
      )}
      {diffs.map((diff) => (
        <Diff key={diff.path} {...diff} />
      ))}
      {output !== '' && <pre class="as-written">{visibleOutput(output)}</pre>}
      {cut && <Whole of={of} entry={entry} />}
      {files.length + diffs.length === 0 && output === '' && (
        <p class="quiet">It has told nothing more.</p>
      )}
    </Folded>
  );
};

const Diff = ({ path, lines, more }: FileDiff) => (
  <figure>
    <figcaption>
      <code>{visible(path)}</code>
    </figcaption>
    {lines.length > 0 && (
      <pre class="diff-lines">
        {runsOf(lines).map(({ sign, text }, at) => {
          const Tag = TAGS[sign] ?? 'span';
          return <Tag key={at}>{visible(text)}</Tag>;
        })}
      </pre>
    )}
    {more > 0 && <p class="quiet">{`${more} lines more.`}</p>}
  </figure>
);

const TAGS: Readonly<Record<string, 'ins' | 'del'>> = { '+': 'ins', '-': 'del' };

// Lines of one kind that follow each other are one element.
const runsOf = (lines: readonly string[]): { sign: string; text: string }[] => {
  const runs: { sign: string; text: string }[] = [];
  for (const line of lines) {
    const sign = line.slice(0, 1);
    const last = runs.at(-1);
    if (last?.sign === sign) last.text += `\n${line}`;
    else runs.push({ sign, text: line });
  }
  return runs;
};

const WasAsked = ({ text, command, outcome }: Asked) => (
  <div class="was-asked">
    <p class="message">{visible(text)}</p>
    {command !== undefined && <pre class="as-written">{visible(command)}</pre>}
    <p class="quiet">{outcome === undefined ? 'Not answered here yet.' : visible(outcome)}</p>
  </div>
);

const Noted = ({ of: { id, sid }, entry: { tone, text, detail, tab } }: EntryProps<Note>) => {
  const words = <span class={`note ${tone}`}>{visible(text)}</span>;
  if (detail !== undefined)
    return (
      <Folded name={words}>
        <pre class="as-written">{visible(detail)}</pre>
      </Folded>
    );
  if (tab === undefined) return <p>{words}</p>;
  return (
    <p>
      {words}{' '}
      <a href={`/dashboard/cases/${id}/sessions/${sid}/${tab}`}>
        {tab === 'plan' ? 'To the plan' : 'To the diff'}
      </a>
    </p>
  );
};

interface WholeProps {
  of: OfSession;
  entry: Entry;
}

/** All of what is shown in part, once it is asked for: as text. */
const Whole = ({ of, entry }: WholeProps) => {
  const api = useContext(InReach);
  const [text, setText] = useState<string | undefined>();
  if (api === undefined)
    return <p class="quiet">All of it is in the transcript, whose path is below.</p>;
  if (text !== undefined) return <pre class="as-written">{text}</pre>;
  const ask = () =>
    void wholeOf(api, of, entry).then(setText, (error: Error) => setText(error.message));
  return (
    <button type="button" onClick={ask}>
      Show all
    </button>
  );
};

const PAGE = 1000;

const wholeOf = async (api: Api, of: OfSession, entry: Entry): Promise<string> => {
  const texts: string[] = [];
  // Of what was told anew and anew the last time has all.
  const start = entry.kind === 'call' ? entry.to - 1 : entry.from - 1;
  for (let after = start; after < entry.to; ) {
    const query = { after, limit: PAGE };
    const events = await api.call('GET /cases/{id}/sessions/{sid}/stream', { ...of, query });
    const within = events.filter(({ id }) => id <= entry.to);
    texts.push(...within.map((event) => textOf(event, entry)));
    after = events.length === 0 ? entry.to : (events.at(-1)?.id ?? entry.to);
  }
  return visibleOutput(texts.join(''));
};

const textOf = ({ event, data }: SessionEvent, entry: Entry): string => {
  if (event === 'message' || event === 'thought') return event === entry.kind ? data.text : '';
  if (event !== 'tool_call' || entry.kind !== 'call' || data.tool_call_id !== entry.call_id)
    return '';
  const most = Number.POSITIVE_INFINITY;
  const files = fileDiffs(data.diffs ?? [], most, most);
  const diffs = files.map(({ path, lines }) => `${path}\n${lines.join('\n')}\n\n`);
  return diffs.join('') + (data.output ?? '');
};
