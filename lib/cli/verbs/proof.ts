import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { shellQuoted } from '../../../store/base/text.ts';
import type { Proof } from '../../client/client.ts';
import { UsageError } from '../../config.ts';
import { whyUnreadable } from '../args/input-text.ts';
import { Refusal } from '../args/refusal.ts';
import { findItem } from '../connection/find.ts';
import { EXIT } from '../exit-codes.ts';
import { abortOnInterrupt } from './follow.ts';
import { failureLines } from './session-text.ts';
import { noWorktree, type Verb, verb, withRefusals } from './verb.ts';

/**
 * `dossier proof ITEM` lists its proof and the missing proof. `dossier proof add ITEM FILE` attaches a file.
 * `dossier proof run ITEM COMMAND...` runs a check in its worktree, and waits for its end. `dossier proof rm ITEM PROOF`
 * deletes a proof.
 */
export const proof = verb((given) => {
  const [first = '', word, file, ...rest] = given.words;
  if (first === 'run' && word !== undefined && file !== undefined)
    return run(given, word, [file, ...rest].join(' '));
  if (first === 'add' && word !== undefined && file !== undefined && rest.length === 0)
    return add(given, word, file);
  if (first === 'rm' && word !== undefined && file !== undefined && rest.length === 0)
    return remove(given, word, file);
  if (word === undefined) return list(given, first);
  throw new UsageError('proof takes ITEM, add ITEM FILE, run ITEM COMMAND, or rm ITEM PROOF');
});

const list = async (given: Verb, word: string): Promise<undefined> => {
  const { dossier, values, out, typed } = given;
  const id = await findItem(given, word);
  const [proofs, gate] = await Promise.all([
    dossier.call('GET /cases/{id}/proof', { id }),
    dossier.call('GET /cases/{id}/proof/gate', { id }),
  ]);
  if (values.json === true) return void out.json({ proofs, gate });
  for (const words of failureLines(gate.failed_commands)) out.say(words);
  out.table(
    proofs.map((each) => [
      each.id.slice(0, 8),
      verificationText(each),
      gate.stale.includes(each.id) ? 'outdated' : '',
      each.type,
      each.file ?? each.content,
    ]),
  );
  out.say(gate.satisfied ? 'The proof gate is satisfied.' : 'Missing proof:');
  for (const { type, description } of gate.missing)
    out.say(`  ${[type, description].filter(Boolean).join(': ')}`);
  const open = proofs.findLast(
    ({ verified, run }) => !verified && (run === undefined || run.status === 'passed'),
  );
  if (gate.satisfied || open === undefined) return;
  out.say(`To verify one: ${typed(verifying(id, open.id))}`);
};

// A verification that git or a hand edit brought counts, but no pull request is marked ready by it.
const verificationText = ({ verified, verified_elsewhere }: Proof): string => {
  if (verified_elsewhere === true) return 'verified elsewhere';
  return verified ? 'verified' : 'not verified';
};

const verifying = (id: string, pid: string): string =>
  `verify ${id.slice(0, 8)} ${pid.slice(0, 8)}`;

const add = async (given: Verb, word: string, file: string): Promise<undefined> => {
  const { dossier, values, typed, report } = given;
  const id = await findItem(given, word);
  const { type = 'file' } = values;
  const made = await dossier.call('POST /cases/{id}/proof/files', {
    id,
    query: { type, name: basename(file) },
    body: new Blob([new Uint8Array(bytesOf(file))]),
  });
  report(
    made,
    `Proof ${made.id.slice(0, 8)}: ${made.file}. To verify it: ${typed(verifying(id, made.id))}`,
  );
};

const run = async (given: Verb, word: string, command: string): Promise<number> => {
  const { dossier, values, out, typed } = given;
  const id = await findItem(given, word);
  const { type } = values;
  const body = { command, ...(type !== undefined && { type }) };
  const started = await withRefusals(dossier.call('POST /cases/{id}/proof/run', { id, body }), {
    not_found: noWorktree(given, id),
  });
  const pid = started.id;
  let proof = started;
  const leaving = abortOnInterrupt();
  while (proof.run?.status === 'running') {
    await setTimeout(LOOK_MS, undefined, { signal: leaving.signal }).catch(() => undefined);
    if (leaving.signal.aborted) {
      out.say(`\nThe check is still running: ${typed(`proof ${id.slice(0, 8)}`)}`);
      return EXIT.left;
    }
    proof = await dossier.call('GET /cases/{id}/proof/{pid}', { id, pid });
  }
  leaving.done();
  const isPassed = proof.run?.status === 'passed';
  if (values.json === true) out.json(proof);
  else {
    out.say(proof.content);
    sayUncommitted(out, proof);
    if (isPassed) out.say(`To verify it: ${typed(verifying(id, pid))}`);
  }
  return isPassed ? 0 : 1;
};

const LOOK_MS = 300;

const sayUncommitted = (out: Verb['out'], { diff_sha256 }: Proof): void => {
  if (diff_sha256 === null) return;
  const text = 'It was made with uncommitted changes in the worktree, which a merge leaves out.';
  out.say({ style: 'yellow', text });
};

const bytesOf = (file: string): Buffer => {
  try {
    // A pipe or a device may have no end.
    if (!statSync(file).isFile()) throw new Error(`${file} is not a regular file`);
    return readFileSync(file);
  } catch (error) {
    throw new Refusal(`The file cannot be read: ${whyUnreadable(error)}`);
  }
};

const remove = async (given: Verb, word: string, named: string): Promise<undefined> => {
  const { dossier, report } = given;
  const id = await findItem(given, word);
  const found = await findProof(given, id, named);
  await dossier.call('DELETE /cases/{id}/proof/{pid}', { id, pid: found.id });
  report(found, `Deleted ${found.type} ${found.id.slice(0, 8)}: ${found.file ?? found.content}`);
};

/** The proof whose id begins like this; without it the only one that is not verified, else not on this machine. */
const findProof = async ({ dossier, typed }: Verb, id: string, named?: string): Promise<Proof> => {
  const all = await dossier.call('GET /cases/{id}/proof', { id });
  const found =
    named === undefined
      ? toVerify(all)
      : all.filter(({ id: pid }) => pid.startsWith(named.toLowerCase()));
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  const id8 = id.slice(0, 8);
  if (all.length === 0)
    throw new Refusal(
      `The Work item has no proof. Run a check: ${typed(`proof run ${id8} COMMAND`)}. Or attach a file: ${typed(`proof add ${id8} FILE`)}`,
    );
  const open = only?.verified_elsewhere ? 'verified elsewhere' : 'without a verification';
  const which = named === undefined ? open : `with an id that begins with ${named}`;
  const how = only === undefined ? 'no proof' : `${found.length} proofs`;
  throw new Refusal(`The Work item has ${how} ${which}. List them: ${typed(`proof ${id8}`)}`);
};

const toVerify = (all: readonly Proof[]): readonly Proof[] => {
  const open = all.filter(({ verified }) => !verified);
  return open.length > 0 ? open : all.filter(({ verified_elsewhere }) => verified_elsewhere);
};

/**
 * `dossier verify ITEM [PROOF]`: marks a proof as verified, by default the only one that is not, and says the state of the Work
 * item.
 */
export const verify = verb(async (given) => {
  const { dossier, words, values, out, typed } = given;
  const [word = '', named] = words;
  const id = await findItem(given, word);
  const only = await findProof(given, id, named);
  const { run } = only;
  if (run !== undefined && run.status !== 'passed' && values.force !== true)
    throw new Refusal(
      `The check \`${run.command}\` ${run.status === 'failed' ? 'failed' : `is ${run.status}`}, so it was not verified. To verify it anyway, pass --force. To run it again: ${typed(`proof run ${id.slice(0, 8)} ${shellQuoted(run.command)}`)}`,
    );
  const held = await dossier.call('PUT /cases/{id}/proof/{pid}/verify', { id, pid: only.id });
  if (values.json === true) return void out.json(held);
  out.say(`Verified ${held.type} ${held.id.slice(0, 8)}: ${held.file ?? held.content}`);
  sayUncommitted(out, held);
  const { state } = await dossier.call('GET /cases/{id}', { id });
  out.say(`The Work item is ${state}.`);
  const isOpen = state !== 'RESOLVED' && state !== 'NON_ISSUE';
  if (isOpen && (await dossier.call('GET /cases/{id}/proof/gate', { id })).satisfied)
    out.say(
      `The proof gate is satisfied. To close it: ${typed(`close ${id.slice(0, 8)}`)} --state RESOLVED`,
    );
});
