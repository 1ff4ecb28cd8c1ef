import type { Provider } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { CallButton } from '../form.tsx';

interface ProvidersProps {
  providers: readonly Provider[];
  /** The provider of new sessions. */
  chosen: string;
  etag: string;
}

/** The providers, as `dossier doctor` lists them, available ones first. */
export const Providers = ({ providers, chosen, etag }: ProvidersProps) => {
  const known = providers.some(({ id }) => id === chosen);
  const order = ({ id, available }: Provider) => Number(id !== chosen) + Number(!available);
  return (
    <section aria-labelledby="provider">
      <h2 id="provider">Provider</h2>
      <p class="quiet">Plans and works in new sessions. A session can choose another provider.</p>
      {!known && (
        <p class="bad">The settings name the provider {visible(chosen)}, which does not exist.</p>
      )}
      <ul class="rows" aria-label="Providers">
        {providers
          .toSorted((a, b) => order(a) - order(b))
          .map((one) => (
            <Row key={one.id} one={one} isChosen={one.id === chosen} etag={etag} />
          ))}
      </ul>
    </section>
  );
};

const Row = ({ one, isChosen, etag }: { one: Provider; isChosen: boolean; etag: string }) => {
  const { id, available, reason, version, login, isolation } = one;
  return (
    <li class="row" data-row={id} tabIndex={-1}>
      <div class="head">
        <h3 class="title">
          {visible(id)} {version !== undefined && <small>{version}</small>}
        </h3>
        {isChosen && <span class="tag working">Chosen</span>}
        {!available && <span class="tag">Not available</span>}
        {available && login === 'no' && <span class="tag trust">Not logged in</span>}
        {available && !isChosen && (
          <CallButton
            call="PUT /settings"
            body={{ provider: id }}
            if_match={etag}
            button="small"
            keys="p"
            label={`Use ${id}`}
          >
            Use
          </CallButton>
        )}
      </div>
      <p class="message quiet">
        {available ? (
          <>
            {WHAT[id] ?? ISOLATIONS[isolation]}
            {login !== undefined && ` ${LOGINS[login]}`}
          </>
        ) : (
          visible(reason ?? '')
        )}
      </p>
    </li>
  );
};

const WHAT: Readonly<Record<string, string>> = {
  runbook: 'Runs the sh blocks of the description after you approve them. Uses no model.',
  manual: 'You write the plan and do the work.',
};

const ISOLATIONS: Readonly<Record<Provider['isolation'], string>> = {
  enforced: 'The operating system prevents writes in Plan mode.',
  checked: 'Writes in Plan mode are detected and undone afterwards.',
  untried: 'An untested sandbox applies in Plan mode. Writes are undone afterwards.',
  operator: 'You keep to Plan mode yourself.',
};

// Judged by files and keys; only a session shows whether the model accepts them.
const LOGINS: Readonly<Record<NonNullable<Provider['login']>, string>> = {
  yes: 'Logged in, or has a key.',
  no: 'Log in with the agent once, or give the daemon its key.',
  unknown: 'Login unknown.',
};
