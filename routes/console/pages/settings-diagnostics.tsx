import type { FileProblem, Machine, Version } from '../../../lib/client/client.ts';
import { page } from '../common/page.ts';
import { Settings } from '../parts/frames.tsx';
import { Path } from '../parts/links.tsx';
import { Written } from '../parts/written.tsx';

interface Diagnostics {
  problems: FileProblem[];
  /** How many more there are than are shown. */
  more: number;
  machine: Machine;
  version: Version;
}

const MOST = 200;

const View = ({ problems, more, machine, version }: Diagnostics) => (
  <Settings tab="Diagnostics">
    <section aria-labelledby="files">
      <h2 id="files">Files to mend</h2>
      {problems.length === 0 ? (
        <p class="quiet">Every file that was looked at can be used.</p>
      ) : (
        <>
          <p class="quiet">
            None of them was touched. What was last read of them holds until you mend them; they are
            read again as soon as you save.
          </p>
          <ol class="rows" aria-label="Files to mend">
            {problems.map((problem, at) => (
              <Problem key={at} root={machine.workspace} {...problem} />
            ))}
          </ol>
          {more > 0 && <p class="quiet">{more} more are shown once these are mended.</p>}
        </>
      )}
      <p class="quiet">
        Memory, plans and other free texts are read by <code>dossier check</code>.
      </p>
    </section>
    <section aria-labelledby="machine">
      <h2 id="machine">This machine</h2>
      {machine.unheld.length === 0 ? (
        <p class="quiet">All of the boundary around agents can be held here.</p>
      ) : (
        <ul class="rows" aria-label="What cannot be held on this machine">
          {machine.unheld.map(({ about, sentence }) => (
            <li class="row" key={about}>
              <div class="head">
                <span class="tag held">{about}</span>
                <span class="title plain">{sentence}</span>
              </div>
            </li>
          ))}
        </ul>
      )}
    </section>
    <Places machine={machine} version={version} />
  </Settings>
);

const Problem = ({ file, line, column, message, code, root }: FileProblem & { root: string }) => (
  <li class="row" data-row={`${file} ${line}`} tabIndex={-1}>
    <p class="message">
      <Written text={message} />
    </p>
    <p class="line">
      <Path name={`the path of ${file}`} path={placeOf(`${root}/${file}`, line, column)} />
      <span class="tag file">{code}</span>
    </p>
  </li>
);

/** As editors and terminals take it. */
const placeOf = (path: string, ...position: (number | undefined)[]): string =>
  [path, ...position.filter((one) => one !== undefined)].join(':');

const GIB = 1024 ** 3;

const Places = ({ machine, version }: Pick<Diagnostics, 'machine' | 'version'>) => (
  <section aria-labelledby="places">
    <h2 id="places">Places</h2>
    <dl class="facts">
      <dt>Workspace</dt>
      <dd>
        <Path name="the path of the workspace" path={machine.workspace} />
      </dd>
      <dt>The daemon's own</dt>
      <dd>
        <Path name="the path of the daemon's own files" path={machine.internals} />
      </dd>
      <dt>Disk</dt>
      <dd>
        {(machine.disk.free / GIB).toFixed(1)} GiB free of {(machine.disk.total / GIB).toFixed(1)}
      </dd>
      <dt>Log</dt>
      <dd>Standard error of the daemon</dd>
      <dt>Version</dt>
      <dd>
        {version.name} {version.version}
        {version.commit !== null && `, commit ${version.commit.slice(0, 8)}`}, Node {version.node},{' '}
        {version.platform}
      </dd>
    </dl>
  </section>
);

/** What is wrong with files, and what this machine cannot hold. */
export const settingsDiagnostics = page<Diagnostics>({
  title: ({ problems }) =>
    problems.length === 0 ? 'Diagnostics' : `Diagnostics (${problems.length})`,
  load: async ({ call }) => {
    const [all, machine, version] = await Promise.all([
      call('GET /api/diagnostics'),
      call('GET /api/machine'),
      call('GET /version'),
    ]);
    const problems = all.slice(0, MOST);
    return { problems, more: all.length - problems.length, machine, version };
  },
  View,
  follows: ({ event_type }) => event_type === 'attention_changed',
});
