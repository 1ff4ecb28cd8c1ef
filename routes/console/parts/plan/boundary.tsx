import type { Boundary } from '../../../../lib/client/client.ts';
import { shellBlocks } from '../../../../lib/text/markdown/fences.ts';
import { counted, networkWords } from '../../../../lib/text/wording.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Fact } from '../facts.tsx';
import type { PlanRead } from './read.ts';

/** The sandbox and the network of the session, as facts of the plan's header. */
export const boundaryFacts = (boundary: Boundary): readonly (readonly [string, string])[] => {
  const { sandbox, network, local = [], commits } = boundary;
  const after = commits ? [['Commit', 'on its branch, after the session'] as const] : [];
  if (sandbox === undefined || network === undefined) return after;
  const here = local.length === 0 ? '' : `; on this machine ${local.join(', ')}`;
  return [
    ['Sandbox', sandbox === 'seatbelt' ? 'Seatbelt (untested)' : sandbox],
    ['Network', `${networkWords(network)}${here}`],
    ...after,
  ];
};

/** The warnings that precede an approval. */
export const IsolationWarnings = ({ sandbox, network, reason, missing }: Boundary) => (
  <>
    {missing !== undefined && (
      <div class="box warn" role="note">
        <strong>The session cannot start.</strong> {visible(missing)}
      </div>
    )}
    {sandbox !== undefined && sandbox !== 'bubblewrap' && (
      <div class="box error plan-unshut" role="note">
        <strong>Not isolated.</strong> Commands can read, change and reach everything that your user
        can. {visible(reason ?? '')}
      </div>
    )}
    {sandbox === 'bubblewrap' && network === 'host' && (
      <div class="box error plan-unshut" role="note">
        <strong>The network is not isolated.</strong> Commands can reach every service on this
        machine, and bypass the sandbox through such a service.
      </div>
    )}
  </>
);

/** What the session may do without asking. */
export const Permissions = ({ kind, permissions }: Boundary) => (
  <section class="plan-leave" aria-label="Permissions">
    <h2>Permissions</h2>
    {permissions === undefined ? (
      <p>{UNASKED[kind]}</p>
    ) : (
      <dl class="facts">
        <Fact name="Edits in the worktree">allowed</Fact>
        <Fact name="Commands">{commandWords(permissions)}</Fact>
        <Fact name="Network requests">
          {permissions.fetch === 'allow' ? 'allowed' : 'asks each time'}
        </Fact>
      </dl>
    )}
  </section>
);

const UNASKED: Readonly<Record<Boundary['kind'], string>> = {
  runbook:
    'Only these blocks run, one by one in the worktree, without asking. The first failure ends the session.',
  manual: 'Nothing runs. You do the work.',
  command: 'The agent never asks. Its own settings and the sandbox limit it.',
  acp: 'Unknown: the settings define no such provider.',
};

const commandWords = ({ execute, prefixes }: NonNullable<Boundary['permissions']>): string => {
  if (execute === 'allow') return 'all allowed';
  const allowedPrefixes = [...(typeof execute === 'string' ? [] : execute), ...prefixes];
  const unasked = [
    ...(execute === 'plan' ? ['those approved with the plan'] : []),
    ...(allowedPrefixes.length > 0
      ? [`those that begin with ${allowedPrefixes.map((one) => visible(one)).join(', ')}`]
      : []),
  ];
  const rest = 'asks; some agents run read-only commands without asking';
  return unasked.length === 0 ? rest : `allowed: ${unasked.join(', and ')}; others: ${rest}`;
};

interface UnaskedProps extends NonNullable<Boundary['unasked']>, Pick<PlanRead, 'ask'> {
  /** The address of the plan. */
  at: string;
}

/** The commands that will run without asking. Before the approval each can be taken off the list. */
export const UnaskedCommands = ({ commands, approval_sha256, ask, at }: UnaskedProps) => {
  const isOpen = approval_sha256 !== undefined;
  return (
    <section class="plan-unasked" aria-label="Commands that run without asking">
      <h2>
        {isOpen ? 'Commands that will run without asking' : 'Commands that run without asking'}
      </h2>
      <ul>
        {commands.map((command) => (
          <li key={command}>
            <code>{visible(command)}</code>
            {isOpen && (
              <a href={withAskList(at, [...ask, command])}>{`Ask for ${visible(command)}`}</a>
            )}
          </li>
        ))}
        {isOpen &&
          ask.map((command) => (
            <li key={command}>
              <s>
                <code>{visible(command)}</code>
              </s>
              <a
                href={withAskList(at, without(ask, command))}
              >{`Do not ask for ${visible(command)}`}</a>
            </li>
          ))}
      </ul>
      <p class="quiet">
        Exactly these lines, in the worktree and in the sandbox. Any other command asks first.
      </p>
    </section>
  );
};

const without = (ask: readonly string[], command: string): string[] =>
  ask.filter((one) => one !== command);

/** The address of the plan with these commands taken off the list. */
export const withAskList = (href: string, ask: readonly string[]): string => {
  if (ask.length === 0) return href;
  return `${href}${href.includes('?') ? '&' : '?'}ask=${encodeURIComponent(ask.join('\n'))}`;
};

/** The most blocks shown here; the plan has all of them. */
const MOST = 100;

/** The command blocks of a plan. */
export const PlanCommands = ({ text }: { text: string }) => {
  const blocks = shellBlocks(text);
  return (
    <details class="commands" open={blocks.length > 0}>
      <summary>{counted(blocks.length, 'command block')}</summary>
      {blocks.slice(0, MOST).map(({ script, lead }, at) => (
        <div key={at}>
          {lead !== '' && <p class="quiet">{visible(lead)}</p>}
          <pre>
            <code>{visible(script)}</code>
          </pre>
        </div>
      ))}
      {blocks.length > MOST && (
        <p class="quiet">{`${blocks.length - MOST} more are in the plan.`}</p>
      )}
    </details>
  );
};
