import type { Session, WorktreeBase } from '../../../../lib/client/client.ts';
import { baseHasMoved, describeBase } from '../../../../lib/text/wording.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Fact } from '../facts.tsx';
import { Copy } from '../links.tsx';
import { boundaryFacts, IsolationWarnings } from './boundary.tsx';
import type { PlanRead } from './read.ts';

type HeadProps = Pick<PlanRead, 'session' | 'boundary' | 'base'>;

/** The provider, base, boundary and hash of a plan. */
export const PlanHead = ({ session, boundary, base }: HeadProps) => {
  const { provider, model, effort, base_commit, usage } = session;
  const { approval_sha256 } = boundary?.unasked ?? {};
  const hash = session.approved_sha256 ?? approval_sha256 ?? session.plan_sha256;
  const cost = usage?.cost_usd;
  return (
    <>
      {boundary && <IsolationWarnings {...boundary} />}
      {session.came_later !== undefined && (
        <p class="box warn" role="note">
          {session.came_later}
        </p>
      )}
      <dl class="facts plan-facts">
        <Fact name="Provider">{visible([provider, model, effort].filter(Boolean).join(', '))}</Fact>
        {base_commit !== null && (
          <Fact name="Base">
            {visible(base === undefined ? `${base_commit.slice(0, 10)}.` : baseText(base))}
          </Fact>
        )}
        {boundary &&
          boundaryFacts(boundary).map(([name, text]) => (
            <Fact key={name} name={name}>
              {visible(text)}
            </Fact>
          ))}
        {hash !== null && (
          <Fact name={session.approved_sha256 === null ? 'Hash' : 'Approved'}>
            <Hash of={hash} />
          </Fact>
        )}
        <Fact name="Cost">{typeof cost === 'number' ? `$${cost.toFixed(2)}` : 'not reported'}</Fact>
      </dl>
    </>
  );
};

const baseText = (base: WorktreeBase): string => {
  const { new_in_base: count = null } = base;
  if (count === null) return describeBase(base);
  return `${describeBase(base)} ${count === 0 ? 'Up to date.' : baseHasMoved(count)}`;
};

const Hash = ({ of: hash }: { of: string }) => (
  <>
    <code title={hash}>{hash.slice(0, 12)}</code> <Copy class="small" name="the hash" text={hash} />
  </>
);

/** Invisible or misleading characters in the plan. */
export const HiddenTextWarnings = ({ of: warnings = [] }: { of: Session['warnings'] }) =>
  warnings.length === 0 ? null : (
    <div class="box warn plan-hidden" role="note">
      <strong>This plan has invisible or misleading characters.</strong>
      <ul>
        {warnings.map(({ kind, line, text }, at) => (
          <li key={at}>
            {`Line ${line}: ${kind.replaceAll('_', ' ')}, `}
            <code>{visible(text)}</code>
          </li>
        ))}
      </ul>
      {warnings.length >= SERVED && (
        <p>{`Only the first ${SERVED} are listed. The plan shows all of them.`}</p>
      )}
    </div>
  );

/** The most warnings that the API returns for a plan. */
const SERVED = 100;
