import type { TrustedValue, WaitingValue } from '../../../lib/client/client.ts';
import { visible } from '../../../store/base/visible.ts';
import { definePage } from '../common/page.ts';
import { Empty } from '../parts/facts.tsx';
import { ApiForm, CallButton } from '../parts/form.tsx';
import { Settings } from '../parts/frames.tsx';
import { ChangedSinceOpened, useOpened } from '../parts/opened.tsx';
import { JsonValue, PendingValue } from '../parts/pending-value.tsx';
import { RelativeTime } from '../parts/relative-time.tsx';

interface TrustShown {
  values: WaitingValue[];
  /** The number of values not shown. */
  more: number;
  trusted: TrustedValue[];
}

/** The most values that one call may name. */
const MOST = 1000;

const KINDS: Readonly<Record<WaitingValue['kind'], string>> = {
  setting: 'Setting',
  webhook: 'Webhook',
  change: 'Unconfirmed change',
  session: 'Session started elsewhere',
  approval: 'Plan approved elsewhere',
  key: 'API key created elsewhere',
  worktree: 'Worktree created elsewhere',
};

const WORDS: Readonly<Partial<Record<WaitingValue['kind'], string>>> = {
  session: 'Confirm session',
  approval: 'Approve again',
  worktree: 'Confirm worktree',
};

const View = ({ values, more, trusted }: TrustShown) => (
  <Settings tab="Trust">
    <p class="quiet">
      A setting that runs programs, names paths or opens connections needs your trust on this
      machine if a file edit, git or an import changed it. Until then it does not apply.
    </p>
    {values.length === 0 ? (
      <Empty title="Nothing needs your trust.">
        <p>Changes through the console or the API apply at once.</p>
      </Empty>
    ) : (
      <List values={values} more={more} />
    )}
    {trusted.length > 0 && <Trusted values={trusted} />}
  </Settings>
);

const List = ({ values, more }: Pick<TrustShown, 'values' | 'more'>) => (
  <>
    <TrustAll values={values.filter(isIncludedInAll)} of={values.length} />
    <ol class="rows" aria-label="Untrusted values">
      {values.map((value) => (
        <Row key={`${value.file} ${value.key} ${value.hash}`} value={value} />
      ))}
    </ol>
    {more > 0 && <p class="quiet">{more} more are shown after these.</p>}
  </>
);

const TrustAll = ({ values, of }: { values: readonly WaitingValue[]; of: number }) => {
  const body = trustBody(values);
  const open = useOpened(JSON.stringify(body));
  if (values.length < 2) return null;
  if (open) return <ChangedSinceOpened what="The list" where="below" open={open} />;
  return (
    <ApiForm call="POST /trust" body={body} class="line">
      <button type="submit" data-key="A">
        Trust {values.length} of {of}
      </button>
      <span class="quiet">
        If one of them changed since, none is trusted. Plans are approved one by one.
      </span>
    </ApiForm>
  );
};

// A plan must be read before it is approved, so it is not part of a bulk action.
const isIncludedInAll = ({ kind }: WaitingValue): boolean => kind !== 'approval';

const Row = ({ value }: { value: WaitingValue }) => (
  <li class="row" data-row={`${value.file} ${value.key}`} tabIndex={-1}>
    <div class="head">
      <span class="tag trust">{KINDS[value.kind]}</span>
      <h2 class={value.title === undefined ? 'title mono' : 'title'}>
        {value.title === undefined || value.case_id === undefined ? (
          visible(value.key)
        ) : (
          <a href={placeFor(value)}>{visible(value.title)}</a>
        )}
      </h2>
      <RelativeTime at={value.since} />
    </div>
    <PendingValue {...value} />
    <CallButton
      call="POST /trust"
      body={trustBody([value])}
      class="answers"
      button="primary"
      keys="a"
    >
      {WORDS[value.kind] ?? 'Trust value'}
    </CallButton>
  </li>
);

const Trusted = ({ values }: { values: readonly TrustedValue[] }) => (
  <>
    <h2>Trusted on this machine</h2>
    <ol class="rows" aria-label="Trusted values">
      {values.map(({ key, value, since }) => (
        <li class="row" key={key} data-row={`trusted ${key}`} tabIndex={-1}>
          <div class="head">
            <h3 class="title mono">{visible(key)}</h3>
            {since !== undefined && <RelativeTime at={since} />}
          </div>
          <JsonValue of={value} />
          <CallButton call={`DELETE /trusted/${encodeURIComponent(key)}`} class="answers">
            Revoke
          </CallButton>
        </li>
      ))}
    </ol>
  </>
);

// The page of the session or worktree; for an approval, its plan.
const placeFor = ({ key, kind, case_id }: WaitingValue): string =>
  kind === 'worktree'
    ? `/dashboard/cases/${case_id}`
    : `/dashboard/cases/${case_id}/${key}${kind === 'approval' ? '/plan' : ''}`;

const trustBody = (values: readonly WaitingValue[]) => ({
  values: values.map(({ key, hash }) => ({ key, hash })),
});

export const page = definePage<TrustShown>({
  title: ({ values }) => (values.length === 0 ? 'Trust' : `Trust (${values.length})`),
  load: async (api) => {
    const [all, trusted] = await Promise.all([api.call('GET /trust'), api.call('GET /trusted')]);
    return { trusted, values: all.slice(0, MOST), more: Math.max(0, all.length - MOST) };
  },
  View,
});
