# The proxy:                      docker build --tag incontext-proxy .
# With the simulator and the demo: docker build --tag incontext-demo --target demo .
# Where GitHub cannot be reached:  docker build --tag incontext-proxy --build-arg COMPILE=yes .

FROM node:24-slim AS node
WORKDIR /app

FROM node AS build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/after-build.mjs scripts/
COPY src src/
RUN npm run build

# npm downloads the compiled part of better-sqlite3 for this Node.js, from GitHub. With COMPILE it is compiled where that
# cannot be had; compilers reach no image.
FROM node AS installer
ARG COMPILE=
# hadolint ignore=DL3008
RUN if [ -n "$COMPILE" ]; then \
      apt-get update && apt-get install --yes --no-install-recommends python3 make g++ && rm -rf /var/lib/apt/lists/*; \
    fi

FROM installer AS dependencies
COPY package.json package-lock.json ./
RUN ${COMPILE:+env npm_config_nodedir=/usr/local} npm ci --omit=dev --omit=optional --no-audit --no-fund

FROM installer AS demo-dependencies
COPY package.json package-lock.json ./
RUN ${COMPILE:+env npm_config_nodedir=/usr/local} npm ci --omit=dev --no-audit --no-fund

FROM node AS program
LABEL org.opencontainers.image.title="incontext-proxy" \
      org.opencontainers.image.description="Exact output budgets and compressed conversations in front of an OpenAI-compatible inference server" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="MIT"
# Everything that is written goes below /data: the rest may be mounted read-only.
# One arena of the C library's allocator: each thread's own takes some 10 MiB more.
ENV NODE_ENV=production \
    MALLOC_ARENA_MAX=1 \
    INCONTEXT_HOST=0.0.0.0 \
    INCONTEXT_PORT=8787 \
    INCONTEXT_DATA_DIR=/data
RUN install -d -o 1000 -g 1000 /data
COPY LICENSE package.json ./
COPY --from=build /app/dist dist/
VOLUME /data
EXPOSE 8787
# A number, not the name `node`: Kubernetes' runAsNonRoot cannot check a name.
USER 1000:1000
STOPSIGNAL SIGTERM
# Room for large bodies that wait for their count: docs/performance.md.
ENTRYPOINT ["node", "--initial-heap-size=256", "/app/dist/cli.js"]

FROM program AS demo
COPY --from=demo-dependencies /app/node_modules node_modules/
# The demo ends by itself, and the simulator is no proxy: neither answers /incontext/live.
HEALTHCHECK NONE
CMD ["demo"]

FROM program AS proxy
COPY --from=dependencies /app/node_modules node_modules/
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.INCONTEXT_PORT}/incontext/live`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["serve"]
