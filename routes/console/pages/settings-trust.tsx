import type { TrustedValue, WaitingValue } from '../../../lib/client/client.ts';
import { page } from '../common/page.ts';
import { Do } from '../parts/form.tsx';
import { Settings } from '../parts/frames.tsx';
import { Json, Waiting } from '../parts/pending-value.tsx';
import { Since } from '../parts/relative-time.tsx';
import { Written } from '../parts/written.tsx';

interface TrustShown {
  values: WaitingValue[];
  /** How many more wait than are shown. */
  more: number;
  trusted: TrustedValue[];
}

/** As many as one call may name. */
const MOST = 1000;

const KINDS: Readonly<Record<WaitingValue['kind'], string>> = {
  setting: 'Setting',
  webhook: 'Webhook',
  change: 'Held change',
  session: 'Session started elsewhere',
  approval: 'Plan approved elsewhere',
  key: 'API key made elsewhere',
  worktree: 'Worktree made elsewhere',
};

const WORDS: Readonly<Partial<Record<WaitingValue['kind'], string>>> = {
  session: 'Confirm this session',
  approval: 'Approve again',
  worktree: 'Confirm this worktree',
};

const View = ({ values, more, trusted }: TrustShown) => (
  <Settings tab="Trust">
    <p class="quiet">
      What starts programs, names places or opens doors, and came by hand, by git or by an import,
      holds once you have said so on this machine.
    </p>
    {values.length === 0 ? <Empty /> : <List values={values} more={more} />}
    {trusted.length > 0 && <Trusted values={trusted} />}
  </Settings>
);

const Empty = () => (
  <div class="empty">
    <p>
      <strong>Nothing waits for your trust.</strong>
    </p>
    <p>What you change through the console or the API holds at once.</p>
  </div>
);

const List = ({ values, more }: Pick<TrustShown, 'values' | 'more'>) => (
  <>
    {values.filter(isForAll).length > 1 && (
      <Do call="POST /trust" body={wishOf(values.filter(isForAll))} class="line">
        <button type="submit" data-key="A">
          Trust {values.filter(isForAll).length} of {values.length}
        </button>
        <span class="quiet">
          One that changed since you looked refuses all. Plans are approved one by one.
        </span>
      </Do>
    )}
    <ol class="rows" aria-label="What waits for your trust">
      {values.map((value) => (
        <Row key={`${value.file} ${value.key} ${value.hash}`} value={value} />
      ))}
    </ol>
    {more > 0 && <p class="quiet">{more} more wait, and are shown after these.</p>}
  </>
);

// A plan is approved by itself, once it was read.
const isForAll = ({ kind }: WaitingValue): boolean => kind !== 'approval';

const Row = ({ value }: { value: WaitingValue }) => (
  <li class="row" data-row={`${value.file} ${value.key}`} tabIndex={-1}>
    <div class="head">
      <span class="tag trust">{KINDS[value.kind]}</span>
      <h2 class={value.title === undefined ? 'title mono' : 'title'}>
        {value.title === undefined || value.case_id === undefined ? (
          <Written text={value.key} />
        ) : (
          <a href={placeFor(value)}>
            <Written text={value.title} />
          </a>
        )}
      </h2>
      <Since at={value.since} />
    </div>
    <Waiting {...value} />
    <Do call="POST /trust" body={wishOf([value])} class="answers">
      <button type="submit" class="primary" data-key="a">
        {WORDS[value.kind] ?? 'Trust this value'}
      </button>
    </Do>
  </li>
);

const Trusted = ({ values }: { values: readonly TrustedValue[] }) => (
  <>
    <h2>Trusted on this machine</h2>
    <ol class="rows" aria-label="What you have trusted">
      {values.map(({ key, value, since }) => (
        <li class="row" key={key} data-row={`trusted ${key}`} tabIndex={-1}>
          <div class="head">
            <h3 class="title mono">
              <Written text={key} />
            </h3>
            {since !== undefined && <Since at={since} />}
          </div>
          <Json of={value} />
          <Do call={`DELETE /trusted/${encodeURIComponent(key)}`} class="answers">
            <button type="submit">Revoke</button>
          </Do>
        </li>
      ))}
    </ol>
  </>
);

// The page that has the plan, where there is one.
const placeFor = ({ key, kind, case_id }: WaitingValue): string =>
  kind === 'worktree'
    ? `/dashboard/cases/${case_id}`
    : `/dashboard/cases/${case_id}/${key}${kind === 'approval' ? '/plan' : ''}`;

const wishOf = (values: readonly WaitingValue[]) => ({
  values: values.map(({ key, hash }) => ({ key, hash })),
});

export const settingsTrust = page<TrustShown>({
  title: ({ values }) => (values.length === 0 ? 'Trust' : `Trust (${values.length})`),
  load: async (api) => {
    const [all, trusted] = await Promise.all([api.call('GET /trust'), api.call('GET /trusted')]);
    return { trusted, values: all.slice(0, MOST), more: Math.max(0, all.length - MOST) };
  },
  View,
});
