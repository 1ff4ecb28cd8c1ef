/** Servers that do not listen, each used by one life of the service after the other: hapi takes longer to make one than the service to start. */
import type { Server } from '@hapi/hapi';
import { createServer } from '../../lib/daemon/server.ts';
import type { Console } from '../../lib/http/console-page.ts';
import type { Section } from '../../lib/http/route.ts';
import type { Log } from '../../lib/log.ts';
import type { Service } from '../../lib/service.ts';
import { operatorConsole } from '../../routes/console/console.ts';
import { sections } from '../../routes/index.ts';

interface Kept {
  hapi: Server;
  /** Whom it serves now. */
  service: Service;
}

const unused: Kept[] = [];

/** A server for this service, initialized. Whoever asks for it gives it back with `end`, which is hapi's stop. */
export const keptServer = async (
  service: Service,
): Promise<{ hapi: Server; end: Server['stop'] }> => {
  const kept = unused.pop() ?? make(service);
  kept.service = service;
  await kept.hapi.initialize();
  const end: Server['stop'] = async (options) => {
    await kept.hapi.stop(options);
    unused.push(kept);
  };
  return { hapi: kept.hapi, end };
};

const make = (first: Service): Kept => {
  const kept = { service: first } as Kept;
  const log: Log = {
    debug: (...said) => kept.service.log.debug(...said),
    info: (...said) => kept.service.log.info(...said),
    warn: (...said) => kept.service.log.warn(...said),
    error: (...said) => kept.service.log.error(...said),
  };
  // For the guards alone. A handler may outlive its request, and is given the service itself.
  const service = new Proxy({} as Service, {
    get: (_, name) => (name === 'log' ? log : kept.service[name as keyof Service]),
  });
  kept.hapi = createServer({
    sections: sections.map((section) => served(section, kept)),
    console: shown(operatorConsole, kept),
    service,
    host: '127.0.0.1',
    port: 4870,
  });
  return kept;
};

const served = (section: Section, kept: Kept): Section => ({
  ...section,
  routes: section.routes.map((route) => ({
    ...route,
    handler: (input) => route.handler(input as never, kept.service),
  })),
});

const shown = ({ pages, asset }: Console, kept: Kept): Console => ({
  asset,
  pages: pages.map((page) => ({
    ...page,
    handler: (asked) => page.handler(asked, kept.service),
    refused: (error, asked) => page.refused(error, asked, kept.service),
  })),
});
