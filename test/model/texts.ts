/**
 * What the texts of a workspace mean, said a second time and as plainly as can be: the model against which the daemon
 * is held. It shares no code with the store.
 */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
export const tagOf = (text: string): string => sha256(text).slice(0, 32);

export interface Parts {
  eol: string;
  /** The lines of the front matter. */
  lines: string[];
  body: string;
  data: Record<string, unknown>;
}

const RECORD = /^---(\r?\n)([\s\S]*?)^---[ \t]*(?:\r?\n|$)/m;

/** A record taken apart; undefined when it cannot be read as one. */
export const partsOf = (text: string): Parts | undefined => {
  const found = text.startsWith('---') ? RECORD.exec(text) : null;
  if (found === null || found.index !== 0 || text.includes('\n>>>>>>> ')) return undefined;
  const [whole, eol = '\n', yaml = ''] = found;
  const data = mappingIn(yaml);
  if (data === undefined) return undefined;
  return { eol, lines: yaml.split(eol).slice(0, -1), body: text.slice(whole.length), data };
};

const mappingIn = (yaml: string): Record<string, unknown> | undefined => {
  try {
    const data: unknown = parse(yaml, { schema: 'core' });
    return typeof data === 'object' && data !== null && !Array.isArray(data)
      ? (data as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
};

/** The text that a body stands for. */
export const contentOf = ({ body, eol }: Pick<Parts, 'body' | 'eol'>): string => {
  const inner = body.startsWith(eol) ? body.slice(eol.length) : body;
  const text = inner.endsWith(eol) ? inner.slice(0, -eol.length) : inner;
  return text.replaceAll('\r\n', '\n');
};

const STATES = 'OPEN INVESTIGATING IMPLEMENTING VERIFYING BLOCKED RESOLVED NON_ISSUE'.split(' ');

// The same few texts are asked about at every step.
function remembered<T>(read: (text: string) => T): (text: string) => T {
  const known = new Map<string, { value: T }>();
  return (text) => {
    const entry = known.get(text) ?? { value: read(text) };
    known.set(text, entry);
    return entry.value;
  };
}

/** What events are told about of a case.md. */
export interface ToldCase {
  id: string | undefined;
  title: unknown;
  type: unknown;
  state: string;
  description: string;
}

export const caseIn = remembered((text: string): ToldCase | undefined => {
  const parts = partsOf(text);
  if (parts === undefined) return undefined;
  const { id = undefined, title, type = 'task', state = 'OPEN' } = withoutNull(parts.data);
  const plain = state === 'PLANNING' ? 'INVESTIGATING' : state;
  if (typeof title !== 'string' || !STATES.includes(String(plain))) return undefined;
  return {
    id: id as string | undefined,
    title,
    type,
    state: String(plain),
    description: contentOf(parts),
  };
});

const withoutNull = (data: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null));

/** What events are told about of a proof. */
export interface ToldProof {
  id: string | undefined;
  type: unknown;
  verified: boolean;
  content: string;
}

/** A verification holds for the content that was verified; by hand, for what stands there. */
export const proofIn = remembered((text: string): ToldProof | undefined => {
  const parts = partsOf(text);
  if (parts === undefined || typeof parts.data.type !== 'string') return undefined;
  const { id, type, verified = false, verified_sha256 } = withoutNull(parts.data);
  const content = contentOf(parts);
  const holds = verified_sha256 === undefined || verified_sha256 === sha256(content);
  return { id: id as string | undefined, type, verified: verified === true && holds, content };
});

/** The keys whose values differ, and whether the body does. */
export interface Delta {
  keys: string[];
  body: boolean;
}

export const deltaOf = (before: Parts, after: Parts): Delta => {
  const keys = [...new Set([...Object.keys(before.data), ...Object.keys(after.data)])];
  return {
    keys: keys.filter(
      (key) => JSON.stringify(before.data[key]) !== JSON.stringify(after.data[key]),
    ),
    body: before.body !== after.body,
  };
};

/** The lines of the front matter that do not belong to these keys: nobody who changes the keys may touch them. */
export const otherLines = ({ lines }: Parts, keys: readonly string[]): string =>
  lines.filter((line) => !keys.some((key) => line.startsWith(`${key}:`))).join('\n');

/** The state of a Work item after the operator sets it, with what belongs to it. */
export const movedTo = (
  data: Record<string, unknown>,
  state: string,
): { state: string; outcome: unknown; blocked_from: unknown } => {
  const outcomes: Record<string, string> = { RESOLVED: 'resolved', NON_ISSUE: 'non_issue' };
  const from = data.state === 'PLANNING' ? 'INVESTIGATING' : data.state;
  const usual = outcomes[state] ?? null;
  const kept = from === state ? data : { outcome: null, blocked_from: from };
  return {
    state,
    outcome: usual === null ? null : (kept.outcome ?? usual),
    blocked_from: state === 'BLOCKED' ? kept.blocked_from : undefined,
  };
};

/** A line of the journal, as far as it says what was told of a Work item. */
export interface SeenLine {
  id: string;
  state: {
    case: { matter: Record<string, unknown>; description: string };
    proofs: Record<string, { matter: Record<string, unknown>; content: string }>;
    checklist?: unknown[];
  } | null;
}

/** The events that lead from one line of a Work item to its next. */
export const eventsBetween = (
  id: string,
  before: SeenLine['state'] | undefined,
  now: SeenLine['state'],
): string[] => {
  if (before == null) return now === null ? [] : [`case_created ${id}`];
  if (now === null) return [`case_deleted ${id}`];
  const gone = Object.keys(before.proofs).filter((proof) => now.proofs[proof] === undefined);
  return [
    ...caseEvents(id, before, now),
    ...proofEvents(id, before, now),
    ...gone.map((proof) => `proof_deleted ${id} ${proof}`),
    ...(isDeepStrictEqual(before.checklist ?? [], now.checklist ?? [])
      ? []
      : [`checklist_updated ${id}`]),
  ];
};

type Seen = NonNullable<SeenLine['state']>;

const caseEvents = (id: string, before: Seen, now: Seen): string[] => {
  const fields = ({ case: { matter, description } }: Seen): string =>
    JSON.stringify([matter.title, matter.type, matter.project, description]);
  const [from, to] = [stateNamed(before), stateNamed(now)];
  return [
    ...(fields(before) === fields(now) ? [] : [`case_updated ${id}`]),
    ...(from === to ? [] : [`case_state_changed ${id} ${from} ${to}`]),
  ];
};

const stateNamed = ({ case: { matter } }: Seen): string =>
  matter.state === 'INVESTIGATING' ? 'PLANNING' : String(matter.state);

const proofEvents = (id: string, before: Seen, now: Seen): string[] =>
  Object.entries(now.proofs).flatMap(([proof, { matter, content }]) => {
    const known = before.proofs[proof];
    const updated = `proof_updated ${id} ${proof} ${matter.verified}`;
    if (known === undefined)
      return [`proof_created ${id} ${proof}`, ...(matter.verified === true ? [updated] : [])];
    const same =
      known.content === content &&
      known.matter.type === matter.type &&
      known.matter.verified === matter.verified;
    return same ? [] : [updated];
  });

export const eventNamed = (body: {
  event_type: string;
  payload: Record<string, unknown>;
}): string => {
  const { case_id, old_state, new_state, proof_id, verified } = body.payload;
  return [body.event_type, case_id, old_state, new_state, proof_id, verified]
    .filter((part) => part !== undefined)
    .join(' ');
};
