import { type Layout, layoutOf } from '../../store/layout.ts';
import {
  revokeOnDisk,
  trustedOnDisk,
  trustOnDisk,
  waitingOnDisk,
} from '../../store/pending/offline.ts';
import type { Trusted, TrustedValue, WaitingValue } from '../../store/records/trust.ts';
import { plain, trustCommandFor } from '../../store/settings/trust/waiting.ts';
import { isThere } from '../../store/workspace/inspect.ts';
import type { Dossier } from '../client/client.ts';
import { type Config, UsageError } from '../config.ts';
import { waitingLines } from '../guard/trust/show.ts';
import { isForAll } from '../guard/trust/trust.ts';
import { counted } from '../text/wording.ts';
import type { Call } from './args/command.ts';
import { Refusal } from './args/refusal.ts';
import { daemonOf } from './connection/daemon.ts';
import { asRefused } from './connection/refused.ts';
import { askYesNo, isTerminal, type Say, sayJson, toStandardOutput } from './output/terminal.ts';

/**
 * Shows what stands in the workspace's files and does not hold on this machine, and makes it hold if the operator says
 * so. With a daemon it holds at once. Throws a Refusal where nobody can be asked.
 */
export const trustCommand = async (
  { config, values }: Call,
  say: Say = toStandardOutput,
): Promise<number> => {
  const layout = existing(config);
  const door = await doorOf(config, layout);
  const { json = false, trusted = false, revoke } = values;
  if (revoke !== undefined) return takeBack(door, revoke, say);
  if (trusted) return sayTrusted(await door.trusted(), json, say);
  return showWaiting({ door, layout, values }, say);
};

interface Asked {
  door: Door;
  layout: Layout;
  values: Call['values'];
}

const showWaiting = async ({ door, layout, values }: Asked, say: Say): Promise<number> => {
  const { all = false, list = false, json = false } = values;
  const listed = await door.list();
  const waiting = listed.filter(isMeant(all && !list));
  if (json) {
    sayJson(say, list ? waiting : await acceptAll(door, waiting, all));
    return 0;
  }
  sayLeft(say, listed.length - waiting.length);
  if (listed.length === 0) say(nothingWaits(layout, door));
  if (waiting.length === 0) return 0;
  for (const line of waitingLines(waiting)) say(line);
  if (list) return 0;
  if (!all && !(await agreed(waiting, trustCommandFor(layout)))) {
    say('Nothing was trusted.');
    return 1;
  }
  await door.accept(waiting);
  say(`${counted(waiting.length, 'value')} trusted: ${waiting.map(({ key }) => key).join(', ')}`);
  return 0;
};

const takeBack = async (door: Door, key: string, say: Say): Promise<number> => {
  await door.revoke(key);
  say(`Revoked ${plain(key)}. What is in the files waits until you trust it again.`);
  return 0;
};

const sayTrusted = (all: readonly TrustedValue[], json: boolean, say: Say): number => {
  if (json) sayJson(say, all);
  else if (all.length === 0) say('You have trusted nothing in this workspace.');
  else for (const { key, value } of all) say(`${plain(key)}  ${plain(JSON.stringify(value))}`);
  return 0;
};

const existing = ({ workspace, state }: Config): Layout => {
  if (isThere(workspace)) return layoutOf(workspace, state);
  throw new Refusal(`${workspace} is not there. Name the workspace with --workspace.`);
};

const isMeant = (all: boolean) => (value: WaitingValue) => !all || isForAll(value);

const nothingWaits = ({ root }: Layout, { asksAll }: Door): string =>
  asksAll
    ? `Nothing in ${root} waits for you: all of it holds on this machine.`
    : `Nothing in ${root} waits for you. What was held back while a program ran without a sandbox is listed once the daemon runs.`;

// Whoever approves a plan names it, or looks at it here.
const sayLeft = (say: Say, count: number): void => {
  if (count > 0)
    say(
      `${counted(count, 'plan')} approved elsewhere: --all approves none. Run dossier trust without it, or dossier approve ITEM.`,
    );
};

// Nothing is asked between braces; and the API takes no empty list.
const acceptAll = async (door: Door, waiting: WaitingValue[], all: boolean): Promise<Trusted> => {
  if (!all) throw new UsageError('trust --json asks nobody: say --list with it, or --all');
  return waiting.length === 0 ? { trusted: [], waiting } : door.accept(waiting);
};

const agreed = (waiting: readonly WaitingValue[], command: string): Promise<boolean> => {
  if (!isTerminal())
    throw new Refusal(
      `Nobody can be asked here: this is no terminal. Read what is above, then run ${command} --all.`,
    );
  const plans = waiting.filter((value) => !isForAll(value)).length;
  const values = waiting.length - plans;
  const what = [
    ...(values > 0 ? [`trust ${counted(values, 'value')}`] : []),
    ...(plans > 0 ? [`approve ${counted(plans, 'plan')}`] : []),
  ].join(' and ');
  return askYesNo(`${what.slice(0, 1).toUpperCase()}${what.slice(1)} on this machine?`);
};

/** Where what waits is asked for, and said yes to. */
interface Door {
  /** Changes that were held back are among what it lists. */
  asksAll: boolean;
  list(): Promise<WaitingValue[]>;
  accept(waiting: readonly WaitingValue[]): Promise<Trusted>;
  trusted(): Promise<TrustedValue[]>;
  /** Throws a Refusal for a key that is not trusted. */
  revoke(key: string): Promise<unknown>;
}

// Nothing, and no key, is sent to an address before what listens there has shown that it is this workspace's daemon.
const doorOf = async (config: Config, layout: Layout): Promise<Door> => {
  const reached = await daemonOf(config);
  if (reached !== undefined) return daemonDoor(reached.dossier, config);
  return {
    asksAll: false,
    list: async () => waitingOnDisk(layout),
    accept: async (waiting) => {
      await trustOnDisk(layout, withIds(waiting, trustCommandFor(layout)));
      return { trusted: waiting.map(({ key }) => key), waiting: waitingOnDisk(layout) };
    },
    trusted: async () => trustedOnDisk(layout),
    revoke: async (key) => {
      if (!revokeOnDisk(layout, key))
        throw new Refusal(`${plain(key)} is not trusted: dossier trust --trusted lists what is`);
    },
  };
};

const withIds = (waiting: readonly WaitingValue[], command: string): readonly WaitingValue[] => {
  const lacking = waiting.find(({ key, file }) => key === file);
  if (lacking === undefined) return waiting;
  throw new Refusal(
    `${lacking.file} has no id yet. Start the daemon, which gives it one, then run ${command} again; nothing was trusted.`,
  );
};

const daemonDoor = ({ call }: Dossier, config: Config): Door => {
  const orRefuse = (error: unknown): never => {
    throw asRefused(error, config, {});
  };
  return {
    asksAll: true,
    list: () => call('GET /trust').catch(orRefuse),
    accept: (waiting) => {
      const values = waiting.map(({ key, hash }) => ({ key, hash }));
      return call('POST /trust', { body: { values } }).catch(orRefuse);
    },
    trusted: () => call('GET /trusted').catch(orRefuse),
    revoke: (key) => call('DELETE /trusted/{key}', { key }).catch(orRefuse),
  };
};
