import { readFences } from '../../../base/markdown/fences.ts';
import { visible } from '../../../base/visible.ts';
import type { Session } from '../../../lib/client/client.ts';

const SHELL = /^(?:sh|shell|bash)$/i;

/** What a plan says is run, apart from its words, and what else its session may do. */
export const PlanCommands = ({ text, session }: { text: string; session: Session }) => {
  const blocks = readFences(text).filter(
    ({ info, content }) => SHELL.test(info.split(/[ \t]/, 1)[0] ?? '') && content.trim() !== '',
  );
  return (
    <details class="commands" open={blocks.length > 0}>
      <summary>
        {blocks.length === 1 ? '1 command block' : `${blocks.length} command blocks`}
      </summary>
      {blocks.map(({ content, lead }, at) => (
        <div key={at}>
          {lead !== '' && <p class="quiet">{visible(lead)}</p>}
          <pre>
            <code>{visible(content)}</code>
          </pre>
        </div>
      ))}
      <p class="quiet">{LEAVE[session.provider] ?? AGENT}</p>
    </details>
  );
};

const AGENT =
  'Once approved it edits files of its worktree unasked. For each command and each request to the network it asks you, unless permissions in workspace.md allow it.';

const LEAVE: Readonly<Record<string, string>> = {
  runbook:
    'Once approved these blocks are run one by one in the worktree, and nothing else. The first that fails ends it.',
  manual: 'Nothing is run: the work is yours.',
};
