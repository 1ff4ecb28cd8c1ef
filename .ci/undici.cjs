// Of undici what the daemon uses: its index would bring its mocks, caches and sockets for the web too.
Object.assign(
  require('undici/lib/dispatcher/dispatcher.js').prototype,
  require('undici/lib/api/index.js'),
);

module.exports = {
  Agent: require('undici/lib/dispatcher/agent.js'),
  EnvHttpProxyAgent: require('undici/lib/dispatcher/env-http-proxy-agent.js'),
  buildConnector: require('undici/lib/core/connect.js'),
  fetch: require('undici/lib/web/fetch/index.js').fetch,
};
