import { useState } from 'preact/hooks';
import type { CaseUsage, HistoryEntry, MemoryFile } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Fact, Section } from '../facts.tsx';
import { browserApi } from '../form.tsx';
import { Markdown } from '../markdown.tsx';
import { RelativeTime } from '../relative-time.tsx';

/** The usage of all sessions, if the agents reported it. */
export const UsageFact = ({ of }: { of: CaseUsage }) => {
  const { cost_usd, input_tokens, output_tokens, at_least } = of;
  const parts = [
    ...(cost_usd === null ? [] : [`$${cost_usd.toFixed(2)}`]),
    ...(input_tokens === null ? [] : [`${COUNT.format(input_tokens)} in`]),
    ...(output_tokens === null ? [] : [`${COUNT.format(output_tokens)} out`]),
  ];
  if (parts.length === 0) return null;
  return <Fact name="Usage">{`${at_least === true ? 'at least ' : ''}${parts.join(', ')}`}</Fact>;
};

const COUNT = new Intl.NumberFormat('en', { notation: 'compact' });

/** The memory files, each loaded when it is opened. */
export const Memory = ({ case_id, files }: { case_id: string; files: readonly MemoryFile[] }) =>
  files.length === 0 ? null : (
    <Section id="memory" title="Memory">
      {files.map((file) => (
        <MemoryEntry key={file.filename} case_id={case_id} {...file} />
      ))}
    </Section>
  );

const MemoryEntry = ({ case_id, filename, size }: MemoryFile & { case_id: string }) => {
  const [text, setText] = useState<string>();
  const path = { id: case_id, filename };
  const onToggle = () =>
    void browserApi
      .call('GET /cases/{id}/memory/{filename}', path)
      .then(setText, () => setText('The file cannot be read.'));
  return (
    <details class="edit" onToggle={onToggle}>
      <summary>
        <code>{visible(filename)}</code> <span class="quiet">{`${size} bytes`}</span>
      </summary>
      {text === undefined ? (
        <a href={`/cases/${case_id}/memory/${encodeURIComponent(filename)}`}>Open</a>
      ) : (
        <Markdown text={text} />
      )}
    </details>
  );
};

/** The commits of the workspace that changed the Work item. */
export const History = ({ of: entries }: { of: readonly HistoryEntry[] }) =>
  entries.length === 0 ? null : (
    <Section id="history" title="History">
      <ol class="bare history">
        {entries.map(({ commit, message, author, at }) => (
          <li key={commit} class="line">
            <code>{commit.slice(0, 8)}</code>
            <span class="said">{visible(message.split('\n')[0] ?? '')}</span>
            <span class="quiet">{visible(author)}</span>
            <RelativeTime at={at} />
          </li>
        ))}
      </ol>
    </Section>
  );
