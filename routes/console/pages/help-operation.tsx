import { Problem } from '../../../lib/client/client.ts';
import { page } from '../common/page.ts';
import type { Document } from '../parts/api/document.ts';
import { Fields } from '../parts/api/field-list.tsx';
import { type OperationShown, operationOf, type Sent } from '../parts/api/operation.ts';
import { Help } from '../parts/help-frame.tsx';
import { Markdown } from '../parts/markdown.tsx';

const View = (shown: OperationShown) => (
  <Help tab="API">
    <h1>{shown.summary}</h1>
    <p class="line">
      <span class={`tag method ${shown.method}`}>{shown.method}</span>
      <code class="path">{shown.path}</code>
    </p>
    <p class="quiet">
      <a href={`/dashboard/help/api?search=${encodeURIComponent(shown.section)}`} data-key="u">
        {shown.section}
      </a>
    </p>
    <Markdown text={shown.description} />
    <Examples {...shown} />
    {shown.parameters.map(({ where, fields }) => (
      <section key={where}>
        <h2>{where}</h2>
        <Fields fields={fields} />
      </section>
    ))}
    {shown.body.length > 0 && (
      <section>
        <h2>Body</h2>
        <Content content={shown.body} />
      </section>
    )}
    <Answers {...shown} />
    <Refusals {...shown} />
  </Help>
);

const Examples = ({ examples }: OperationShown) =>
  examples === undefined ? null : (
    <section>
      <h2>How it is called</h2>
      <pre>
        <code>{examples.curl}</code>
      </pre>
      <p>
        Or with <a href="/dashboard/help/client">dossierd/client</a>:
      </p>
      <pre>
        <code>{examples.client}</code>
      </pre>
    </section>
  );

const Content = ({ content }: { content: Sent[] }) => (
  <>
    {content.map(({ media, type, fields }) => (
      <div key={media}>
        <p>
          <code>{media}</code> <span class="quiet">{type}</span>
        </p>
        <Fields fields={fields} />
      </div>
    ))}
  </>
);

const Answers = ({ answers }: OperationShown) => (
  <section>
    <h2>Answers</h2>
    {answers.map(({ status, about, content }) => (
      <div key={status}>
        <h3>
          {status} <span class="quiet">{about}</span>
        </h3>
        <Content content={content} />
      </div>
    ))}
  </section>
);

const Refusals = ({ problems }: OperationShown) =>
  problems.length === 0 ? null : (
    <section>
      <h2>Refusals</h2>
      <dl class="codes">
        {problems.map(({ code, status, title }) => (
          <div key={code}>
            <dt>
              {status} <code>{code}</code>
            </dt>
            <dd>{title}</dd>
          </div>
        ))}
      </dl>
    </section>
  );

export const helpOperation = page<OperationShown>({
  title: ({ method, path }) => `${method} ${path}`,
  load: async (api, { params }) => {
    const document = (await api.call('GET /openapi.json')) as unknown as Document;
    const shown = operationOf(params.operation ?? '', document);
    if (shown !== undefined) return shown;
    const detail = `The API has no operation ${params.operation}. /dashboard/help/api lists them.`;
    throw new Problem(404, { code: 'not_found', detail });
  },
  View,
  follows: false,
});
