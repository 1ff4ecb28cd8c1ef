import type { Boundary } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import type { PlanRead } from './read.ts';

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
