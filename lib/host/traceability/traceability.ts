import { inSlices } from '../../../store/base/async.ts';
import { messageOf } from '../../../store/base/attempt.ts';
import { etagOf, inUtc } from '../../../store/base/names.ts';
import { sha256 } from '../../../store/base/sha256.ts';
import { peekWithProofs } from '../../../store/cases/proofs.ts';
import { type IssueName, issueKey, linkedTo } from '../../../store/codehost/link-index.ts';
import { linkOf, readLink } from '../../../store/codehost/links.ts';
import { readPull } from '../../../store/codehost/pulls.ts';
import { type Item, proofsOf, recordOf } from '../../../store/reconcile/item.ts';
import { allItems } from '../../../store/reconcile/items.ts';
import type { Case } from '../../../store/records/case.ts';
import type { IssueLinkMatter } from '../../../store/records/link.ts';
import type { ProofMatter } from '../../../store/records/proof.ts';
import type { PullMatter } from '../../../store/records/pull-request.ts';
import type { Session } from '../../../store/records/session.ts';
import type {
  Dangling,
  Traceability,
  TraceEdge,
  TraceNode,
} from '../../../store/records/traceability.ts';
import { allSessionsOf } from '../../../store/sessions/sessions.ts';
import type { Store } from '../../../store/store.ts';
import { orNotFound } from '../../errors.ts';

/**
 * The links between all records of the workspace, or of one Work item, from its files. It makes no request to the host
 * and yields to other requests. Throws 404.
 */
export const traceability = async (
  store: Store,
  caseId?: string,
): Promise<{ graph: Traceability; etag: string }> => {
  const graph: Graph = { nodes: new Map(), edges: [], wanted: [], dangling: [] };
  const generated_at = store.clock().toISOString();
  if (caseId === undefined)
    await inSlices(allItems(store), (item) => grow(graph, tracedOf(store, item)));
  else await growOne(graph, store, caseId);
  const links = { workspace: store.layout.root, ...ended(graph) };
  // The time differs in each answer, so it is no part of the version.
  return { graph: { ...links, generated_at }, etag: etagOf(sha256(JSON.stringify(links))) };
};

/** The graph of issues, sessions, pull requests and proofs of all Work items; shared nodes appear once. */
interface Graph {
  nodes: Map<string, TraceNode>;
  edges: TraceEdge[];
  /** Edges whose node may still be added, with the reason if it is not. */
  wanted: { edge: TraceEdge; reason: string }[];
  dangling: Dangling[];
}

const growOne = async (graph: Graph, store: Store, id: string): Promise<void> => {
  const item = orNotFound(await peekWithProofs(store, id), 'Work item', id);
  const traced = tracedOf(store, item);
  grow(graph, traced);
  const { matter, body = '' } = traced.pull ?? {};
  if (matter === undefined) return;
  // An issue that its pull request closes may be linked to another Work item; then the edge is not dangling.
  for (const closed of closedBy(body, matter.repository)) {
    const [other] = await linkedTo(store, { host: matter.host, ...closed });
    const link = other === undefined ? undefined : await readLink(store, other);
    if (link?.issue !== undefined) putIssue(graph, link.issue);
  }
};

const tracedOf = (store: Store, item: Item): Traced => {
  const { id, title, state } = recordOf(item);
  const unreadable: Pick<Dangling, 'kind' | 'reason'>[] = [];
  const read = <T>(kind: Dangling['kind'], reader: () => T): T | undefined => {
    try {
      return reader();
    } catch (error) {
      unreadable.push({ kind, reason: messageOf(error) });
      return undefined;
    }
  };
  return {
    item: { id, title, state },
    issue: read('issue-imported_as-case', () => linkOf(store, item))?.issue,
    pull: read('case-has-pr', () => readPull(store, id)),
    sessions: (read('case-has-session', () => allSessionsOf(store, id)) ?? []).map(
      ({ session }) => session,
    ),
    proofs: proofsOf(item).map(({ file }) => file.matter),
    unreadable,
  };
};

/** The records of one Work item. */
interface Traced {
  item: Pick<Case, 'id' | 'title' | 'state'>;
  issue: IssueLinkMatter | undefined;
  sessions: readonly Session[];
  proofs: readonly ProofMatter[];
  pull: { matter: PullMatter; body: string } | undefined;
  /** Its unreadable records. */
  unreadable: readonly Pick<Dangling, 'kind' | 'reason'>[];
}

const grow = (graph: Graph, traced: Traced): void => {
  const { item, issue, pull, unreadable } = traced;
  const from = `case:${item.id}`;
  put(graph, { id: from, kind: 'case', label: item.title, state: item.state });
  for (const { kind, reason } of unreadable) graph.dangling.push({ from, to: null, kind, reason });
  if (issue !== undefined) addIssue(graph, from, issue);
  for (const session of traced.sessions) addSession(graph, from, session);
  if (pull !== undefined) addPull(graph, traced, pull);
  for (const proof of traced.proofs) addProof(graph, traced, proof);
};

const put = ({ nodes }: Graph, node: TraceNode): void => {
  if (!nodes.has(node.id)) nodes.set(node.id, node);
};

const issueId = (issue: IssueName): string => `issue:${issueKey(issue)}`;

const putIssue = (graph: Graph, issue: IssueLinkMatter): void => {
  const { repository, number, url, status = 'stale', state } = issue;
  put(graph, {
    id: issueId(issue),
    kind: 'issue',
    label: `${repository}#${number}`,
    state: state ?? 'unknown',
    ...(url !== undefined && { url }),
    ...(status !== 'linked' && { stale: true }),
  });
};

const addIssue = (graph: Graph, to: string, issue: IssueLinkMatter): void => {
  const { status } = issue;
  const id = issueId(issue);
  putIssue(graph, issue);
  graph.edges.push({ from: id, to, kind: 'issue-imported_as-case' });
  if (status !== 'moved' && status !== 'missing') return;
  const reason =
    status === 'moved'
      ? `The issue was moved${issue.moved_to === undefined ? '' : ` to ${issue.moved_to}`}.`
      : 'The issue was deleted on the code host.';
  graph.dangling.push({ from: id, to, kind: 'issue-imported_as-case', reason });
};

const addSession = (graph: Graph, from: string, { id, type, status }: Session): void => {
  put(graph, { id: `session:${id}`, kind: 'session', label: type, state: status });
  graph.edges.push({ from, to: `session:${id}`, kind: 'case-has-session' });
};

const pullId = ({ host, repository, number }: PullMatter): string =>
  `pr:${issueKey({ host, repository, number })}`;

const addPull = (
  graph: Graph,
  { item, sessions }: Traced,
  { matter, body }: { matter: PullMatter; body: string },
): void => {
  const { host, repository, number, title, state, url, stale, head_ref } = matter;
  const id = pullId(matter);
  put(graph, {
    id,
    kind: 'pr',
    label: `${repository}#${number} ${title}`,
    state,
    ...(url != null && { url }),
    ...(stale === true && { stale }),
  });
  graph.edges.push({ from: `case:${item.id}`, to: id, kind: 'case-has-pr' });
  for (const session of sessions)
    if (session.status === 'completed' && session.branch === head_ref)
      graph.edges.push({ from: `session:${session.id}`, to: id, kind: 'session-produced-pr' });
  for (const closed of closedBy(body, repository)) {
    const to = issueId({ host, ...closed });
    const reason = 'No Work item of this workspace is linked to this issue.';
    graph.wanted.push({ edge: { from: id, to, kind: 'pr-closes-issue' }, reason });
  }
};

const addProof = (graph: Graph, { item, pull }: Traced, proof: ProofMatter): void => {
  const { id, type, verified, verified_at, session_id } = proof;
  const node = `proof:${id}`;
  put(graph, {
    id: node,
    kind: 'proof',
    label: type,
    state: verified ? 'verified' : 'unverified',
  });
  graph.edges.push({ from: `case:${item.id}`, to: node, kind: 'case-has-proof' });
  if (session_id != null) {
    const from = `session:${session_id}`;
    const reason = 'The session that attached it does not exist.';
    graph.wanted.push({ edge: { from, to: node, kind: 'session-produced-proof' }, reason });
  }
  const comment = pull?.matter.proof_comment;
  // The comment shows only proofs that were verified before it was written.
  if (pull === undefined || comment == null || verified_at == null) return;
  if (verified && inUtc(verified_at) <= inUtc(comment.at))
    graph.edges.push({ from: node, to: pullId(pull.matter), kind: 'proof-posted_to-pr' });
};

// Edges without a node are dangling.
const ended = ({
  nodes,
  edges,
  wanted,
  dangling,
}: Graph): Pick<Traceability, 'counts' | 'nodes' | 'edges' | 'dangling'> => {
  for (const { edge, reason } of wanted) {
    if (nodes.has(edge.from) && nodes.has(edge.to)) edges.push(edge);
    else dangling.push({ ...edge, reason });
  }
  const all = [...nodes.values()];
  const of = (kind: TraceNode['kind']): number => all.filter((node) => node.kind === kind).length;
  const counts = {
    issues: of('issue'),
    cases: of('case'),
    sessions: of('session'),
    prs: of('pr'),
    proofs: of('proof'),
    edges: edges.length,
    dangling: dangling.length,
  };
  return { counts, nodes: all, edges, dangling };
};

/**
 * The issues that merging a pull request closes, by the keywords in its body: `Closes #12`, `fixes acme/app#12`,
 * `Resolves https://…/issues/12`. Each once.
 */
export const closedBy = (
  body: string,
  repository: string,
): { repository: string; number: number }[] => {
  const found = new Map<string, { repository: string; number: number }>();
  for (const [, short, number, linked, linkedNumber] of body.matchAll(CLOSING)) {
    const closed = {
      repository: short ?? linked ?? repository,
      number: Number(number ?? linkedNumber),
    };
    found.set(`${closed.repository}#${closed.number}`.toLowerCase(), closed);
  }
  return [...found.values()];
};

const NAME = '([\\w.-]{1,100}/[\\w.-]{1,100})';
const NUMBER = '([1-9]\\d{0,8})\\b';
const CLOSING = new RegExp(
  `\\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?[ \\t]{1,3}(?:${NAME}?#${NUMBER}|https?://[^/\\s]{1,255}/${NAME}/issues/${NUMBER})`,
  'gi',
);
