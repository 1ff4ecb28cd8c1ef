import type { Boundary, Session, WorktreeBase } from '../../../../lib/client/client.ts';
import { basedOn } from '../../../../lib/text/based-on.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Copy } from '../links.tsx';
import { boundaryFacts, Unshut } from './boundary.tsx';

interface HeadProps {
  session: Session;
  /** What shuts in what would run; undefined where that cannot be told, or nothing runs any more. */
  boundary: Boundary | undefined;
  /** By how many commits the base branch has moved since, where that can be told. */
  behind: number | null;
  /** What its worktree began from, where that can be read. */
  base: WorktreeBase | undefined;
}

/** Who made a plan, where and from what. */
export const PlanHead = ({ session, boundary, behind, base }: HeadProps) => {
  const { provider, model, effort, base_commit, usage } = session;
  const { approval_sha256 } = boundary?.unasked ?? {};
  const hash = session.approved_sha256 ?? approval_sha256 ?? session.plan_sha256;
  const cost = usage?.cost_usd;
  return (
    <>
      {boundary && <Unshut {...boundary} />}
      <dl class="facts plan-facts">
        <Fact name="By" text={[provider, model, effort].filter(Boolean).join(', ')} />
        {base_commit !== null && (
          <Fact
            name="From"
            text={`${base === undefined ? `${base_commit.slice(0, 10)}.` : basedOn(base)}${movedBy(behind)}`}
          />
        )}
        {boundary &&
          boundaryFacts(boundary).map(([name, text]) => (
            <Fact key={name} name={name} text={text} />
          ))}
        {hash !== null && (
          <>
            <dt>{session.approved_sha256 === null ? 'Hash' : 'Approved'}</dt>
            <dd>
              <Hash of={hash} />
            </dd>
          </>
        )}
        <Fact name="Cost" text={typeof cost === 'number' ? `$${cost.toFixed(2)}` : 'not told'} />
      </dl>
    </>
  );
};

const movedBy = (behind: number | null): string => {
  if (behind === null) return '';
  if (behind === 0) return ' It is up to date.';
  return behind === 1
    ? ' Since then the base has one commit more.'
    : ` Since then the base has ${behind} commits more.`;
};

const Fact = ({ name, text }: { name: string; text: string }) => (
  <>
    <dt>{name}</dt>
    <dd>{visible(text)}</dd>
  </>
);

const Hash = ({ of: hash }: { of: string }) => (
  <>
    <code title={hash}>{hash.slice(0, 12)}</code> <Copy class="small" name="the hash" text={hash} />
  </>
);

/** What a reader of the plan would not see, or take for something else. */
export const Hidden = ({ of: warnings = [] }: { of: Session['warnings'] }) =>
  warnings.length === 0 ? null : (
    <div class="box warn plan-hidden" role="note">
      <strong>This plan holds what one does not see, or takes for something else.</strong>
      <ul>
        {warnings.map(({ kind, line, text }, at) => (
          <li key={at}>
            {`Line ${line}: ${kind.replaceAll('_', ' ')}, `}
            <code>{visible(text)}</code>
          </li>
        ))}
      </ul>
      {warnings.length >= SERVED && (
        <p>{`Only the first ${SERVED} are listed. The text of the plan shows all of them.`}</p>
      )}
    </div>
  );

/** So many are served of a plan. */
const SERVED = 100;
