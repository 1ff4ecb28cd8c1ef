import { randomUUID } from 'node:crypto';
import { visible } from '../../store/base/visible.ts';
import { inScratch } from '../../store/fs/directories.ts';
import type { Tried } from '../../store/records/provider.ts';
import type { Reached } from '../../store/records/worktree.ts';
import type { Store, WithStore } from '../../store/store.ts';
import { invalidState, orNotFound, ServiceError } from '../errors.ts';
import { requireTrustedProvider } from '../guard/trust/require.ts';
import { forgetState } from '../sandbox/state/open.ts';
import { answering } from './prompt.ts';
import type { Provider, RunResult } from './provider.ts';
import type { WithProviders } from './providers.ts';

/**
 * Has a provider answer a prompt in a temporary empty directory. In Plan mode, because nothing was approved.
 */
export const tryPrompt = async (
  { store, providers }: WithProviders & WithStore,
  id: string,
  prompt: string,
): Promise<Tried> => {
  requireTrustedProvider(store, id);
  const provider = orNotFound(providers().get(id), 'provider', id);
  const { available, reason, kind } = await provider.probe();
  if (kind === 'manual')
    throw invalidState('The provider manual cannot answer a prompt. Use another provider.');
  if (!available)
    throw new ServiceError('unavailable', reason ?? `The provider ${id} is not available.`);
  const since = performance.now();
  const network: Reached = [];
  const done = await answer(store, provider, { prompt, network });
  const { outcome, plan = '', error = null, usage = null } = done;
  const duration_ms = Math.round(performance.now() - since);
  return {
    provider: id,
    outcome,
    output: visible(plan),
    error: error && visible(error),
    usage,
    network,
    duration_ms,
  };
};

const answer = (
  store: Store,
  provider: Provider,
  { prompt, network }: { prompt: string; network: Reached },
): Promise<RunResult> =>
  inScratch(store.layout, (dir) => {
    const session_id = randomUUID();
    const run = provider.start(
      {
        ...answering(prompt),
        session_id,
        run_marker: randomUUID(),
        cwd: dir,
        session_dir: dir,
        writable: [],
        kept: [],
        hidden: [store.layout.dossier],
      },
      (event) => {
        if (event.type === 'network') network.push(event.data);
      },
    );
    return run.done.finally(() => forgetState(store.layout.states, session_id));
  });
