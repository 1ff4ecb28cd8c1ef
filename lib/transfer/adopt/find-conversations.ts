import { open, readdir, stat } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { modifiedAt } from '../../../store/base/modified-at.ts';
import { isAtOrBelowAny } from '../../../store/base/paths.ts';
import { oneLine, shorten } from '../../text/wording.ts';
import { readConversation, type TranscriptAgent } from './conversation.ts';

/** A transcript of this user's agent, about a directory. */
export interface FoundConversation {
  agent: TranscriptAgent;
  id: string;
  /** The first line that the operator said. */
  title: string;
  directory: string;
  branch: string | null;
  updated_at: Date;
  bytes: number;
  path: string;
}

interface Wanted {
  env: NodeJS.ProcessEnv;
  /** Conversations about these directories, or directories below them. */
  directories: readonly string[];
  /** Not those about these, or directories below them. */
  except: readonly string[];
}

/**
 * Finds the transcripts that Claude Code and Codex keep for these directories in the user's home, newest first. Only reads,
 * and only the beginning of each file.
 */
export const findConversations = async (wanted: Wanted): Promise<FoundConversation[]> => {
  const files = [...(await claudeFiles(wanted)), ...(await codexFiles(wanted))];
  const found: FoundConversation[] = [];
  for (const file of files) {
    const one = await look(file);
    if (one !== undefined && isAbout(one.directory, wanted)) found.push(one);
  }
  const newest = found.toSorted((a, b) => b.updated_at.getTime() - a.updated_at.getTime());
  return newest.slice(0, MOST_FOUND);
};

const MOST_FOUND = 100;

const isAbout = (directory: string, { directories, except }: Wanted): boolean =>
  isAtOrBelowAny(directory, directories) && !isAtOrBelowAny(directory, except);

interface TranscriptPlace {
  agent: TranscriptAgent;
  id: string;
  path: string;
}

const homeOf = (env: NodeJS.ProcessEnv, moved: string | undefined, name: string): string =>
  moved || join(env.HOME ?? '', name);

const namesIn = (path: string): Promise<string[]> => readdir(path).catch(() => []);

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const CLAUDE_FILE = new RegExp(`^(${UUID})\\.jsonl$`);
const CODEX_FILE = new RegExp(`^rollout-.*-(${UUID})\\.jsonl$`);

// A folder for each directory, named by its path. Other paths can have the same name, so the transcript decides.
const claudeFiles = async ({ env, directories }: Wanted): Promise<TranscriptPlace[]> => {
  const projects = join(homeOf(env, env.CLAUDE_CONFIG_DIR, '.claude'), 'projects');
  const begins = directories.map((path) => path.replaceAll(/[^A-Za-z0-9]/g, '-'));
  const folders = (await namesIn(projects)).filter((name) =>
    begins.some((begin) => name === begin || name.startsWith(`${begin}-`)),
  );
  const found: TranscriptPlace[] = [];
  for (const folder of folders)
    for (const name of await namesIn(join(projects, folder))) {
      const [, id] = CLAUDE_FILE.exec(name) ?? [];
      if (id !== undefined) found.push({ agent: 'claude', id, path: join(projects, folder, name) });
    }
  return found;
};

// By day, for all directories: the newest ones, however many there are.
const codexFiles = async ({ env }: Wanted): Promise<TranscriptPlace[]> => {
  const sessions = join(homeOf(env, env.CODEX_HOME, '.codex'), 'sessions');
  const found: TranscriptPlace[] = [];
  for (const day of await daysIn(sessions)) {
    for (const name of (await namesIn(day)).toSorted().reverse()) {
      const [, id] = CODEX_FILE.exec(name) ?? [];
      if (id !== undefined) found.push({ agent: 'codex', id, path: join(day, name) });
    }
    if (found.length >= MOST_OPENED) break;
  }
  return found;
};

const MOST_OPENED = 2000;

const daysIn = async (sessions: string): Promise<string[]> => {
  let places = [sessions];
  for (const digits of [/^\d{4}$/, /^\d\d$/, /^\d\d$/]) {
    const next: string[] = [];
    for (const place of places)
      for (const name of (await namesIn(place)).toSorted().reverse())
        if (digits.test(name)) next.push(join(place, name));
    places = next;
  }
  return places;
};

// Enough for the instructions that come before the first message.
const BEGINNING = 256 * 1024;

const look = async (place: TranscriptPlace): Promise<FoundConversation | undefined> => {
  try {
    const stats = await stat(place.path);
    if (!stats.isFile()) return undefined;
    const beginning = await beginningOf(place.path, Math.min(stats.size, BEGINNING));
    const { said, directory, branch, title } = readConversation(place.agent, beginning);
    if (said[0] === undefined || directory === undefined || !isAbsolute(directory))
      return undefined;
    return {
      ...place,
      title: shorten(oneLine(title ?? said[0]), LONGEST_TITLE, ' …'),
      directory: resolve(directory),
      branch: branch ?? null,
      updated_at: new Date(modifiedAt(stats)),
      bytes: stats.size,
    };
  } catch {
    // A file that this user may not read is none of theirs.
    return undefined;
  }
};

const LONGEST_TITLE = 100;

const beginningOf = async (path: string, bytes: number): Promise<string> => {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
};
