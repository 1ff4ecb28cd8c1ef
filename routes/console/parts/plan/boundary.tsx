import type { Boundary } from '../../../../lib/client/client.ts';
import { readFences } from '../../../../lib/text/markdown/fences.ts';
import { visible } from '../../../../store/base/visible.ts';
import type { PlanRead } from './read.ts';

/** What shuts in what would run, in the words of the head: sandbox and network. */
export const boundaryFacts = (boundary: Boundary): readonly (readonly [string, string])[] => {
  const { sandbox, network, local = [], commits } = boundary;
  const after = commits ? [['Commit', 'on its branch, once it completes'] as const] : [];
  if (sandbox === undefined || network === undefined) return after;
  const here = local.length === 0 ? '' : `, and here ${local.join(', ')}`;
  return [
    ['Sandbox', SANDBOXES[sandbox]],
    ['Network', `${networkWords(network)}${here}`],
    ...after,
  ];
};

const SANDBOXES = {
  bubblewrap: 'bubblewrap',
  seatbelt: 'Seatbelt, which nobody has tried',
  none: 'none',
} as const;

const networkWords = (network: NonNullable<Boundary['network']>): string => {
  if (network === 'host') return 'open, with all that is on this machine';
  if (network === 'proxy') return 'open, but for this machine';
  return network.allow.length === 0 ? 'closed' : `only ${network.allow.join(', ')}`;
};

/** What of it has to be seen before one approves. */
export const Unshut = ({ sandbox, network, reason, missing }: Boundary) => (
  <>
    {missing !== undefined && (
      <div class="box warn" role="note">
        <strong>It cannot be started now.</strong> {visible(missing)}
      </div>
    )}
    {sandbox !== undefined && sandbox !== 'bubblewrap' && (
      <div class="box error plan-unshut" role="note">
        <strong>Not isolated.</strong> What runs can read, change and reach whatever your user can.{' '}
        {visible(reason ?? '')}
      </div>
    )}
    {sandbox === 'bubblewrap' && network === 'host' && (
      <div class="box error plan-unshut" role="note">
        <strong>Its network is not isolated.</strong> It reaches every service of this machine, and
        so has a way around its sandbox.
      </div>
    )}
  </>
);

/** What is done unasked once the plan is approved. */
export const Leave = ({ kind, permissions }: Boundary) => (
  <section class="plan-leave" aria-label="Permissions">
    <h2>Permissions</h2>
    {permissions === undefined ? (
      <p>{UNASKED[kind]}</p>
    ) : (
      <dl class="facts">
        <dt>Edits in its worktree</dt>
        <dd>unasked</dd>
        <dt>Commands</dt>
        <dd>{commandWords(permissions)}</dd>
        <dt>Requests to the network</dt>
        <dd>{permissions.fetch === 'allow' ? 'unasked' : 'you are asked for each'}</dd>
      </dl>
    )}
  </section>
);

const UNASKED: Readonly<Record<Boundary['kind'], string>> = {
  runbook:
    'These blocks are run one by one in the worktree, and nothing else. Nothing is asked; the first that fails ends it.',
  manual: 'Nothing is run: the work is yours.',
  command: 'It asks nothing: it does what its own settings and its sandbox let it.',
  acp: 'Not known: its settings make no provider.',
};

const commandWords = ({ execute, prefixes }: NonNullable<Boundary['permissions']>): string => {
  if (execute === 'allow') return 'all unasked';
  const begun = [...(typeof execute === 'string' ? [] : execute), ...prefixes];
  const unasked = [
    ...(execute === 'plan' ? ['those that you approve with the plan'] : []),
    ...(begun.length > 0
      ? [`those that begin with ${begun.map((one) => visible(one)).join(', ')}`]
      : []),
  ];
  const rest = 'you are asked; some agents run what only reads unasked';
  return unasked.length === 0 ? rest : `unasked ${unasked.join(', and ')}; for others ${rest}`;
};

interface UnaskedProps extends NonNullable<Boundary['unasked']>, Pick<PlanRead, 'ask'> {
  /** The page of the plan. */
  at: string;
}

/** The commands that run without asking. Before the plan is approved, each can be taken out. */
export const Unasked = ({ commands, approval_sha256, ask, at }: UnaskedProps) => {
  const isOpen = approval_sha256 !== undefined;
  return (
    <section class="plan-unasked" aria-label="Commands that run without asking">
      <h2>{isOpen ? 'Will run without asking' : 'Runs without asking'}</h2>
      <ul>
        {commands.map((command) => (
          <li key={command}>
            <code>{visible(command)}</code>
            {isOpen && (
              <a href={withAsked(at, [...ask, command])}>{`Ask for ${visible(command)}`}</a>
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
                href={withAsked(at, without(ask, command))}
              >{`Do not ask for ${visible(command)}`}</a>
            </li>
          ))}
      </ul>
      <p class="quiet">
        Exactly these lines, in the worktree and in the sandbox. For any other command you are
        asked.
      </p>
    </section>
  );
};

const without = (ask: readonly string[], command: string): string[] =>
  ask.filter((one) => one !== command);

/** An address of the plan with these commands taken out of the list. */
export const withAsked = (href: string, ask: readonly string[]): string => {
  if (ask.length === 0) return href;
  return `${href}${href.includes('?') ? '&' : '?'}ask=${encodeURIComponent(ask.join('\n'))}`;
};

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
