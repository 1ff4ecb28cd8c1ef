import { join, relative } from 'node:path';
import type { Static, TSchema } from 'typebox';
import { etagOf } from '../base/names.ts';
import { recordNames } from '../front-matter/folder.ts';
import type { FrontMatter } from '../front-matter/front-matter.ts';
import { checkerOf } from '../front-matter/parse.ts';
import {
  editOnce,
  editRecord,
  explained,
  type RecordEdit,
  type RecordRule,
  readRecord,
} from '../front-matter/record-file.ts';
import { untilDone } from '../fs/until-done.ts';
import type { Store } from '../store.ts';
import { createOwn } from './change-item.ts';
import type { Item } from './item.ts';
import { itemOf } from './items.ts';

interface Shape<S extends TSchema, P> {
  schema: S;
  /** From the directory of a Work item to the record, or to the folder of all of them. */
  path: (dir: string) => string;
  /** What is made of it. */
  parts: (source: FrontMatter, matter: Static<S>) => P;
}

interface At {
  case_id: string;
  path: string;
}

/** A record as it is on disk, with the hash of its file. */
export type Kept<M, P> = At & P & { matter: M; sha: string; etag: string };

/** The file that a rule looks at. `read` is the record, checked. */
interface Now<K> {
  sha: string;
  source: FrontMatter;
  read: () => K;
}

export type Rule<K> = (now: Now<K>) => RecordEdit | undefined;

/**
 * A kind of record beside case.md that is read when somebody asks for it. Reading throws `unreadable_record`; what creates
 * and edits is for whoever has the Work item's turn.
 */
export const recordKind = <S extends TSchema, P>(shape: Shape<S, P>) => {
  const { at, keptAt, editAt, editOnceAt } = recordFiles(shape);
  const readIn = (store: Store, item: Item, name?: string) => keptAt(store, at(store, item, name));
  // By name.
  const listIn = (store: Store, item: Item) =>
    recordNames(at(store, item).path).flatMap((name) => readIn(store, item, name) ?? []);
  // False where there is one already.
  const createIn = (store: Store, item: Item, text: string, name?: string) =>
    createOwn(store, item, at(store, item, name).path, text);
  // Edits the one of the Work item, or makes it.
  const saveIn = (store: Store, item: Item, rule: Rule<Kept<Static<S>, P>>, text: string) => {
    const place = at(store, item);
    const attempt = async () => {
      const done = await editOnceAt(store, place, rule);
      return done === 'absent' ? createIn(store, item, text) : done;
    };
    return untilDone(relative(store.layout.root, place.path), attempt);
  };
  // Undefined also where there is no such Work item.
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

const recordFiles = <S extends TSchema, P>({ schema, path: under, parts }: Shape<S, P>) => {
  const check = checkerOf(schema);
  const at = ({ layout }: Store, { id, dir }: Item, name = ''): At => ({
    case_id: id,
    path: join(under(join(layout.root, dir)), name),
  });
  const kept = ({ case_id, path }: At, sha: string, source: FrontMatter, matter: Static<S>) => ({
    ...parts(source, matter),
    ...{ case_id, path, matter, sha, etag: etagOf(sha) },
  });
  const keptAt = ({ layout }: Store, place: At): Kept<Static<S>, P> | undefined => {
    const record = readRecord(layout.root, place.path, check);
    return record && kept(place, record.sha, record.source, record.matter);
  };
  const ruled =
    ({ layout }: Store, place: At, rule: Rule<Kept<Static<S>, P>>): RecordRule =>
    ({ sha, source }) => {
      const file = relative(layout.root, place.path);
      const matter = () => explained(file, () => check(source.data, source));
      return rule({ sha, source, read: () => kept(place, sha, source, matter()) });
    };
  // False where there is no such file any more.
  const editAt = (store: Store, place: At, rule: Rule<Kept<Static<S>, P>>) =>
    editRecord(store.layout, place.path, ruled(store, place, rule));
  const editOnceAt = (store: Store, place: At, rule: Rule<Kept<Static<S>, P>>) =>
    editOnce(store.layout, place.path, ruled(store, place, rule));
  return { at, keptAt, editAt, editOnceAt };
};
