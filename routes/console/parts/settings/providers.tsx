import type { Provider } from '../../../../lib/client/client.ts';
import { Do } from '../form.tsx';
import { Written } from '../written.tsx';

interface ProvidersProps {
  providers: readonly Provider[];
  /** Who plans and works in new sessions. */
  chosen: string;
  etag: string;
}

/** Who could plan and work, as `dossier doctor` tells it; those that can be used first. */
export const Providers = ({ providers, chosen, etag }: ProvidersProps) => {
  const known = providers.some(({ id }) => id === chosen);
  const order = ({ id, available }: Provider) => Number(id !== chosen) + Number(!available);
  return (
    <section aria-labelledby="provider">
      <h2 id="provider">Provider</h2>
      <p class="quiet">Who plans and works in new sessions. Each session can name another.</p>
      {!known && (
        <p class="bad">
          The settings name <Written text={chosen} />, and there is none of that name.
        </p>
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
          <Written text={id} /> {version !== undefined && <small>{version}</small>}
        </h3>
        {isChosen && <span class="tag working">Chosen</span>}
        {!available && <span class="tag">Not here</span>}
        {available && login === 'no' && <span class="tag trust">Not logged in</span>}
        {available && !isChosen && (
          <Do call="PUT /settings" body={{ provider: id }} if_match={etag}>
            <button type="submit" class="small" data-key="p" aria-label={`Use ${id}`}>
              Use
            </button>
          </Do>
        )}
      </div>
      <p class="message quiet">
        {available ? (
          <>
            {WHAT[id] ?? ISOLATIONS[isolation]}
            {login !== undefined && ` ${LOGINS[login]}`}
          </>
        ) : (
          <Written text={reason ?? ''} />
        )}
      </p>
    </li>
  );
};

const WHAT: Readonly<Record<string, string>> = {
  runbook: 'Runs the sh blocks of the description, once you approved them. No model is asked.',
  manual: 'You: you write the plan, and do the work.',
};

const ISOLATIONS: Readonly<Record<Provider['isolation'], string>> = {
  enforced: 'In Plan mode the system itself keeps it from writing.',
  checked: 'What it writes in Plan mode is found and undone after.',
  untried: 'A sandbox that nobody has tried holds it in Plan mode; what it writes is undone.',
  operator: 'You keep to Plan mode yourself.',
};

// By files and keys alone: whether the model takes them, only a session says.
const LOGINS: Readonly<Record<NonNullable<Provider['login']>, string>> = {
  yes: 'Logged in, or with a key.',
  no: 'Log in with the agent itself once, or give the daemon its key.',
  unknown: 'Whether it is logged in is not known.',
};
