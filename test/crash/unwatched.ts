/**
 * Lives without a thread that watches the files, which takes longer to start than all else: no file of a world is changed by
 * hand. As in `door.ts`, what is imported from a module of Node is a live binding.
 */
import { EventEmitter } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';

const { Worker } = threads;

/** Reports that all is watched, and nothing after that. */
class Silent extends EventEmitter {
  constructor() {
    super();
    setImmediate(() => this.emit('message', { ready: true }));
  }
  postMessage(): void {}
  ref(): void {}
  unref(): void {}
  terminate(): Promise<number> {
    return Promise.resolve(0);
  }
}

let isWatched = true;
const started = new Set<InstanceType<typeof Worker>>();

function start(...[file, options]: ConstructorParameters<typeof Worker>): EventEmitter {
  if (!isWatched && `${file}`.endsWith('/watch-worker.js')) return new Silent();
  const worker = new Worker(file, options);
  started.add(worker);
  worker.once('exit', () => started.delete(worker));
  return worker;
}

/** Whether the services that start from now on watch their files. */
export const letWatch = (wanted: boolean): void => {
  isWatched = wanted;
  threads.Worker = start as never;
  syncBuiltinESMExports();
};

/** Ends threads that outlive what they were started for: each takes memory, and so makes every program slower to start. */
export const endThreads = async (): Promise<void> => {
  await Promise.all([...started].map((worker) => worker.terminate()));
};
