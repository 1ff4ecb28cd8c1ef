import { join, relative } from 'node:path';
import type { Static, TSchema } from 'typebox';
import { etagOf } from '../base/names.ts';
import { recordNames } from '../front-matter/folder.ts';
import type { FrontMatter } from '../front-matter/front-matter.ts';
import { checkerOf } from '../front-matter/parse.ts';
import {
  editOnce,
  editRecord,
  type RecordEdit,
  type RecordRule,
  readRecord,
  withReadableErrors,
} from '../front-matter/record-file.ts';
import { untilWritten } from '../fs/retry.ts';
import type { Store } from '../store.ts';
import { createItemFile } from './change-item.ts';
import type { Item } from './item.ts';
import { itemOf } from './items.ts';

interface RecordShape<S extends TSchema, P> {
  schema: S;
  /** The path of the record, or of the folder of records, in the directory of a Work item. */
  path: (dir: string) => string;
  /** Fields that are parsed from the file besides the front matter. */
  parts: (source: FrontMatter, matter: Static<S>) => P;
}

interface RecordPlace {
  case_id: string;
  path: string;
}

/** A record as read from disk, with the hash of its file. */
export type StoredRecord<M, P> = RecordPlace & P & { matter: M; sha: string; etag: string };

/** The file that a rule decides on. `read` parses and validates the record. */
interface CurrentRecord<K> {
  sha: string;
  source: FrontMatter;
  read: () => K;
}

export type Rule<K> = (now: CurrentRecord<K>) => RecordEdit | undefined;

/**
 * Reads and writes one kind of record beside case.md. These records are not kept in memory. Reading throws
 * `unreadable_record`; writing functions require the lock of the Work item.
 */
export const sidecarRecords = <S extends TSchema, P>(shape: RecordShape<S, P>) => {
  const { at, keptAt, editAt, editOnceAt } = recordFiles(shape);
  const readIn = (store: Store, item: Item, name?: string) => keptAt(store, at(store, item, name));
  // Sorted by file name.
  const listIn = (store: Store, item: Item) =>
    recordNames(at(store, item).path).flatMap((name) => readIn(store, item, name) ?? []);
  // Returns false if it exists.
  const createIn = (store: Store, item: Item, text: string, name?: string) =>
    createItemFile(store, item, at(store, item, name).path, text);
  // Edits the record, or creates it.
  const saveIn = (
    store: Store,
    item: Item,
    rule: Rule<StoredRecord<Static<S>, P>>,
    text: string,
  ) => {
    const place = at(store, item);
    const attempt = async () => {
      const done = await editOnceAt(store, place, rule);
      return done === 'absent' ? createIn(store, item, text) : done;
    };
    return untilWritten(relative(store.layout.root, place.path), attempt);
  };
  // Undefined if there is no record or no such Work item.
  const read = (store: Store, caseId: string) => {
    const item = itemOf(store, caseId);
    return item && readIn(store, item);
  };
  const list = (store: Store, caseId: string) => {
    const item = itemOf(store, caseId);
    return item && listIn(store, item);
  };
  return { at, keptAt, readIn, listIn, createIn, editAt, editOnceAt, saveIn, read, list };
};

const recordFiles = <S extends TSchema, P>({ schema, path: under, parts }: RecordShape<S, P>) => {
  const check = checkerOf(schema);
  const at = ({ layout }: Store, { id, dir }: Item, name = ''): RecordPlace => ({
    case_id: id,
    path: join(under(join(layout.root, dir)), name),
  });
  const kept = (
    { case_id, path }: RecordPlace,
    sha: string,
    source: FrontMatter,
    matter: Static<S>,
  ) => ({
    ...parts(source, matter),
    case_id,
    path,
    matter,
    sha,
    etag: etagOf(sha),
  });
  const keptAt = (
    { layout }: Store,
    place: RecordPlace,
  ): StoredRecord<Static<S>, P> | undefined => {
    const record = readRecord(layout.root, place.path, check);
    return record && kept(place, record.sha, record.source, record.matter);
  };
  const ruled =
    ({ layout }: Store, place: RecordPlace, rule: Rule<StoredRecord<Static<S>, P>>): RecordRule =>
    ({ sha, source }) => {
      const file = relative(layout.root, place.path);
      const matter = () => withReadableErrors(file, () => check(source.data, source));
      return rule({ sha, source, read: () => kept(place, sha, source, matter()) });
    };
  // Returns false if the file is gone.
  const editAt = (store: Store, place: RecordPlace, rule: Rule<StoredRecord<Static<S>, P>>) =>
    editRecord(store.layout, place.path, ruled(store, place, rule));
  const editOnceAt = (store: Store, place: RecordPlace, rule: Rule<StoredRecord<Static<S>, P>>) =>
    editOnce(store.layout, place.path, ruled(store, place, rule));
  return { at, keptAt, editAt, editOnceAt };
};
