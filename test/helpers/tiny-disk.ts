import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { atEnd } from './at-end.ts';

export interface TinyDisk {
  dir: string;
  /** Fills it up but for so many KiB; everything is free again with `free()`. */
  leave(kib: number): void;
  free(): void;
}

/**
 * A file system of so many KiB, at an empty directory, until the test is over. Undefined, with the reason printed, where this user may not mount
 * one; in CI that is a failure.
 */
export const tinyDisk = (
  t: TestContext,
  kib: number,
  dir = mkdtempSync(join(tmpdir(), 'dossier-disk-')),
): TinyDisk | undefined => {
  try {
    mount(dir, kib);
  } catch (error) {
    return skip(t, error);
  }
  atEnd(t, () => {
    execFileSync('umount', ['--lazy', dir], { stdio: 'pipe' });
    rmdirSync(dir);
  });
  const filler = join(dir, 'filler');
  const free = (): void => rmSync(filler, { force: true });
  return {
    dir,
    free,
    leave: (left) => {
      free();
      const { bavail, bsize } = statfsSync(dir);
      writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - left * 1024)));
    },
  };
};

/** Mounts a directory read-only over itself, until the function is called. Undefined as above. */
export const readOnly = (t: TestContext, dir: string): (() => void) | undefined => {
  try {
    execFileSync('mount', ['--bind', dir, dir], { stdio: 'pipe' });
    execFileSync('mount', ['-o', 'remount,bind,ro', dir], { stdio: 'pipe' });
  } catch (error) {
    return skip(t, error);
  }
  return () => void execFileSync('umount', ['--lazy', dir], { stdio: 'pipe' });
};

/** Gives a directory a second name, until the test is over. False as above. */
export const bound = (t: TestContext, from: string, to: string): boolean => {
  try {
    execFileSync('mount', ['--bind', from, to], { stdio: 'pipe' });
  } catch (error) {
    return skip(t, error) ?? false;
  }
  atEnd(t, () => void execFileSync('umount', ['--lazy', to], { stdio: 'pipe' }));
  return true;
};

const skip = (t: TestContext, error: unknown): undefined => {
  const { stderr = String(error) } = error as { stderr?: unknown };
  const reason = `no disk can be mounted here: ${String(stderr).trim()}`;
  assert.notEqual(process.env.CI, 'true', reason);
  t.diagnostic(reason);
  t.skip(reason);
  return undefined;
};

const mount = (dir: string, kib: number): void => {
  const options = `size=${kib}k,mode=0700`;
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'dossier-test', dir], { stdio: 'pipe' });
};
