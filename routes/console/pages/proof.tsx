import type {
  Case,
  ChecklistItem,
  Machine,
  Proof,
  ProofGate,
  Session,
} from '../../../lib/client/client.ts';
import { counted } from '../../../lib/text/wording.ts';
import { type Api, definePage, followsItem } from '../common/page.ts';
import { countReviewed } from '../parts/diff/review-state.ts';
import { browserApi } from '../parts/form.tsx';
import { Item } from '../parts/frames.tsx';
import { FailedCommands } from '../parts/problems.tsx';
import { Checklist, ProofGateLine } from '../parts/proof/checklist.tsx';
import { NewProof } from '../parts/proof/new.tsx';
import { isText, LONGEST, ProofRow, type ProofShown } from '../parts/proof/row.tsx';
import { useLoaded } from '../parts/use-loaded.ts';

interface Proofs {
  item: Case;
  gate: ProofGate;
  checklist: ChecklistItem[];
  /** The checklist's ETag. */
  etag: string | undefined;
  proofs: ProofShown[];
  /** The number of all proofs. */
  count: number;
  /** The number of newer proofs that are skipped. */
  from: number;
  /** Undefined if it cannot be read. */
  machine: Machine | undefined;
}

const ON_A_PAGE = 10;

const View = ({ item, gate, checklist, etag, proofs, count, from, machine }: Proofs) => {
  const { value, failed } = useViewed(item);
  return (
    <Item of={item} tab="Proof">
      <FailedCommands of={gate.failed_commands} />
      <ProofGateLine gate={gate} state={item.state} count={count} />
      <Checklist id={item.id} items={checklist} etag={etag} />
      <h2>{count === 0 ? 'Proofs' : `Proofs (${count})`}</h2>
      {count === 0 && <p class="quiet">No proofs yet. Add one that shows that the work is done.</p>}
      <ol class="rows proofs">
        {proofs.map((shown) => (
          <ProofRow
            key={shown.proof.id}
            {...shown}
            isStale={gate.stale.includes(shown.proof.id)}
            resolves={item.state === 'VERIFYING' && opensGate(gate, shown.proof)}
            viewed={<ViewedLine value={value} failed={failed} />}
          />
        ))}
      </ol>
      <More id={item.id} from={from} count={count} />
      <NewProof id={item.id} types={wantedTypes(gate, checklist)} machine={machine} />
    </Item>
  );
};

/**
 * Whether verifying this proof satisfies the gate; one that is verified, where the gate is satisfied by what was verified
 * before the last work ended. A requirement without a type accepts any proof.
 */
const opensGate = ({ satisfied, missing }: ProofGate, { type, verified }: Proof): boolean =>
  verified ? satisfied : missing.every((one) => one.type === null || one.type === type);

const More = ({ id, from, count }: Pick<Proofs, 'from' | 'count'> & { id: string }) => {
  const at = `/dashboard/cases/${id}/proof`;
  const next = from + ON_A_PAGE;
  return (
    <p class="line">
      {from > 0 && <a href={`${at}?from=${Math.max(0, from - ON_A_PAGE)}`}>Newer</a>}
      {next < count && <a href={`${at}?from=${next}`}>Older</a>}
    </p>
  );
};

// Missing types first.
const wantedTypes = (gate: ProofGate, checklist: readonly ChecklistItem[]): string[] => {
  const asked = [...gate.missing, ...checklist].flatMap(({ type }) => type ?? []);
  return [...new Set([...asked, 'tests', 'screenshot', 'log', 'review'])];
};

const loadProof = async ({ request }: Api, { id, case_id }: Proof): Promise<ProofShown[]> => {
  const at = { id: case_id, pid: id };
  try {
    const answer = await request('GET /cases/{id}/proof/{pid}', at);
    if (answer.status === 304) return [];
    const { data, etag } = answer;
    const proof = { ...data, content: data.content.slice(0, LONGEST) };
    const isCut = data.content.length > LONGEST;
    const text = data.file !== null && isText(data.file) && (await beginOf({ request }, at));
    return [{ proof, etag, isCut, ...(typeof text === 'string' && { text }) }];
  } catch {
    // The proof was deleted after the list was read.
    return [];
  }
};

/** The beginning of a text file; undefined if it cannot be read. */
const beginOf = async (
  { request }: Pick<Api, 'request'>,
  at: { id: string; pid: string },
): Promise<string | undefined> => {
  try {
    const headers = { range: `bytes=0-${LONGEST}` };
    const { data } = await request('GET /cases/{id}/proof/{pid}/file', { ...at, headers });
    return await (data as Response | undefined)?.text();
  } catch {
    return undefined;
  }
};

/** The checklist and the proofs of a Work item, with the state of its gate. */
export const page = definePage<Proofs>({
  title: ({ item }) => `Proof of ${item.title}`,
  load: async (api, { params: { id = '' }, query }) => {
    const [item, gate, listed, all, machine] = await Promise.all([
      api.call('GET /cases/{id}', { id }),
      api.call('GET /cases/{id}/proof/gate', { id }),
      api.request('GET /cases/{id}/proof/checklist', { id }),
      api.call('GET /cases/{id}/proof', { id }),
      api.call('GET /api/machine').catch(() => undefined),
    ]);
    const from = Math.max(0, Number.parseInt(query.from ?? '0', 10) || 0);
    const here = all.toReversed().slice(from, from + ON_A_PAGE);
    const proofs = (await Promise.all(here.map((one) => loadProof(api, one)))).flat();
    const { data: checklist, etag } = listed;
    return {
      item,
      gate,
      checklist: checklist ?? [],
      etag,
      proofs,
      count: all.length,
      from,
      machine,
    };
  },
  View,
  follows: followsItem,
});

/** Counts the files of a Work item's newest diff that this browser has marked as viewed; null if it has none. */
const useViewed = ({ id, updated_at }: Pick<Case, 'id' | 'updated_at'>) =>
  useLoaded(() => viewedOf(id), updated_at);

const WORKED: ReadonlySet<Session['status']> = new Set(['completed', 'failed', 'paused']);

const viewedOf = async (id: string) => {
  const { call } = browserApi;
  const sessions = await call('GET /cases/{id}/sessions', { id });
  const last = sessions.findLast(
    ({ approved_at, status }) => approved_at !== null && WORKED.has(status),
  );
  if (last === undefined) return null;
  const at = { id, sid: last.id };
  const patch = await call('GET /cases/{id}/sessions/{sid}/diff', {
    ...at,
    query: { since: 'base' },
  });
  const counts = await countReviewed(last.id, patch);
  return { at: `/dashboard/cases/${id}/sessions/${last.id}/diff`, ...counts };
};

/** The count next to the button that verifies. */
const ViewedLine = ({ value, failed }: Pick<ReturnType<typeof useViewed>, 'value' | 'failed'>) => {
  if (failed) return <span class="quiet">The diff could not be read.</span>;
  if (value == null || (value.files === 0 && value.comments === 0)) return null;
  const { at, files, viewed, comments } = value;
  return <a href={at}>{`${viewed} of ${counted(files, 'file')} viewed${unsent(comments)}`}</a>;
};

const unsent = (comments: number): string =>
  comments === 0 ? '' : `, ${counted(comments, 'unsent comment')}`;
