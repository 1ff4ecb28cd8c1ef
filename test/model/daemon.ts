/** A daemon in this process, on the store alone or behind its HTTP routes: opened, called, killed, opened again. */
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import lockfile from 'proper-lockfile';
import { moveTo } from '../../lib/work/cases/moves.ts';
import { markVerified } from '../../lib/work/proof/change.ts';
import { followUp } from '../../lib/work/proof/checklist.ts';
import { deleteCase, insertCase, readCase, updateCase } from '../../store/cases/cases.ts';
import { writeMemory } from '../../store/cases/memory.ts';
import { createProof, updateProof } from '../../store/cases/proofs.ts';
import type { OpenStore } from '../../store/open.ts';
import { itemOf } from '../../store/reconcile/items.ts';
import { resolveMissing } from '../../store/reconcile/missing.ts';
import { sweepWorkspace } from '../../store/reconcile/sweep.ts';
import type { Case, State } from '../../store/records/case.ts';
import type { EventRecord } from '../../store/records/event.ts';
import type { Store } from '../../store/store.ts';
import { compareHint } from '../../store/watch/change-scheduler.ts';
import { leftInTmp } from '../helpers/left-in-tmp.ts';
import { listed } from '../helpers/listed.ts';
import { STATE_DIR } from '../helpers/state-dir.ts';
import { openCompared } from '../helpers/workspace.ts';
import type { ActiveCall } from './calls.ts';
import { type Front, openFront } from './over-http.ts';
import { outside } from './steps.ts';

export interface Life {
  store: Store;
  /** Every event of the workspace that this life knows, in order. */
  heard: EventRecord[];
  /** What went wrong where nobody waited. */
  reported: string[];
  /** Makes a call; answers what it answered, or throws an error with a code. */
  perform(call: ActiveCall): Promise<Case | undefined>;
  close(): Promise<void>;
}

/** The store, and the rules of the API upon it: called as they are, or over HTTP. */
export const openLife = async (root: string, clock: () => Date, http: boolean): Promise<Life> => {
  const reported: string[] = [];
  const open = await openCompared(root, {
    state: STATE_DIR,
    clock,
    follow: followUp,
    trust: true,
    report: (error, what) => reported.push(`${what}: ${error}`),
  });
  const front = http ? await openFront(open.store) : undefined;
  return Object.assign(await lifeOf(open, front), { reported });
};

const lifeOf = async (
  open: OpenStore,
  front: Front | undefined,
): Promise<Omit<Life, 'reported'>> => {
  const { store } = open;
  const heard = await listed(store.journal.after(0));
  store.journal.onEvents((events) => heard.push(...events));
  return {
    store,
    heard,
    perform: async (call) => {
      const answer = front?.request(call);
      return answer === undefined ? perform(store, call) : (await answer).record;
    },
    close: () => open.close(),
  };
};

const perform = async (store: Store, active: ActiveCall): Promise<Case | undefined> => {
  const { call, id, tag } = active;
  switch (call.do) {
    case 'create':
      return insertCase(store, {
        matter: {
          id,
          title: call.title,
          type: 'bug',
          state: 'OPEN',
          outcome: null,
          created_at: at(store),
        },
        description: '',
      });
    case 'title':
      return found((await updateCase(store, id, () => ({ title: call.value }), tag))?.record);
    case 'description':
      return found((await updateCase(store, id, () => ({ description: call.value }), tag))?.record);
    case 'state':
      return found(
        (await updateCase(store, id, (current) => moveTo(current, call.value as State), tag))
          ?.record,
      );
    case 'get':
      return found(await readCase(store, id));
    default:
      await performOther(store, active);
      return undefined;
  }
};

const at = (store: Store): string => store.clock().toISOString();

const performOther = async (store: Store, { call, id, proof, tag }: ActiveCall): Promise<void> => {
  if (call.do === 'attach') {
    const matter = { id: randomUUID(), type: 'log', verified: false, created_at: at(store) };
    found(await createProof(store, id, { matter, content: call.content }));
  } else if (call.do === 'verify') {
    const rule: Parameters<typeof updateProof>[3]['rule'] = (current, { sha256 }) =>
      markVerified(current, sha256, { at: at(store), by: 'operator' });
    found(await updateProof(store, id, proof, { rule, ifMatch: tag }));
  } else if (call.do === 'remember')
    found(await writeMemory(store, id, { filename: call.file, content: call.text }, tag));
  else if (call.do === 'delete') found((await deleteCase(store, id, tag)) || undefined);
  else if (call.do === 'sweep') await sweepWorkspace(store);
  else if (call.do === 'decide') await resolveMissing(store);
  else if (call.do === 'hint') await compareHint(store, itemOf(store, id)?.dir ?? 'cases');
};

const found = <T>(answer: T | undefined): T => {
  if (answer !== undefined) return answer;
  throw Object.assign(new Error('There is none'), { code: 'not_found' });
};

/** What the system does after a process is dead: its files are closed, and its lock is nobody's. */
export const bury = async (root: string): Promise<void> => {
  const dossier = join(root, '.dossier');
  if (!existsSync(dossier)) return;
  await lockfile.unlock(join(dossier, 'daemon'), { realpath: false }).catch(() => undefined);
  for (const name of readdirSync(dossier))
    if (/^(owner\.json|daemon)/.test(name)) rmSync(join(dossier, name), { recursive: true });
};

/** What stands in `.dossier/tmp` and in `.dossier/trash`. */
export const leftovers = (root: string): string[] =>
  outside(() => [...leftInTmp(root), ...readdirSync(join(root, '.dossier/trash'))]);
