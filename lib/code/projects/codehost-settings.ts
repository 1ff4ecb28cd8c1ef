import { lockOn } from '../../../store/base/locks.ts';
import { etagOf, meets } from '../../../store/base/names.ts';
import { sha256 } from '../../../store/base/sha256.ts';
import type {
  CodeHostConfig,
  CodeHostConfigChange,
} from '../../../store/records/codehost-settings.ts';
import type { Settings } from '../../../store/records/settings.ts';
import {
  changeSettings,
  currentSettings,
  settingsChanged,
} from '../../../store/settings/settings.ts';
import type { Store } from '../../../store/store.ts';
import { incomingSecrets, setIncomingSecret } from '../../../store/webhooks/secrets.ts';
import { GITHUB, wrongApi } from '../../codehost/github/address.ts';
import { TIMEOUT_S } from '../../codehost/github/client.ts';
import { badField, ServiceError } from '../../errors.ts';

export interface ServedSettings {
  config: CodeHostConfig;
  /** Of workspace.md, and of whether there is a secret. */
  etag: string;
}

/** How the code host is asked, as workspace.md says it this moment. */
export const readCodeHostSettings = async (store: Store): Promise<ServedSettings> =>
  (await current(store)).served;

const current = async (store: Store): Promise<{ served: ServedSettings; file: string }> => {
  const { settings, etag: file } = await currentSettings(store);
  const webhook_secret = incomingSecrets(store.layout).length > 0 ? 'set' : 'unset';
  const config = { ...configOf(settings), webhook_secret } as const;
  return { served: { config, etag: etagOf(sha256(`${file} ${webhook_secret}`)) }, file };
};

const configOf = ({ codehost = {} }: Settings): Omit<CodeHostConfig, 'webhook_secret'> => ({
  kind: codehost.kind ?? 'github',
  host: codehost.host?.toLowerCase() ?? GITHUB,
  repository: codehost.repository ?? null,
  base_remote: codehost.base_remote ?? null,
  push_remote: codehost.push_remote ?? null,
  api_url: codehost.api_url ?? null,
  timeout_seconds: codehost.timeout_seconds ?? TIMEOUT_S,
});

/**
 * Writes into workspace.md what is given, and leaves the rest of the file as it is; null takes a setting out. The secret of
 * incoming webhooks goes where no record is.
 */
export const changeCodeHostSettings = (
  store: Store,
  { webhook_secret, ...change }: CodeHostConfigChange,
  ifMatch: string | undefined,
): Promise<ServedSettings> => {
  refuseWrong(change);
  return store.locks.take(lockOn.codehostSettings(), async () => {
    const { served, file } = await current(store);
    if (!meets(ifMatch, served.etag)) throw settingsChanged();
    const secret = secretToSet(webhook_secret, served.config);
    const changes = Object.fromEntries(
      Object.entries(change).map(([name, value]) => [name, value ?? undefined]),
    );
    const condition = ifMatch === undefined ? undefined : file;
    if (Object.keys(changes).length > 0)
      await changeSettings(store, {
        ...{ key: 'codehost', changes, ifMatch: condition },
        served: configOf,
      });
    if (secret !== undefined) await setIncomingSecret(store, secret);
    return readCodeHostSettings(store);
  });
};

// GET returns `set` or `unset` instead of the secret. Neither becomes the secret when a client sends it back.
const secretToSet = (
  sent: CodeHostConfigChange['webhook_secret'],
  { webhook_secret }: CodeHostConfig,
): CodeHostConfigChange['webhook_secret'] => {
  if (sent === webhook_secret) return undefined;
  if (sent !== 'set' && sent !== 'unset') return sent;
  const message = `must be the secret itself, or null to remove it, not the word "${sent}"`;
  throw badField('/webhook_secret', message);
};

const refuseWrong = ({ api_url }: CodeHostConfigChange): void => {
  const message = typeof api_url === 'string' ? wrongApi(api_url) : undefined;
  if (message === undefined) return;
  const errors = [{ path: '/api_url', message }];
  throw new ServiceError('bad_request', `/api_url ${message}.`, { errors });
};
