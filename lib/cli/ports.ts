import { readFileSync, writeFileSync } from 'node:fs';
import { orElse } from '../../store/base/attempt.ts';
import type { Layout } from '../../store/layout.ts';
import type { Config } from '../config.ts';

const MOST = 100;

/** What a daemon tries that was told no port: the one that it had last, then the usual one and those behind it. */
export const portsToTry = (layout: Layout, { port }: Config): number[] => {
  const last = remembered(layout);
  const usual = Array.from({ length: MOST }, (_, at) => port + at);
  return last === undefined ? usual : [last, ...usual.filter((each) => each !== last)];
};

const remembered = ({ port }: Layout): number | undefined => {
  const text = orElse(() => readFileSync(port, 'utf8').trim(), '');
  const value = Number(text);
  return /^\d{1,5}$/.test(text) && value > 0 && value <= 65_535 ? value : undefined;
};

/** For the next time: whoever has its address finds it there again. */
export const rememberPort = (layout: Layout, port: number): void => {
  if (remembered(layout) !== port) writeFileSync(layout.port, `${port}\n`, { mode: 0o600 });
};
