import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { SessionEvent } from '../../../../lib/client/client.ts';
import { visible, visibleOutput } from '../../../../store/base/visible.ts';
import { browserApi, isBrowser } from '../form.tsx';
import { labelOf } from '../labels.ts';
import { Markdown } from '../markdown.tsx';
import { DiffLines } from '../text-diff.tsx';
import {
  type AgentText,
  type Entry,
  isCut,
  isRendered,
  type Note,
  type OperatorRequest,
  type ToolCall,
} from './entry.ts';
import { type FileDiff, fileDiffs } from './file-diffs.ts';
import type { SessionRef } from './stream.ts';

interface EntryProps<E extends Entry = Entry> {
  of: SessionRef;
  entry: E;
}

/** An entry of the activity. */
export const ActivityEntry = ({ of, entry }: EntryProps) => {
  if (entry.kind === 'call') return <ToolCallEntry of={of} entry={entry} />;
  if (entry.kind === 'asked') return <RequestEntry {...entry} />;
  if (entry.kind === 'note') return <NoteEntry of={of} entry={entry} />;
  if (entry.kind === 'message') return <MessageEntry of={of} entry={entry} />;
  return (
    <Folded name="Thought" about={visible(entry.text.slice(0, 120))}>
      <PlainText of={of} entry={entry} />
    </Folded>
  );
};

const MessageEntry = ({ of, entry }: EntryProps<AgentText>) =>
  isRendered(entry) ? (
    <Markdown text={entry.text + entry.rest} />
  ) : (
    <PlainText of={of} entry={entry} />
  );

const PlainText = ({ of, entry }: EntryProps<AgentText>) => {
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

/** Content that is rendered once it is opened; without scripts at once. */
const Folded = ({ name, about, children }: FoldedProps) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary data-key="o" title="Unfold">
        {name} {about !== undefined && <span class="quiet about">{about}</span>}
      </summary>
      {(!isBrowser || isOpen) && children}
    </details>
  );
};

const ToolCallEntry = ({ of, entry }: EntryProps<ToolCall>) => {
  const { title, tool, is_output, status, files, diffs, output, cut } = entry;
  const name = (
    <>
      <span class={`tag call-${status}`}>
        {status === 'in_progress' ? 'Running' : labelOf(status)}
      </span>{' '}
      {is_output ? title : <code>{visible(title)}</code>}
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
      {files.length + diffs.length === 0 && output === '' && <p class="quiet">No details.</p>}
    </Folded>
  );
};

const Diff = ({ path, lines, more }: FileDiff) => (
  <figure>
    <figcaption>
      <code>{visible(path)}</code>
    </figcaption>
    {lines.length > 0 && <DiffLines lines={lines} />}
    {more > 0 && <p class="quiet">{`${more} more lines.`}</p>}
  </figure>
);

const RequestEntry = ({ text, command, other_arguments, outcome }: OperatorRequest) => (
  <div class="was-asked">
    <p class="message">{visible(text)}</p>
    {command !== undefined && <pre class="as-written">{visible(command)}</pre>}
    {other_arguments !== undefined && (
      <pre class="as-written">{`with ${visible(other_arguments)}`}</pre>
    )}
    <p class="quiet">{outcome === undefined ? 'Not answered yet.' : visible(outcome)}</p>
  </div>
);

const NoteEntry = ({ of: { id, sid }, entry: { tone, text, detail, tab } }: EntryProps<Note>) => {
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
        {tab === 'plan' ? 'Show plan' : 'Show diff'}
      </a>
    </p>
  );
};

/** Loads the whole content of a shortened entry, as text. */
const Whole = ({ of, entry }: EntryProps) => {
  const [text, setText] = useState<string | undefined>();
  if (!isBrowser) return <p class="quiet">The transcript has all of it. Its path is below.</p>;
  if (text !== undefined) return <pre class="as-written">{text}</pre>;
  const ask = () =>
    void loadWhole(of, entry).then(setText, (error: Error) => setText(error.message));
  return (
    <button type="button" onClick={ask}>
      Show all
    </button>
  );
};

const PAGE = 1000;

const loadWhole = async (of: SessionRef, entry: Entry): Promise<string> => {
  const texts: string[] = [];
  // A call's last event has all of its output.
  const start = entry.kind === 'call' ? entry.to - 1 : entry.from - 1;
  for (let after = start; after < entry.to; ) {
    const query = { after, limit: PAGE };
    const events = await browserApi.call('GET /cases/{id}/sessions/{sid}/stream', { ...of, query });
    const within = events.filter(({ id }) => id <= entry.to);
    texts.push(...within.map((event) => textOf(event, entry)));
    after = events.at(-1)?.id ?? entry.to;
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
