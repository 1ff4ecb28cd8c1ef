import { dossierCommand, trustCommandFor } from '../../store/base/text.ts';
import { type Layout, layoutOf } from '../../store/layout.ts';
import {
  pendingOnDisk,
  revokeOnDisk,
  trustedOnDisk,
  trustOnDisk,
} from '../../store/pending/offline.ts';
import type { Trusted, TrustedValue, WaitingValue } from '../../store/records/trust.ts';
import { plain } from '../../store/settings/trust/waiting.ts';
import { isThere } from '../../store/workspace/inspect.ts';
import { workspaceObstacle } from '../../store/workspace/workspace-files.ts';
import { type Dossier, Problem } from '../client/client.ts';
import { type Config, UsageError } from '../config.ts';
import { waitingLines } from '../guard/trust/show.ts';
import { isIncludedInAll } from '../guard/trust/trust.ts';
import { counted } from '../text/wording.ts';
import type { Call } from './args/command.ts';
import { Refusal } from './args/refusal.ts';
import { findDaemon } from './connection/daemon.ts';
import { toRefusal } from './connection/refused.ts';
import { askYesNo, isTerminal, toStandardOutput as say, sayJson } from './output/terminal.ts';

/**
 * `dossier trust`: shows values in the workspace's files that are not confirmed on this machine, and confirms them if the
 * operator agrees. A running daemon applies them at once. Throws a Refusal without a terminal.
 */
export const trustCommand = async ({ config, values }: Call): Promise<number> => {
  const layout = existing(config);
  const access = await connectTrust(config, layout);
  const { json = false, trusted = false, revoke } = values;
  if (revoke !== undefined) return takeBack(access, revoke, json);
  if (trusted) return sayTrusted(await access.trusted(), json);
  return showWaiting(access, layout, values);
};

const showWaiting = async (
  access: TrustAccess,
  layout: Layout,
  values: Call['values'],
): Promise<number> => {
  const { all = false, list = false, json = false } = values;
  const listed = await access.list();
  const waiting = listed.filter(isMeant(all && !list));
  if (json) {
    sayJson(say, list ? waiting : await acceptAll(access, waiting, all));
    return 0;
  }
  sayLeft(layout, listed.length - waiting.length);
  if (listed.length === 0) say(nothingWaits(layout, access));
  if (waiting.length === 0) return 0;
  for (const line of waitingLines(waiting)) say(line);
  if (list) return 0;
  if (!all && !(await agreed(waiting, trustCommandFor(layout)))) {
    say('Nothing was trusted.');
    return 1;
  }
  await access.accept(waiting);
  say(`${counted(waiting.length, 'value')} trusted: ${waiting.map(({ key }) => key).join(', ')}`);
  return 0;
};

const takeBack = async (access: TrustAccess, key: string, json: boolean): Promise<number> => {
  await access.revoke(key);
  if (json) sayJson(say, { key });
  else say(`Revoked ${plain(key)}. The value in the files is ignored until you trust it again.`);
  return 0;
};

const sayTrusted = (all: readonly TrustedValue[], json: boolean): number => {
  if (json) sayJson(say, all);
  else if (all.length === 0) say('No trusted values in this workspace.');
  else for (const { key, value } of all) say(`${plain(key)}  ${plain(JSON.stringify(value))}`);
  return 0;
};

const existing = ({ workspace, state }: Config): Layout => {
  const why = isThere(workspace) ? workspaceObstacle(workspace, 'read') : 'does not exist';
  if (why === undefined) return layoutOf(workspace, state);
  throw new Refusal(`${workspace} ${why}. Name the workspace with --workspace.`);
};

const isMeant = (all: boolean) => (value: WaitingValue) => !all || isIncludedInAll(value);

const nothingWaits = ({ root }: Layout, { asksAll }: TrustAccess): string =>
  asksAll
    ? `Nothing to confirm in ${root}.`
    : `Nothing to confirm in ${root}. Changes that were held back while a program ran without a sandbox are listed only while the daemon runs.`;

// Plans need to be read, so --all approves none.
const sayLeft = (layout: Layout, count: number): void => {
  if (count > 0)
    say(
      `${counted(count, 'plan')} approved elsewhere: --all approves none. Run ${trustCommandFor(layout)} without it, or ${dossierCommand('approve ITEM', layout.root)}.`,
    );
};

// JSON output leaves no room for a question. The API refuses an empty list.
const acceptAll = async (
  access: TrustAccess,
  waiting: WaitingValue[],
  all: boolean,
): Promise<Trusted> => {
  if (!all) throw new UsageError('trust --json cannot ask: use it with --list or --all');
  return waiting.length === 0 ? { trusted: [], waiting } : access.accept(waiting);
};

const agreed = (waiting: readonly WaitingValue[], command: string): Promise<boolean> => {
  if (!isTerminal())
    throw new Refusal(
      `Without a terminal, dossier cannot ask you. Read the values above, then run ${command} --all.`,
    );
  const plans = waiting.filter((value) => !isIncludedInAll(value)).length;
  const values = waiting.length - plans;
  const what = [
    ...(values > 0 ? [`trust ${counted(values, 'value')}`] : []),
    ...(plans > 0 ? [`approve ${counted(plans, 'plan')}`] : []),
  ].join(' and ');
  return askYesNo(`${what.slice(0, 1).toUpperCase()}${what.slice(1)} on this machine?`);
};

/** Access to trust, by a running daemon or on disk. */
interface TrustAccess {
  /** Whether the list includes changes that were held back. */
  asksAll: boolean;
  list(): Promise<WaitingValue[]>;
  accept(waiting: readonly WaitingValue[]): Promise<Trusted>;
  trusted(): Promise<TrustedValue[]>;
  /** Throws a Refusal for a key that is not trusted. */
  revoke(key: string): Promise<unknown>;
}

// Sends nothing, and no key, to an address before the daemon there has proved that it has this workspace.
const connectTrust = async (config: Config, layout: Layout): Promise<TrustAccess> => {
  const reached = await findDaemon(config);
  if (reached !== undefined) return trustByDaemon(reached.dossier, config, layout);
  return {
    asksAll: false,
    list: async () => pendingOnDisk(layout),
    accept: async (waiting) => {
      await trustOnDisk(layout, withIds(waiting, trustCommandFor(layout)));
      return { trusted: waiting.map(({ key }) => key), waiting: pendingOnDisk(layout) };
    },
    trusted: async () => trustedOnDisk(layout),
    revoke: async (key) => {
      if (!revokeOnDisk(layout, key)) throw notTrusted(layout, key);
    },
  };
};

const withIds = (waiting: readonly WaitingValue[], command: string): readonly WaitingValue[] => {
  const lacking = waiting.find(({ key, file }) => key === file);
  if (lacking === undefined) return waiting;
  throw new Refusal(
    `${lacking.file} has no id yet, so nothing was trusted. Start the daemon, which gives it one, then run ${command} again.`,
  );
};

const notTrusted = (layout: Layout, key: string): Refusal =>
  new Refusal(`${plain(key)} is not trusted. List what is: ${trustCommandFor(layout)} --trusted`);

const trustByDaemon = ({ call }: Dossier, config: Config, layout: Layout): TrustAccess => {
  const throwRefusal = (error: unknown): never => {
    throw toRefusal(error, config, {});
  };
  return {
    asksAll: true,
    list: () => call('GET /trust').catch(throwRefusal),
    accept: (waiting) => {
      const values = waiting.map(({ key, hash }) => ({ key, hash }));
      return call('POST /trust', { body: { values } }).catch(throwRefusal);
    },
    trusted: () => call('GET /trusted').catch(throwRefusal),
    revoke: (key) =>
      call('DELETE /trusted/{key}', { key }).catch((error: unknown) => {
        if (error instanceof Problem && error.code === 'not_found') throw notTrusted(layout, key);
        return throwRefusal(error);
      }),
  };
};
