import { readFences } from '../../../../lib/text/markdown/fences.ts';
import { visible } from '../../../../store/base/visible.ts';

const SHELL = /^(?:sh|shell|bash)$/i;

/** So many are shown apart; all of them stand in the plan. */
const MOST = 100;

/** What a plan says is run, apart from its words. */
export const PlanCommands = ({ text }: { text: string }) => {
  const blocks = readFences(text).filter(
    ({ info, content }) => SHELL.test(info.split(/[ \t]/, 1)[0] ?? '') && content.trim() !== '',
  );
  return (
    <details class="commands" open={blocks.length > 0}>
      <summary>
        {blocks.length === 1 ? '1 command block' : `${blocks.length} command blocks`}
      </summary>
      {blocks.slice(0, MOST).map(({ content, lead }, at) => (
        <div key={at}>
          {lead !== '' && <p class="quiet">{visible(lead)}</p>}
          <pre>
            <code>{visible(content)}</code>
          </pre>
        </div>
      ))}
      {blocks.length > MOST && (
        <p class="quiet">{`${blocks.length - MOST} more stand in the plan itself.`}</p>
      )}
    </details>
  );
};
