import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Case } from '../../store/records/case.ts';
import type { IssueLink } from '../../store/records/link.ts';
import type { FieldSync, Sync } from '../../store/records/sync.ts';
import { type CodeHost, startCodeHost } from '../codehost/code-host.ts';
import { type Answered, type Running, startForTest } from './service.ts';

export interface Synced {
  case_id: string;
  outcome: string;
  sync_id: string | null;
  fields: FieldSync[];
  code?: string;
}

export interface WithHost {
  host: CodeHost;
  running: Running;
  call: Running['call'];
  /** Imports an issue; its number, or what it is to be on the host. */
  imported(issue?: number | Parameters<CodeHost['issues']['add']>[0]): Promise<ImportedItem>;
}

export interface ImportedItem {
  item: Case & { notes: string[] };
  number: number;
  read(name: string): string;
  write(name: string, text: string): void;
  /** What the file holds, changed. */
  edit(name: string, change: (text: string) => string): void;
  sync(body?: object): Promise<Answered<Synced>>;
  link(): Promise<IssueLink>;
  log(): Promise<Sync[]>;
  case(): Promise<Case>;
}

/** The whole service, with a fake host whose `acme/app` its project is. */
export const withHost = async (
  t: TestContext,
  {
    watch = false,
    listen = false,
    ...options
  }: { watch?: boolean; listen?: boolean } & Parameters<typeof startCodeHost>[1] = {},
): Promise<WithHost> => {
  const host = await startCodeHost(t, options);
  const running = await startForTest(t, {
    ...{ watch, listen },
    settings: 'codehost: {repository: acme/app}',
    env: { GITHUB_API_URL: host.url, GH_TOKEN: host.token },
  });
  const { call } = running;
  return {
    ...{ host, running, call },
    imported: async (issue = {}) => {
      const number = typeof issue === 'number' ? issue : (await host.issues.add(issue)).number;
      const path = '/api/codehost/issues/import-case';
      const made = await call<ImportedItem['item']>('POST', path, { number });
      assert.equal(made.status, 201, made.text);
      return itemOf(running, made.body, number);
    },
  };
};

const itemOf = (running: Running, item: ImportedItem['item'], number: number): ImportedItem => {
  const { call, workspace } = running;
  const at = (name: string): string => join(workspace, item.path, name);
  const api = `/api/cases/${item.id}/github`;
  const read = (name: string): string => readFileSync(at(name), 'utf8');
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), text);
  };
  return {
    ...{ item, number, read, write },
    edit: (name, change) => {
      const before = read(name);
      assert.notEqual(change(before), before);
      write(name, change(before));
    },
    sync: (body = {}) => call('POST', `${api}/sync`, body),
    link: async () => (await call<{ issue: IssueLink }>('GET', api)).body.issue,
    log: async () => (await call<Sync[]>('GET', `${api}/sync-log`)).body,
    case: async () => (await call<Case>('GET', `/cases/${item.id}`)).body,
  };
};
