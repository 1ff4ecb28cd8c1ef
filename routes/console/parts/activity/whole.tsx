import { useContext, useState } from 'preact/hooks';
import type { SessionEvent } from '../../../../lib/client/client.ts';
import { visibleOutput } from '../../../../store/base/visible.ts';
import type { Api } from '../../common/page.ts';
import { InReach } from '../do.tsx';
import type { Entry } from './entry.ts';
import type { OfSession } from './follow.ts';
import { fileDiffs } from './lines.ts';

interface WholeProps {
  of: OfSession;
  entry: Entry;
}

/** All of what is shown in part, once it is asked for: as text. */
export const Whole = ({ of, entry }: WholeProps) => {
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
