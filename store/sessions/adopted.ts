import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { orElse } from '../base/attempt.ts';
import { createFile } from '../fs/durable.ts';
import { adoptedFile } from '../layout.ts';
import type { Store } from '../store.ts';

/** A conversation of an agent that became a Work item. */
interface AdoptedConversation {
  case_id: string;
  agent: string;
  id: string;
}

/**
 * Keeps the transcript of an adopted conversation below .dossier/, where only this user can read it. Returns its path; it
 * stays when the Work item is deleted.
 */
export const keepAdopted = async (
  { layout }: Store,
  adopted: AdoptedConversation,
  transcript: Buffer,
): Promise<string> => {
  const path = adoptedFile(layout, nameOf(adopted));
  await createFile(layout, path, transcript, { mode: 0o600 });
  return path;
};

const nameOf = ({ case_id, agent, id }: AdoptedConversation): string => `${case_id}.${agent}-${id}`;

/** The conversations whose transcripts are kept, by their names. */
export const adoptedConversations = ({ layout }: Store): AdoptedConversation[] =>
  namesIn(layout.adopted).flatMap((name) => {
    const [, case_id, agent, id] = /^([0-9a-f-]{36})\.([a-z]+)-([0-9a-f-]{36})$/.exec(name) ?? [];
    return case_id && agent && id ? [{ case_id, agent, id }] : [];
  });

const namesIn = (path: string): string[] =>
  orElse(() => readdirSync(path), [], 'ENOENT').map((name) => basename(name, '.jsonl'));
