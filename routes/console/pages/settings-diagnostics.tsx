import type { FileProblem, Machine, Version } from '../../../lib/client/client.ts';
import { visible } from '../../../store/base/visible.ts';
import { definePage } from '../common/page.ts';
import { Fact, Section } from '../parts/facts.tsx';
import { Settings } from '../parts/frames.tsx';
import { placeIn } from '../parts/labels.ts';
import { Command, Path } from '../parts/links.tsx';

interface Diagnostics {
  problems: FileProblem[];
  /** The number of problems not shown. */
  more: number;
  machine: Machine;
  version: Version;
}

const MOST = 200;

const View = ({ problems, more, machine, version }: Diagnostics) => (
  <Settings tab="Diagnostics">
    <Section id="files" title="File problems">
      {problems.length === 0 ? (
        <p class="quiet">No file has problems.</p>
      ) : (
        <>
          <p class="quiet">
            Dossier does not change these files. Their last valid content applies until you fix
            them. A saved file is read again at once.
          </p>
          <ol class="rows" aria-label="File problems">
            {problems.map((problem, at) => (
              <Problem key={at} root={machine.workspace} {...problem} />
            ))}
          </ol>
          {more > 0 && <p class="quiet">{more} more are shown once these are fixed.</p>}
        </>
      )}
      <p class="quiet">
        Memory, plans and other texts are checked by <Command words="check" />
      </p>
    </Section>
    <Section id="machine" title="This machine">
      {machine.unheld.length === 0 ? (
        <p class="quiet">This machine can enforce the whole boundary around agents.</p>
      ) : (
        <ul class="rows" aria-label="Not enforced on this machine">
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
    </Section>
    <Places machine={machine} version={version} />
  </Settings>
);

const Problem = ({ file, line, column, message, code, root }: FileProblem & { root: string }) => (
  <li class="row" data-row={`${file} ${line}`} tabIndex={-1}>
    <p class="message">{visible(message)}</p>
    <p class="line">
      <Path name={`the path of ${file}`} path={placeIn(`${root}/${file}`, line, column)} />
      <span class="tag file">{code}</span>
    </p>
  </li>
);

const GIB = 1024 ** 3;

const Places = ({ machine, version }: Pick<Diagnostics, 'machine' | 'version'>) => (
  <Section id="places" title="Paths and version">
    <dl class="facts">
      <Fact name="Workspace">
        <Path name="the path of the workspace" path={machine.workspace} />
      </Fact>
      <Fact name="Daemon files">
        <Path name="the path of the daemon's files" path={machine.internals} />
      </Fact>
      <Fact name="Disk">
        {(machine.disk.free / GIB).toFixed(1)} GiB free of {(machine.disk.total / GIB).toFixed(1)}
      </Fact>
      <Fact name="Log">
        <Command words="logs" />, or its standard error if it runs at a terminal
      </Fact>
      <Fact name="Version">
        {version.name} {version.version}
        {version.commit !== null && `, commit ${version.commit.slice(0, 8)}`}, Node {version.node},{' '}
        {version.platform}
      </Fact>
    </dl>
  </Section>
);

/** Problems of files, and what this machine cannot enforce. */
export const page = definePage<Diagnostics>({
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
